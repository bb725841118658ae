package policy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestDistinct asks each grant on every branch and on the distinct ones: it is allowed on
// some branch of both, or of neither.
func TestDistinct(t *testing.T) {
	native := func(path string) *Policy {
		p, err := Read(path, Options{Graph: "code", Queries: teamQueries, TokenGroups: map[string]string{"r": "readers"}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	cedar := func(rules string) *Policy {
		p, err := CompileCedar("p.cedar", []byte(rules), Options{Graph: "code", Queries: teamQueries})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	names := []string{"main", "release", "team/a", "team/b", "team/a/x", "x", "xx", "stored", "adhoc", "find_user"}
	for i := range 60 {
		names = append(names, fmt.Sprintf("b%04d", i), fmt.Sprintf("team/%04d", i))
	}
	slices.Sort(names)
	const permit = `@id("p") permit (principal, action in [Action::"read", Action::"change", Action::"branch_delete"], resource) when { `
	for _, c := range []struct {
		name string
		p    *Policy
		most int // names that may be left
	}{
		{"bundle", team(t), 6},
		{"standalone", native("testdata/team.standalone.cedar"), 12},
		{"patterns", native("testdata/native.cedar"), 12},
		{"two patterns", cedar(permit + `context.branch like "team/*" && context.branch like "*/a" };`), 6},
		{"not a pattern", cedar(permit + `!(context.branch like "b*") };`), 6},
		{"a set", cedar(permit + `["b0007", "x"].contains(context.branch) };`), 6},
		{"a name", cedar(permit + `context.branch == "b0007" };`), 6},
		{"the name of the query", cedar(`@id("p") permit (principal, action == Action::"read", resource) when { context.branch == context.query };`), len(names)},
	} {
		t.Run(c.name, func(t *testing.T) {
			few := c.p.Distinct(names)
			if len(few) > c.most {
				t.Errorf("%d of %d names are left, want %d at most", len(few), len(names), c.most)
			}
			for _, a := range []string{"act-ada", "act-bot", "act-wil", "nobody"} {
				everyGrant(func(grant tool.Grant) {
					allowed := func(on []string) bool {
						return slices.ContainsFunc(on, func(branch string) bool {
							grant.Branch = branch
							return c.p.Allowed(&service.Actor{ID: a, Source: "token"}, grant)
						})
					}
					if grant.Branch != "" && grant.Branch != "main" {
						return // asked with every branch
					}
					if some, all := allowed(few), allowed(names); some != all {
						t.Errorf("%s, %+v: allowed on some branch %t, on a distinct one %t", a, grant, all, some)
					}
				})
			}
		})
	}
}
