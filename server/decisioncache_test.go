package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// counting allows actors with groups everything on branches whose name starts with a.
type counting struct{ asked int }

func (c *counting) Branches() []string { return nil }

func (c *counting) BranchClass(name string) string {
	if strings.HasPrefix(name, "draft/") {
		return " draft"
	}
	return name
}

func (c *counting) Allowed(a *access.Actor, g tool.Grant) bool {
	c.asked++
	return a != nil && len(a.Groups) > 0 && strings.HasPrefix(g.Branch, "a")
}

func TestRemembered(t *testing.T) {
	c := &counting{}
	r := &decisionCache{Authorizer: c}
	ada, bob := &access.Actor{ID: "ada", Groups: []string{"g"}}, &access.Actor{ID: "ada"}
	for range 3 {
		for _, tt := range []struct {
			actor  *access.Actor
			branch string
			want   bool
		}{{ada, "a", true}, {ada, "b", false}, {bob, "a", false}, {ada, "a" + strings.Repeat("x", maxKeptName), true}} {
			if got := r.Allowed(tt.actor, tool.Grant{Action: tool.Read, Branch: tt.branch}); got != tt.want {
				t.Errorf("%v %s: %t", tt.actor, tt.branch, got)
			}
		}
	}
	if c.asked != 6 {
		t.Errorf("asked %d times, wanted 3 and 3 for the name that is too long to keep", c.asked)
	}
	if r.Allowed(nil, tool.Grant{Branch: "a"}) {
		t.Error("nobody is allowed something")
	}
	for i := range 2 * maxDecisions {
		r.Allowed(ada, tool.Grant{Branch: fmt.Sprint("b", i)})
	}
	c.asked = 0
	for i := range 2 * maxDecisions {
		r.Allowed(ada, tool.Grant{Branch: fmt.Sprint("draft/", i)})
	}
	if c.asked != 1 {
		t.Errorf("%d decisions about branches of one class", c.asked)
	}
	if len(r.seen) > maxDecisions {
		t.Errorf("%d decisions are kept", len(r.seen))
	}
}
