package policy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestBranchClass decides each grant on every branch and on the first branch of its class. Both
// decisions must be the same.
func TestBranchClass(t *testing.T) {
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
		most int // the highest number of classes
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
			first := map[string]string{} // first branch name of each class
			for _, name := range names {
				if class := c.p.BranchClass(name); first[class] == "" {
					first[class] = name
				}
			}
			if len(first) > c.most {
				t.Errorf("%d names have %d classes, want %d at most", len(names), len(first), c.most)
			}
			for _, a := range []string{"act-ada", "act-bot", "act-wil", "nobody"} {
				actor := &access.Actor{ID: a, Source: "token"}
				everyGrant(func(grant tool.Grant) {
					if !grant.Branch.IsMain() {
						return // skip this, because the loop below asks about every branch
					}
					for _, name := range names {
						grant.Branch = tool.BranchNamed(name)
						allowed := c.p.decide(actor, grant)
						grant.Branch = tool.BranchNamed(first[c.p.BranchClass(name)])
						if alike := c.p.decide(actor, grant); alike != allowed {
							t.Errorf("%s, %+v: %t, and %t on %s of the same class", a, grant, alike, allowed, name)
						}
					}
				})
			}
		})
	}
}
