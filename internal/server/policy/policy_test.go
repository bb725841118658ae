package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var teamQueries = []string{"find_user", "list_orders", "drop_orders"}

func team(t testing.TB) *Policy {
	t.Helper()
	p, err := Read("testdata/team.yaml", Options{Graph: "code", Queries: teamQueries})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func actor(id string) *access.Actor { return &access.Actor{ID: id, Source: "token"} }

func TestAllowed(t *testing.T) {
	read := tool.Grant{Action: tool.Read, Via: tool.AdHoc}
	change := tool.Grant{Action: tool.Change, Via: tool.AdHoc}
	on := func(g tool.Grant, branch string) tool.Grant { g.Branch = tool.BranchNamed(branch); return g }
	stored := func(g tool.Grant, query string) tool.Grant { g.Via, g.Query = tool.Stored, query; return g }
	invoke := func(query string) tool.Grant { return tool.Grant{Action: tool.InvokeQuery, Query: query} }
	act := func(a tool.Action, branch string) tool.Grant {
		return tool.Grant{Action: a, Branch: tool.BranchNamed(branch)}
	}
	tests := []struct {
		actor string
		grant tool.Grant
		want  bool
	}{
		// A reader may read any branch, with any query, and may do nothing else.
		{"act-ada", read, true},
		{"act-ada", on(read, "feature"), true},
		{"act-ada", stored(read, "find_user"), true},
		{"act-ada", act(tool.Export, "main"), true},
		{"act-ada", change, false},
		{"act-ada", on(change, "feature"), false},
		{"act-ada", invoke("find_user"), true}, // every actor may run this query
		{"act-ada", invoke("list_orders"), false},
		{"act-ada", act(tool.BranchCreate, "feature"), false},
		{"act-ada", act(tool.Admin, ""), false},

		// A writer may change every branch, but protected branches only through stored queries.
		{"act-wil", read, true},
		{"act-wil", on(change, "feature"), true},
		{"act-wil", change, false},
		{"act-wil", on(change, "main"), false},
		{"act-wil", on(change, "release"), false},
		{"act-wil", stored(change, "drop_orders"), true},
		{"act-wil", stored(on(change, "release"), "drop_orders"), true},
		{"act-wil", invoke("drop_orders"), true},
		{"act-wil", invoke("a_query_that_no_rule_names"), true},
		{"act-wil", act(tool.BranchCreate, "feature"), true},
		{"act-wil", act(tool.BranchMerge, "main"), false},
		{"act-wil", act(tool.BranchDelete, "release"), false},
		{"act-wil", act(tool.Export, "main"), false},

		// A bot may run its two queries and nothing else.
		{"act-rex", invoke("find_user"), true},
		{"act-rex", invoke("list_orders"), true},
		{"act-rex", invoke("drop_orders"), false},
		{"act-rex", stored(read, "find_user"), true},
		{"act-rex", stored(on(read, "feature"), "list_orders"), true},
		{"act-rex", read, false},
		{"act-rex", tool.Grant{Action: tool.Read}, false}, // a grant without via counts as adhoc
		{"act-rex", tool.Grant{Action: tool.Read, Via: "elsewhere"}, false},
		{"act-rex", change, false},
		{"act-rex", stored(change, "list_orders"), false},
		{"act-rex", act(tool.Export, ""), false},

		// A member of two groups has the rights of both.
		{"act-bot", read, true},
		{"act-bot", invoke("list_orders"), true},

		// A keeper may work on protected branches.
		{"act-kay", act(tool.BranchMerge, "main"), true},
		{"act-kay", act(tool.BranchMerge, ""), true},
		{"act-kay", act(tool.BranchMerge, "feature"), false},
		{"act-kay", act(tool.SchemaApply, "main"), true},
		{"act-kay", act(tool.Admin, ""), true},
		{"act-kay", read, false},

		// An actor that no rule names has the rights that every actor has.
		{"act-eve", invoke("find_user"), true},
		{"act-eve", invoke("list_orders"), false},
		{"act-eve", read, false},
		{"act-eve", stored(read, "find_user"), false},
		{"act-eve", on(change, "feature"), false},

		// Requests that no rule can answer.
		{"", invoke("find_user"), false},
		{"act-kay", tool.Grant{Action: "everything"}, false},
		{"act-kay", tool.Grant{Action: tool.GraphList}, false},
		{"act-wil", tool.Grant{Action: tool.InvokeQuery}, false},
		{"readers", read, false}, // the name of a group is not an actor
	}
	p := team(t)
	for _, tt := range tests {
		if got := p.Allowed(actor(tt.actor), tt.grant); got != tt.want {
			t.Errorf("%s %+v: got %v, want %v", tt.actor, tt.grant, got, tt.want)
		}
	}
	if p.Allowed(nil, invoke("find_user")) {
		t.Error("nobody is allowed something")
	}
	if got := p.Branches(); fmt.Sprint(got) != "[main release]" {
		t.Errorf("branches %v", got)
	}
}

// TestGroupsOfTheToken checks that groups of a token that are not mapped are ignored.
func TestGroupsOfTheToken(t *testing.T) {
	p := team(t)
	claimant := &access.Actor{ID: "act-eve", Groups: []string{"readers", "writers", "keepers"}, Source: "oidc"}
	if p.Allowed(claimant, tool.Grant{Action: tool.Read}) {
		t.Error("a claimed group counts")
	}
}

// TestNothing compiles a policy without rules. No actor may do anything.
func TestNothing(t *testing.T) {
	p, err := Compile("policy.yaml", []byte("version: 1\nrules: []\n"), Options{Graph: "code"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tool.Actions() {
		if !row.IfNamed && p.Allowed(actor("act-ada"), tool.Grant{Action: row.Action, Query: "q"}) {
			t.Errorf("%s is allowed", row.Action)
		}
	}
}

func TestFixedPolicies(t *testing.T) {
	tests := []struct {
		name   string
		policy *Policy
		want   map[tool.Action]bool
	}{
		{"read only", ReadOnly("code"), map[tool.Action]bool{tool.Read: true, tool.InvokeQuery: true, tool.LoadSource: true, tool.Watch: true}},
		{"read only server", ReadOnly(""), map[tool.Action]bool{tool.GraphList: true, tool.ClusterApply: true}},
		{"unrestricted server", Unrestricted(""), map[tool.Action]bool{tool.GraphList: true, tool.ClusterApply: true}},
		{"unrestricted", Unrestricted("code"), map[tool.Action]bool{
			tool.Read: true, tool.Export: true, tool.Change: true, tool.SchemaApply: true, tool.BranchCreate: true,
			tool.BranchDelete: true, tool.BranchMerge: true, tool.ProposalReview: true, tool.ProtectionBypass: true, tool.InvokeQuery: true, tool.Admin: true, tool.PolicyRead: true, tool.AuditRead: true, tool.QueryPropose: true, tool.QueryPublish: true, tool.LoadSource: true, tool.Watch: true, tool.WatchWebhook: true,
		}},
	}
	for _, tt := range tests {
		for _, row := range tool.Actions() {
			for _, via := range viasOf(&row) {
				if got := tt.policy.Allowed(actor("act-any"), tool.Grant{Action: row.Action, Query: "q", Via: via}); got != tt.want[row.Action] {
					t.Errorf("%s: %s via %s: got %v, want %v", tt.name, row.Action, via, got, tt.want[row.Action])
				}
			}
		}
	}
}

func TestServerPolicy(t *testing.T) {
	src := "version: 1\nrules:\n  - id: ada-lists\n    allow: {actors: {ids: [act-ada]}, actions: [graph_list]}\n"
	p, err := Compile("server.yaml", []byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Allowed(actor("act-ada"), tool.Grant{Action: tool.GraphList}) || p.Allowed(actor("act-eve"), tool.Grant{Action: tool.GraphList}) {
		t.Error("graph_list is not as the rule says")
	}
}

func TestCedarText(t *testing.T) {
	golden.Check(t, "testdata/team.cedar", []byte(team(t).CedarText()))
}

// TestCedarTextDecides parses the output of CedarText and decides every grant with it. The text
// must be the whole policy.
func TestCedarTextDecides(t *testing.T) {
	p := team(t)
	list, err := cedar.NewPolicyListFromBytes("team.cedar", []byte(p.CedarText()))
	if err != nil {
		t.Fatal(err)
	}
	parsed := &Policy{target: p.target, entities: p.entities, protected: p.protected, byAction: map[tool.Action]*ruleSet{}}
	for i, c := range list {
		parsed.all = append(parsed.all, compiled{id: cedar.PolicyID(fmt.Sprint(i)), policy: c})
	}
	for _, row := range tool.Actions() {
		parsed.byAction[row.Action] = &ruleSet{unnamed: p.byAction[row.Action].unnamed, all: parsed.all, plain: parsed.all} // no index, so that Cedar itself matches the actions
	}
	asked, allowed := 0, 0
	for _, id := range []string{"act-ada", "act-wil", "act-bot", "act-rex", "act-kay", "act-eve"} {
		for _, row := range tool.Actions() {
			for _, branch := range []string{"main", "release", "feature"} {
				for _, query := range []string{"", "find_user", "list_orders", "drop_orders"} {
					for _, via := range viasOf(&row) {
						g := tool.Grant{Action: row.Action, Branch: tool.BranchNamed(branch), Query: query, Via: via}
						want := p.Allowed(actor(id), g)
						if got := parsed.Allowed(actor(id), g); got != want {
							t.Errorf("%s %+v: text says %v, policy says %v", id, g, got, want)
						}
						asked++
						if want {
							allowed++
						}
					}
				}
			}
		}
	}
	if allowed == 0 || allowed == asked {
		t.Errorf("%d of %d allowed: the comparison says nothing", allowed, asked)
	}
}

// TestRepositoryPolicy compiles the policy of the graph in this repository.
func TestRepositoryPolicy(t *testing.T) {
	p, err := Read("../../../queries/code/policy.yaml", Options{Graph: "code"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []tool.Action{tool.Read, tool.Change, tool.InvokeQuery} {
		for _, branch := range []string{"main", "feature"} {
			g := tool.Grant{Action: a, Branch: tool.BranchNamed(branch), Query: "q"}
			if !p.Allowed(actor("act-dev"), g) {
				t.Errorf("act-dev may not %s on %s", a, branch)
			}
			if p.Allowed(actor("act-eve"), g) {
				t.Errorf("act-eve may %s on %s", a, branch)
			}
		}
	}
	if p.Allowed(actor("act-ada"), tool.Grant{Action: tool.Change}) {
		t.Error("a reader may change main")
	}
}

func TestFaults(t *testing.T) {
	files, err := os.ReadDir("testdata/faults")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".yaml")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile("testdata/faults/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Graph: "code", Queries: teamQueries}
			if strings.HasPrefix(name, "server") {
				o = Options{}
			}
			_, err = Compile(f.Name(), src, o)
			if err == nil {
				t.Fatal("compiled")
			}
			golden.Check(t, "testdata/faults/"+name+".golden", []byte(err.Error()+"\n"))
		})
	}
}

// FuzzCompile checks that no bundle makes the compiler panic, and that the Cedar text of every
// valid bundle parses.
func FuzzCompile(f *testing.F) {
	for _, path := range []string{"testdata/team.yaml", "testdata/faults/names.yaml", "testdata/faults/shape.yaml"} {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("version: 1" + clinicFilters + `rules:
  - { id: a, allow: { actors: any, actions: [read], rows: north } }
  - { id: b, deny: { actors: any, actions: [read], types: [Team], properties: [Person.salary, Noted.note], unless: { group: g } } }
groups: { g: [act-bot] }
`))
	schema := clinicSchema(f, clinic)
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Compile("policy.yaml", src, Options{Graph: "code", Queries: teamQueries, Schemas: []*catalog.Schema{schema.Catalog}})
		if err != nil {
			return
		}
		p.Warnings(schema.Catalog)
		g := tool.Grant{Action: tool.Read}
		if r, parts := p.Rights(actor("act-bot"), g, schema), p.Parts(actor("act-bot"), g, schema); r != nil && parts == nil {
			t.Errorf("%q: rights without parts", src)
		}
		if _, err := cedar.NewPolicyListFromBytes("policy.cedar", []byte(p.CedarText())); err != nil {
			t.Errorf("%q compiles to %s: %v", src, p.CedarText(), err)
		}
	})
}

// BenchmarkDecide measures decisions that are not in the decision cache.
func BenchmarkDecide(b *testing.B) {
	p := team(b)
	for _, bb := range []struct {
		name  string
		actor string
		grant tool.Grant
	}{
		{"read", "act-ada", tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("main"), Via: tool.AdHoc}},
		{"invoke", "act-rex", tool.Grant{Action: tool.InvokeQuery, Query: "find_user"}},
		{"denied", "act-eve", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main"), Via: tool.AdHoc}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			a := actor(bb.actor)
			b.ReportAllocs()
			for b.Loop() {
				p.decide(a, bb.grant)
			}
		})
	}
}

