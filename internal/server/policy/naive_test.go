package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The names that random bundles and grants use.
var (
	naiveActors   = []string{"act-a", "act-b", "act-c", "act-d"}
	naiveBranches = []string{"main", "release", "feature"}
	naiveQueries  = []string{"q1", "q2", "q3"}

	naiveTypes      = []string{"Person", "Team", "Case", "City", "Named", "Noted", "LivesIn", "WorksOn"}
	naiveProperties = []string{"Person.salary", "Person.bio", "Person.face", "Case.team", "Noted.note", "Case.note", "City.region", "LivesIn.since"}
	// The filters of clinicFilters with the types that they are about.
	naiveFilters = map[string][]string{"north": {"Case"}, "urgent": {"Case"}, "europe": {"Person"}, "known": {"Person", "Team"}, "lately": {"LivesIn"}}
)

// naiveBundle holds the rules of a bundle as they are written in its text. It decides by checking
// one rule after the other.
type naiveBundle struct {
	server    bool // the bundle is about the server
	groups    map[string][]string
	protected []string
	rules     []naiveRule
}

type naiveRule struct {
	allow   bool
	group   string
	ids     []string // if ids and group are empty, the rule is for any actor
	actions []string
	branch  string // value of branch_scope or target_branch_scope; "" if neither is set
	target  bool   // the scope is target_branch_scope
	queries []string
	sources []string
	via     string
	agent   bool   // as: agent
	through string // a group; only in a rule that denies
	unless  string // a group

	types, properties []string // the part of the graph, and the filter
	rows              string
}

// part reports whether the rule is about a part of the graph only.
func (r *naiveRule) part() bool { return r.types != nil || r.properties != nil || r.rows != "" }

// allows decides as the documentation describes, about an actor that acts for itself.
func (b *naiveBundle) allows(actor string, g tool.Grant) bool {
	return b.allowsLink(actor, "", false, g)
}

// allowsChain decides about a call for an actor by agents, the current one first. The argument `earlier` says whether all of them
// are asked about.
func (b *naiveBundle) allowsChain(actor string, agents []string, earlier bool, g tool.Grant) bool {
	if len(agents) == 0 {
		return b.allows(actor, g)
	}
	for i, agent := range agents {
		if (i == 0 || earlier) && !(b.allowsLink(actor, agent, false, g) && b.allowsLink(agent, "", true, g)) {
			return false
		}
	}
	return true
}

// allowsLink decides about an actor for whom `agent` makes the call ("" for none), or who acts for another.
func (b *naiveBundle) allowsLink(actor, agent string, acts bool, g tool.Grant) bool {
	if g.Action == tool.InvokeQuery && g.Query == "" {
		return false
	}
	named := slices.ContainsFunc(b.rules, func(r naiveRule) bool { return slices.Contains(r.actions, string(g.Action)) })
	row := g.Action.Row()
	allowed := row.IfNamed && !named && row.Server() == b.server
	for _, r := range b.rules {
		switch {
		case !b.applies(&r, actor, agent, acts, g), r.part() && !r.allow:
		case !r.allow:
			return false
		default:
			allowed = true
		}
	}
	return allowed
}

// applies reports whether a rule is about a call; see allowsLink.
func (b *naiveBundle) applies(r *naiveRule, actor, agent string, acts bool, g tool.Grant) bool {
	branch, via := g.Branch.Name(), string(g.Via)
	if via == "" {
		via = "adhoc"
	}
	{
		who := r.group == "" && r.ids == nil ||
			r.group != "" && slices.Contains(b.groups[r.group], actor) || slices.Contains(r.ids, actor)
		protected := slices.Contains(b.protected, branch)
		switch {
		case !who, !slices.Contains(r.actions, string(g.Action)):
		case r.branch == "protected" && !protected, r.branch == "unprotected" && protected, r.branch == "draft" && !g.OwnDraft:
		case r.queries != nil && !slices.Contains(r.queries, g.Query):
		case r.sources != nil && !slices.Contains(r.sources, g.Source):
		case r.via != "" && r.via != via:
		case r.agent && !acts:
		case r.through != "" && !slices.Contains(b.groups[r.through], agent):
		case r.unless != "" && slices.Contains(b.groups[r.unless], actor):
		default:
			return true
		}
	}
	return false
}

