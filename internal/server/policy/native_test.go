package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var nativeOptions = Options{Graph: "code", Queries: teamQueries, TokenGroups: map[string]string{"idp-readers": "readers"}}

func TestNative(t *testing.T) {
	p, err := Read("testdata/native.cedar", nativeOptions)
	if err != nil {
		t.Fatal(err)
	}
	reader := &access.Actor{ID: "act-ada", Groups: []string{"idp-readers"}, Source: "oidc"}
	claimant := &access.Actor{ID: "act-eve", Groups: []string{"readers"}, Source: "oidc"}
	for _, tt := range []struct {
		actor *access.Actor
		grant tool.Grant
		want  bool
	}{
		{reader, tool.Grant{Action: tool.Read}, true},
		{reader, tool.Grant{Action: tool.Export, Branch: tool.BranchNamed("feature")}, true},
		{reader, tool.Grant{Action: tool.Change}, false},
		{claimant, tool.Grant{Action: tool.Read}, false}, // the name of a group that is not mapped
		{actor("act-ada"), tool.Grant{Action: tool.Read}, false},
		{actor("act-bot"), tool.Grant{Action: tool.InvokeQuery, Query: "find_user"}, true},
		{actor("act-bot"), tool.Grant{Action: tool.InvokeQuery, Query: "drop_orders"}, false},
		{actor("act-bot"), tool.Grant{Action: tool.Read, Via: tool.Stored, Query: "find_user"}, true},
		{actor("act-bot"), tool.Grant{Action: tool.Read}, false},
		{actor("act-wil"), tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("team/a")}, true},
		{actor("act-wil"), tool.Grant{Action: tool.Change}, false},
		{actor("act-wil"), tool.Grant{Action: tool.GraphList}, false},
	} {
		if got := p.Allowed(tt.actor, tt.grant); got != tt.want {
			t.Errorf("%s %+v: got %v, want %v", tt.actor.ID, tt.grant, got, tt.want)
		}
	}
	// A question about "some branch" is also decided for each branch name in the file, and for one
	// sample name of each pattern in the file.
	if got := p.Branches(); !slices.Contains(got, "release") || !slices.Contains(got, "team/x") {
		t.Errorf("branches %q", got)
	}
}

func TestNativeServer(t *testing.T) {
	src := []byte(`permit (principal == Actor::"act-ada", action == Action::"graph_list", resource == Server::"cluster");`)
	p, err := CompileCedar("server.cedar", src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Allowed(actor("act-ada"), tool.Grant{Action: tool.GraphList}) || p.Allowed(actor("act-eve"), tool.Grant{Action: tool.GraphList}) {
		t.Error("graph_list is not as the policy says")
	}
}

// TestTokenGroups maps a group of a token to a group of a YAML bundle. The actor keeps the groups
// that the bundle gives to it.
func TestTokenGroups(t *testing.T) {
	src, err := os.ReadFile("testdata/team.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile("team.yaml", src, Options{Graph: "code", Queries: teamQueries, TokenGroups: map[string]string{"idp-readers": "readers"}})
	if err != nil {
		t.Fatal(err)
	}
	bot := &access.Actor{ID: "act-rex", Groups: []string{"idp-readers", "idp-writers", "writers"}, Source: "oidc"}
	if !p.Allowed(bot, tool.Grant{Action: tool.Read}) || !p.Allowed(bot, tool.Grant{Action: tool.InvokeQuery, Query: "list_orders"}) {
		t.Error("the actor has not the rights of both groups")
	}
	if p.Allowed(bot, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("feature")}) || p.Allowed(actor("act-rex"), tool.Grant{Action: tool.Read}) {
		t.Error("a group counts that is not mapped, or mapped for another request")
	}
}

func TestTokenGroupsLeadSomewhere(t *testing.T) {
	src, err := os.ReadFile("testdata/team.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile("team.yaml", src, Options{Graph: "code", Queries: teamQueries, TokenGroups: map[string]string{"idp": "raeders"}})
	if err == nil || !strings.Contains(err.Error(), `unknown group "raeders"`) || !strings.Contains(err.Error(), "did you mean readers?") {
		t.Errorf("got %v", err)
	}
}

func TestNativeFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/cedar/*.cedar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = CompileCedar(filepath.Base(path), src, nativeOptions)
			if err == nil {
				t.Fatal("compiled")
			}
			golden.Check(t, strings.TrimSuffix(path, ".cedar")+".golden", []byte(err.Error()+"\n"))
		})
	}
}

// TestPublishedSchema checks that the schema in the documentation is the one in force.
func TestPublishedSchema(t *testing.T) {
	golden.Check(t, "../../../docs/reference/policy.cedarschema", []byte(CedarSchema()))
}

func FuzzCompileCedar(f *testing.F) {
	for _, path := range []string{"testdata/native.cedar", "testdata/team.cedar", "testdata/cedar/names.cedar"} {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(`@rows("north") permit (principal, action == Action::"read", resource in Type::"Case");
forbid (principal, action in [Action::"read"], resource == Property::"Person.salary") unless { principal == Actor::"act-bot" };`))
	o := nativeOptions
	r := strictyaml.Read("cluster.yaml", []byte(clinicFilters))
	filters, _ := r.Root().Fields("cluster.yaml", "filters")
	o.Protected.Filters = protected.Parse(nil, nil, filters["filters"]).Filters
	schema := clinicSchema(f, clinic)
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := CompileCedar("policy.cedar", src, o)
		if err != nil {
			return
		}
		for _, row := range tool.Actions() {
			g := tool.Grant{Action: row.Action, Query: "find_user"}
			if p.Allowed(actor("act-bot"), g) != p.Explain(actor("act-bot"), g).Allowed {
				t.Errorf("%q: %s is explained otherwise than decided", src, row.Action)
			}
			p.Rights(actor("act-bot"), g, schema)
		}
	})
}

// TestLongConditions compiles a long chain of terms. Its syntax tree is as deep as the chain is
// long.
func TestLongConditions(t *testing.T) {
	src := `permit (principal, action == Action::"read", resource) when { true` + strings.Repeat(` && context.branch != "x"`, 10_000) + ` };`
	p, err := CompileCedar("policy.cedar", []byte(src), nativeOptions)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Allowed(actor("act-ada"), tool.Grant{Action: tool.Read}) || p.Allowed(actor("act-ada"), tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("x")}) {
		t.Error("the chain is not decided as written")
	}
}
