package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// written is a bundle as an ordinary YAML library decodes it.
type written struct {
	Groups    map[string][]string
	Protected []string `yaml:"protected_branches"`
	Rules     []struct {
		ID          string
		Allow, Deny *struct {
			Actors  any
			Actions []string
			Branch  string `yaml:"branch_scope"`
			Target  string `yaml:"target_branch_scope"`
			Queries []string
			Sources []string
			Via     string
			As      string
			Through struct{ Group string }
			Unless  struct{ Group string }

			Types, Properties []string
			Rows              string
		}
	}
}

// naively decodes the text of a bundle for the naive decider, which applies one rule after the
// other.
func naively(t *testing.T, text string) *naiveBundle {
	t.Helper()
	var w written
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b := &naiveBundle{groups: w.Groups, protected: w.Protected}
	for _, r := range w.Rules {
		body := r.Allow
		if body == nil {
			body = r.Deny
		}
		n := naiveRule{allow: r.Allow != nil, actions: body.Actions, branch: body.Branch + body.Target, queries: body.Queries, sources: body.Sources, via: body.Via, agent: body.As == "agent", through: body.Through.Group,
			unless: body.Unless.Group, types: body.Types, properties: body.Properties, rows: body.Rows}
		switch a := body.Actors.(type) {
		case string:
			if a != "any" {
				t.Fatalf("actors %q", a)
			}
		case map[string]any:
			n.group, _ = a["group"].(string)
			if ids, ok := a["ids"].([]any); ok {
				for _, id := range ids {
					n.ids = append(n.ids, id.(string))
				}
			}
		default:
			t.Fatalf("actors %v", a)
		}
		b.rules = append(b.rules, n)
	}
	return b
}

// asked holds the names in the test's questions about a bundle.
type asked struct {
	actors, branches, queries []string
	claims                    [][]string // lists of groups in tokens
}

// namesOf returns the names in a bundle, and one unknown name of each kind.
func (b *naiveBundle) namesOf() asked {
	a := asked{actors: []string{"act-stranger"}, branches: []string{"", "main", "strange"}, queries: []string{"", "strange"}, claims: [][]string{nil}}
	for _, members := range b.groups {
		a.actors = append(a.actors, members...)
	}
	a.branches = append(a.branches, b.protected...)
	for _, r := range b.rules {
		a.actors, a.queries = append(a.actors, r.ids...), slices.Concat(a.queries, r.queries, r.sources)
	}
	for _, s := range []*[]string{&a.actors, &a.branches, &a.queries} {
		slices.Sort(*s)
		*s = slices.Compact(*s)
	}
	return a
}

// threeDeciders compares three decisions for every question: by the bundle, by the Cedar file that
// it compiles to, and by the naive reading of its text.
func threeDeciders(t *testing.T, text string, a asked, o Options) (questions, allowed int) {
	t.Helper()
	dir := t.TempDir()
	read := func(name, text string) *Policy {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Read(path, o)
		if err != nil {
			t.Fatalf("%v\nin %s:\n%s", err, name, text)
		}
		return p
	}
	o.Protected = filtersIn(t, text)
	fromYAML := read("policy.yaml", text)
	fromCedar := read("policy.cedar", fromYAML.Standalone())
	bundle := naively(t, text)
	bundle.server = o.Graph == ""
	if again := fromCedar.Standalone(); again != fromYAML.Standalone() {
		t.Errorf("written again, the file is another:\n%s\nwas\n%s", again, fromYAML.Standalone())
	}
	for _, id := range a.actors {
		for _, claimed := range a.claims {
			reader := *bundle
			reader.groups = maps.Clone(bundle.groups)
			for _, c := range claimed {
				if g, ok := o.TokenGroups[c]; ok {
					reader.groups[g] = append(slices.Clone(reader.groups[g]), id)
				}
			}
			who := &access.Actor{ID: id, Groups: claimed, Source: "oidc"}
			for _, row := range tool.Actions() {
				for _, branch := range a.branches {
					for _, query := range a.queries {
						for _, via := range viasOf(&row) {
							g := tool.Grant{Action: row.Action, Branch: tool.BranchNamed(branch), Query: query, Source: query, Via: via}
							// Every fourth question is about an agent that acts for the actor.
							var agents []string
							who.Agents = nil
							if agent := a.actors[questions/4%len(a.actors)]; questions%4 == 0 && agent != id {
								who.Agents, agents = []access.Agent{{ID: agent}}, []string{agent}
							}
							want := reader.allowsChain(id, agents, false, g)
							if x, y := fromYAML.Allowed(who, g), fromCedar.Allowed(who, g); x != want || y != want {
								t.Fatalf("%s %v %+v: the bundle says %v, its Cedar %v, the text %v\n%s\n%s", who.Name(), claimed, g, x, y, want, text, fromYAML.Standalone())
							}
							questions++
							if want {
								allowed++
							}
						}
					}
				}
			}
		}
	}
	return questions, allowed
}