// draw returns a random bundle.
func draw(r *rand.Rand) *naiveBundle {
	some := func(from []string) []string {
		var s []string
		for _, v := range from {
			if r.IntN(2) == 0 {
				s = append(s, v)
			}
		}
		return s
	}
	atLeastOne := func(from []string) []string {
		if s := some(from); s != nil {
			return s
		}
		return []string{from[r.IntN(len(from))]}
	}
	b := &naiveBundle{groups: map[string][]string{}, protected: some(naiveBranches)}
	for _, g := range []string{"g1", "g2"} {
		b.groups[g] = some(naiveActors)
	}
	sourced := r.IntN(3)
	for i := range r.IntN(7) {
		rule := naiveRule{allow: r.IntN(3) > 0}
		switch r.IntN(3) {
		case 0:
			rule.group = []string{"g1", "g2"}[r.IntN(2)]
		case 1:
			rule.ids = atLeastOne(naiveActors)
		}
		scopes := []string{"any", "protected", "unprotected", "draft"}
		switch r.IntN(9) {
		case 7, 8:
			rule.actions = atLeastOne([]string{"read", "change", "export"})
			switch r.IntN(3) {
			case 0:
				rule.types = atLeastOne(naiveTypes)
			case 1:
				rule.properties = atLeastOne(naiveProperties)
				if r.IntN(2) == 0 {
					rule.types = atLeastOne(naiveTypes)
				}
			case 2:
				rule.rows = slices.Sorted(maps.Keys(naiveFilters))[r.IntN(len(naiveFilters))]
			}
		case 0:
			rule.actions = atLeastOne([]string{"read", "change", "export", "schema_apply", "branch_create", "branch_delete", "branch_merge", "proposal_review", "protection_bypass", "invoke_query", "admin"})
		case 1:
			rule.actions, rule.branch = atLeastOne([]string{"read", "change", "export"}), scopes[r.IntN(4)]
		case 2:
			rule.actions, rule.target = atLeastOne([]string{"schema_apply", "branch_create", "branch_delete", "branch_merge", "proposal_review", "protection_bypass"}), true
			rule.branch = scopes[r.IntN(4)]
		case 3:
			rule.actions, rule.queries = []string{"invoke_query"}, atLeastOne(naiveQueries)
		case 4:
			rule.actions, rule.via = atLeastOne([]string{"read", "change"}), []string{"adhoc", "stored"}[r.IntN(2)]
			if rule.via == "stored" && r.IntN(2) == 0 {
				rule.queries = atLeastOne(naiveQueries)
			}
		case 5:
			rule.actions, rule.via = atLeastOne([]string{"read", "change"}), []string{"adhoc", "stored"}[r.IntN(2)]
			rule.branch = scopes[r.IntN(4)]
		case 6:
			rule.actions, rule.via = []string{"branch_merge"}, []string{"adhoc", "proposal"}[r.IntN(2)]
		}
		if i < sourced {
			rule.actions, rule.branch, rule.target, rule.queries, rule.via, rule.types, rule.properties, rule.rows = []string{"load_source"}, "", false, nil, "", nil, nil, ""
			if r.IntN(3) > 0 {
				rule.sources = atLeastOne(naiveQueries) // a question about a query is about the source with its name too
			}
		}
		switch r.IntN(8) {
		case 0:
			rule.agent = true
		case 1:
			if !rule.allow {
				rule.through = []string{"g1", "g2"}[r.IntN(2)]
			}
		}
		if r.IntN(5) == 0 {
			rule.unless = []string{"g1", "g2"}[r.IntN(2)]
		}
		b.rules = append(b.rules, rule)
	}
	return b
}