// TestUnknownQueries compiles policies that name queries that do not exist. Where the options allow that, such a rule
// grants nothing, also not the other queries, and the policy lists the name with its place.
func TestUnknownQueries(t *testing.T) {
	for file, text := range map[string]string{
		"p.yaml":  "version: 1\nrules:\n  - id: some\n    allow: { actors: any, actions: [invoke_query], queries: [find_usr] }\n",
		"p.cedar": "permit (principal, action == Action::\"invoke_query\", resource == Query::\"find_usr\");\n",
	} {
		compile := Compile
		if strings.HasSuffix(file, nativeExt) {
			compile = CompileCedar
		}
		o := Options{Graph: "code", Queries: teamQueries}
		if _, err := compile(file, []byte(text), o); err == nil || !strings.Contains(err.Error(), "find_usr") {
			t.Errorf("%s: error %v, want one about find_usr", file, err)
		}
		o.UnknownQueries = true
		p, err := compile(file, []byte(text), o)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for query, want := range map[string]bool{"find_user": false, "list_orders": false, "find_usr": true} {
			if got := p.Allowed(actor("act-ada"), tool.Grant{Action: tool.InvokeQuery, Query: query}); got != want {
				t.Errorf("%s allows %s: %t, want %t", file, query, got, want)
			}
		}
		if list := p.UnknownQueries(); len(list) != 1 || list.HasErrors() || list[0].Span.File != file || !strings.Contains(list[0].Message+list[0].Help, "find_usr") || !strings.Contains(list[0].Help, "find_user") {
			t.Errorf("%s lists %v", file, list)
		}
	}
}
