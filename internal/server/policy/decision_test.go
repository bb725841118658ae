package policy

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestDecision checks that a decision contains the rules behind it with their lines, and that
// Actors returns the actors that the policy names.
func TestDecision(t *testing.T) {
	p, err := Compile("dir/policy.yaml", []byte(`version: 1
groups: { readers: [act-b, act-a] }
protected_branches: [main]
rules:
  - id: readers-read
    allow: { actors: { group: readers }, actions: [read] }
  - id: one-writes
    allow: { actors: { ids: [act-c] }, actions: [change], branch_scope: unprotected }
`), Options{Graph: "g"})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Actors(); !slices.Equal(got, []string{"act-a", "act-b", "act-c"}) {
		t.Errorf("the actors are %v", got)
	}
	d := p.Decision(actor("act-a"), tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("main")})
	if !d.Allowed || len(d.Deciding) != 1 || d.Deciding[0].ID != "readers-read" || d.Deciding[0].File != "dir/policy.yaml" || d.Deciding[0].Line != 5 {
		t.Errorf("the decision to read is %+v", d)
	}
	d = p.Decision(actor("act-c"), tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main")})
	if d.Allowed || len(d.Deciding) != 0 || len(d.Near) != 1 || d.Near[0].ID != "one-writes" || d.Near[0].Missing == "" {
		t.Errorf("the decision to change is %+v", d)
	}
	if d = p.Decision(nil, tool.Grant{Action: tool.Read}); d.Allowed || d.Reason == "" {
		t.Errorf("the decision about a missing actor is %+v", d)
	}
}