// yaml returns the bundle as YAML. It writes lists as JSON, which is valid YAML.
func (b *naiveBundle) yaml() string {
	list := func(v []string) string {
		if v == nil {
			return "[]"
		}
		s, _ := json.Marshal(v)
		return string(s)
	}
	var t strings.Builder
	fmt.Fprintf(&t, "version: 1\ngroups: { g1: %s, g2: %s }\nprotected_branches: %s"+clinicFilters+"rules:\n", list(b.groups["g1"]), list(b.groups["g2"]), list(b.protected))
	if b.rules == nil {
		return strings.TrimSuffix(t.String(), "\n") + " []\n"
	}
	for i, r := range b.rules {
		effect, actors := "deny", "any"
		if r.allow {
			effect = "allow"
		}
		if r.group != "" {
			actors = "{ group: " + r.group + " }"
		}
		if r.ids != nil {
			actors = "{ ids: " + list(r.ids) + " }"
		}
		fmt.Fprintf(&t, "  - id: r%d\n    %s:\n      actors: %s\n      actions: %s\n", i, effect, actors, list(r.actions))
		switch {
		case r.branch != "" && r.target:
			fmt.Fprintf(&t, "      target_branch_scope: %s\n", r.branch)
		case r.branch != "":
			fmt.Fprintf(&t, "      branch_scope: %s\n", r.branch)
		}
		if r.queries != nil {
			fmt.Fprintf(&t, "      queries: %s\n", list(r.queries))
		}
		if r.sources != nil {
			fmt.Fprintf(&t, "      sources: %s\n", list(r.sources))
		}
		if r.via != "" {
			fmt.Fprintf(&t, "      via: %s\n", r.via)
		}
		if r.agent {
			t.WriteString("      as: agent\n")
		}
		if r.unless != "" {
			fmt.Fprintf(&t, "      unless: { group: %s }\n", r.unless)
		}
		if r.types != nil {
			fmt.Fprintf(&t, "      types: %s\n", list(r.types))
		}
		if r.properties != nil {
			fmt.Fprintf(&t, "      properties: %s\n", list(r.properties))
		}
		if r.rows != "" {
			fmt.Fprintf(&t, "      rows: %s\n", r.rows)
		}
		if r.through != "" {
			fmt.Fprintf(&t, "      through: { group: %s }\n", r.through)
		}
	}
	return t.String()
}

// viasOf returns the values of [tool.Via] with which a test asks for an action.
func viasOf(row *tool.ActionRow) []tool.Via {
	if row.ByVia() {
		return []tool.Via{"", row.Vias[0], row.Vias[1]}
	}
	return []tool.Via{"", tool.AdHoc, tool.Stored}
}

// everyGrant calls f with every combination of action, branch, query and via. A source has the name of the query.
func everyGrant(f func(tool.Grant)) {
	for _, row := range tool.Actions() {
		for _, branch := range naiveBranches {
			for _, query := range append([]string{""}, naiveQueries...) {
				for _, via := range viasOf(&row) {
					f(tool.Grant{Action: row.Action, Branch: tool.BranchNamed(branch), Query: query, Source: query, Via: via})
				}
			}
		}
	}
}

// TestDecidesAsWritten uses random bundles. The compiled policy must make the decision that the
// text of the bundle describes. Every compiled rule and every request must conform to the published
// schema. The explanation must agree with the decision.
func TestDecidesAsWritten(t *testing.T) {
	const seed = 20261120
	r := rand.New(rand.NewPCG(seed, 1))
	asked, allowed := 0, 0
	for i := range 150 {
		b := draw(r)
		text := b.yaml()
		p, err := Compile("policy.yaml", []byte(text), Options{Graph: "code", Queries: naiveQueries})
		if err != nil {
			t.Fatalf("bundle %d: %v\n%s", i, err, text)
		}
		for _, c := range p.all {
			if err := validator().Policy("", (*ast.Policy)(c.policy.AST())); err != nil {
				t.Errorf("rule %s does not fit the schema: %v\n%s", c.id, err, text)
			}
		}
		for _, id := range append([]string{"act-stranger"}, naiveActors...) {
			everyGrant(func(g tool.Grant) {
				want := b.allows(id, g)
				if got := p.Allowed(actor(id), g); got != want {
					t.Fatalf("%s %+v: decided %v, the text says %v\n%s", id, g, got, want, text)
				}
				asked++
				if want {
					allowed++
				}
				if i > 10 {
					return
				}
				e := p.Explain(actor(id), g)
				if e.Allowed != want || want && (len(e.Deciding) == 0 && e.Unanswerable == "" || len(e.Deciding) > 0 && e.Deciding[0].Deny) || !want && len(e.Deciding) > 0 && !e.Deciding[0].Deny {
					t.Fatalf("%s %+v: explained as %+v, decided %v\n%s", id, g, e, want, text)
				}
				if req, ok := p.request(link{id: id}, g); ok {
					if err := validator().Request(req); err != nil {
						t.Fatalf("%s %+v: %v", id, g, err)
					}
				}
			})
		}
	}
	if allowed*20 < asked || allowed*20 > asked*19 {
		t.Errorf("%d of %d allowed: the comparison says little", allowed, asked)
	}
}
