package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// naiveShown is what one link may see of a type.
type naiveShown struct {
	none   bool
	hidden map[string]bool
	any    map[string]bool // nil for every entity
	all    map[string]bool
}

// shows says what a link may see of a type, as the documentation describes.
func (b *naiveBundle) shows(k kind, actor, agent string, acts bool, g tool.Grant) naiveShown {
	s := naiveShown{hidden: map[string]bool{}, all: map[string]bool{}}
	permitted, rows := false, map[string]bool{}
	about := func(r *naiveRule) bool {
		if r.rows != "" {
			return slices.Contains(naiveFilters[r.rows], k.name)
		}
		return !r.part() || slices.Contains(r.types, k.name) || slices.ContainsFunc(k.implements, func(i string) bool { return slices.Contains(r.types, i) })
	}
	for _, r := range b.rules {
		switch {
		case !b.applies(&r, actor, agent, acts, g) || !about(&r):
		case r.rows == "" && r.allow:
			permitted = true
		case r.rows == "":
			s.none = true
		case r.allow:
			rows[r.rows] = true
		default:
			s.all[r.rows] = true
		}
	}
	if !permitted && len(rows) > 0 {
		s.any = rows
	}
	permitted = permitted || s.any != nil
	some := false // a rule shows a single property
	for _, property := range k.properties {
		yes, no := permitted, false
		for _, r := range b.rules {
			named := slices.ContainsFunc(append([]string{k.name}, k.implements...), func(t string) bool { return slices.Contains(r.properties, t+"."+property.Name) })
			if named && b.applies(&r, actor, agent, acts, g) {
				yes, no = yes || r.allow, no || !r.allow
			}
		}
		some = some || yes && !no
		s.hidden[property.Name] = no || !yes && !slices.Contains(k.key, property.Name)
	}
	for _, property := range k.properties {
		if property.Embed != nil && s.hidden[property.Embed.Source] {
			s.hidden[property.Name] = true
		}
	}
	s.none = s.none || !permitted && !some
	return s
}

// shownText returns a canonical text for what several links may see.
func shownText(links []naiveShown) string {
	hidden, all, lists := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range links {
		if s.none {
			return "none"
		}
		for property, is := range s.hidden {
			if is {
				hidden[property] = true
			}
		}
		maps.Copy(all, s.all)
		if s.any != nil {
			lists[strings.Join(slices.Sorted(maps.Keys(s.any)), "|")] = true
		}
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(hidden)), slices.Sorted(maps.Keys(lists)), slices.Sorted(maps.Keys(all)))
}

// typeText returns the same text for rights.
func typeText(t *engine.TypeRights) string {
	if t == nil {
		t = &engine.TypeRights{}
	}
	if t.None {
		return "none"
	}
	names := func(list []*engine.RowFilter) []string {
		set := map[string]bool{}
		for _, f := range list {
			set[f.Name] = true
		}
		return slices.Sorted(maps.Keys(set))
	}
	lists := map[string]bool{}
	for _, list := range t.Any {
		lists[strings.Join(names(list), "|")] = true
	}
	return fmt.Sprint(t.Properties, slices.Sorted(maps.Keys(lists)), names(t.All))
}

// TestRightsAsWritten compares the rights of random policies with a direct reading of their texts.
func TestRightsAsWritten(t *testing.T) {
	const seed = 20261130
	r := rand.New(rand.NewPCG(seed, 1))
	schema := clinicSchema(t, clinic)
	nodes, edges := kinds(schema.Catalog)
	seen := map[string]int{}
	for range 400 {
		b := draw(r)
		text := b.yaml()
		p, err := Compile("policy.yaml", []byte(text), Options{Graph: "code", Queries: naiveQueries, Schemas: []*catalog.Schema{schema.Catalog}})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		fromCedar, err := CompileCedar("policy.cedar", []byte(p.Standalone()), Options{Graph: "code", Queries: naiveQueries, Schemas: []*catalog.Schema{schema.Catalog}, Protected: filtersIn(t, text)})
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Standalone())
		}
		for range 30 {
			g := tool.Grant{Action: []tool.Action{tool.Read, tool.Change, tool.Export}[r.IntN(3)], Branch: tool.BranchNamed(naiveBranches[r.IntN(3)])}
			if r.IntN(3) == 0 && g.Action != tool.Export {
				g.Via, g.Query = tool.Stored, naiveQueries[r.IntN(3)]
			}
			who := &access.Actor{ID: naiveActors[r.IntN(len(naiveActors))]}
			if r.IntN(3) == 0 {
				who.Agents = []access.Agent{{ID: naiveActors[r.IntN(len(naiveActors))]}}
			}
			if !p.Allowed(who, g) {
				continue
			}
			got, native := p.Rights(who, g, schema), fromCedar.Rights(who, g, schema)
			if (got == nil) != (native == nil) || got != nil && got.Digest != native.Digest {
				t.Fatalf("%s %+v: the rights by the bundle and by its Cedar differ\n%s", who.Name(), g, text)
			}
			if got == nil {
				seen["all"]++
				got = &engine.Rights{}
			}
			check := func(k kind, rights *engine.TypeRights) {
				links := []naiveShown{b.shows(k, who.ID, "", false, g)}
				if who.Agents != nil {
					agent := who.Agents[0].ID
					links = []naiveShown{b.shows(k, who.ID, agent, false, g), b.shows(k, agent, "", true, g)}
				}
				want := shownText(links)
				if text := typeText(rights); text != want {
					t.Fatalf("%s %+v: %s: got %s, want %s\n%s", who.Name(), g, k.name, text, want, b.yaml())
				}
				switch {
				case want == "none":
					seen["none"]++
				case strings.HasPrefix(want, "[]"):
					seen["rows"]++
				default:
					seen["properties"]++
				}
			}
			for _, k := range nodes {
				check(k, got.Nodes[k.name])
			}
			for _, k := range edges {
				check(k, got.Edges[k.name])
			}
		}
	}
	for _, kind := range []string{"all", "none", "rows", "properties"} {
		if seen[kind] < 100 {
			t.Errorf("the comparison saw %v", seen)
		}
	}
}