// filtersIn returns the filters of a bundle, as cluster.yaml states them for a .cedar file.
func filtersIn(t *testing.T, text string) protected.Rules {
	t.Helper()
	entries, ok := strictyaml.Read("cluster.yaml", []byte(text)).Root().Entries("the bundle")
	if !ok {
		t.Fatalf("no mapping:\n%s", text)
	}
	for _, e := range entries {
		if e.Key == "filters" {
			return protected.Parse(nil, nil, e.Value)
		}
	}
	return protected.Rules{}
}

// TestThreeDeciders compares the decisions of YAML, of the Cedar that it compiles to, and of the
// naive reading. It uses random bundles with groups of tokens.
func TestThreeDeciders(t *testing.T) {
	const seed = 20261121
	r := rand.New(rand.NewPCG(seed, 2))
	a := asked{
		actors: append([]string{"act-stranger"}, naiveActors...), branches: append([]string{""}, naiveBranches...), queries: append([]string{""}, naiveQueries...),
		claims: [][]string{nil, {"idp-1"}, {"idp-2", "g1"}},
	}
	mappings := []map[string]string{nil, {"idp-1": "g1"}, {"idp-1": "g1", "idp-2": "g2"}, {"idp-1": "g2", "idp-2": "g2"}}
	questions, allowed := 0, 0
	for i := range 120 {
		n, yes := threeDeciders(t, draw(r).yaml(), a, Options{Graph: "code", Queries: naiveQueries, TokenGroups: mappings[i%len(mappings)]})
		questions, allowed = questions+n, allowed+yes
	}
	if allowed*20 < questions || allowed*10 > questions*9 {
		t.Errorf("%d of %d allowed: the comparison says little", allowed, questions)
	}
}

// TestThreeDecidersByHand makes the same comparison for the handwritten bundles of these tests, of
// this repository, and of its guides.
func TestThreeDecidersByHand(t *testing.T) {
	texts := map[string]string{}
	for _, path := range []string{"testdata/team.yaml", "../../../queries/code/policy.yaml"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	for _, path := range []string{"../../../docs/policy.md", "../../../docs/mcp.md"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range regexp.MustCompile("(?s)```yaml\n(version: 1\n.*?)```").FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], "\nrules:") {
				texts[fmt.Sprintf("%s %d", path, i)] = m[1]
			}
		}
	}
	if len(texts) < 8 {
		t.Errorf("found %d bundles", len(texts))
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			a := naively(t, text).namesOf()
			threeDeciders(t, text, a, Options{Graph: "code", Queries: a.queries})
		})
	}
}

// TestThreeDecidersOfServer makes the same comparison for a policy of the server itself.
func TestThreeDecidersOfServer(t *testing.T) {
	a := asked{actors: []string{"act-ada", "act-bo", "act-eve"}, branches: []string{"main"}, queries: []string{""}, claims: [][]string{nil, {"idp"}}}
	text := "version: 1\ngroups: { listers: [act-ada, act-bo] }\nrules:\n  - id: list\n    allow: { actors: { group: listers }, actions: [graph_list] }\n  - id: not-bo\n    deny: { actors: { ids: [act-bo] }, actions: [graph_list] }\n"
	bundle := naively(t, text)
	if !bundle.allows("act-ada", tool.Grant{Action: tool.GraphList}) {
		t.Error("the naive reading denies")
	}
	threeDeciders(t, text, a, Options{TokenGroups: map[string]string{"idp": "listers"}})
	threeDeciders(t, "version: 1\nrules: []\n", a, Options{})
}

func TestStandalone(t *testing.T) {
	golden.Check(t, "testdata/team.standalone.cedar", []byte(team(t).Standalone()))
	native, err := Read("testdata/native.cedar", nativeOptions)
	if err != nil {
		t.Fatal(err)
	}
	if native.Standalone() != native.CedarText() {
		t.Error("a policy in Cedar is written otherwise")
	}
}
