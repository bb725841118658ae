package policy

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestDecisionCache checks that each input of a decision is part of the cached question: a policy
// that has answered another question first must still decide correctly.
func TestDecisionCache(t *testing.T) {
	p, err := Compile("p.yaml", []byte(`
version: 1
groups: { staff: [act-ada] }
protected_branches: [main]
rules:
  - { id: staff, allow: { actors: { group: staff }, actions: [read] } }
  - { id: drafts, allow: { actors: { group: staff }, actions: [change], branch_scope: unprotected, via: adhoc } }
  - { id: one, allow: { actors: { ids: [act-bob] }, actions: [invoke_query], queries: [q1] } }
`), Options{Graph: "g", Queries: []string{"q1", "q2"}, TokenGroups: map[string]string{"idp-staff": "staff"}})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob, member := &access.Actor{ID: "act-ada"}, &access.Actor{ID: "act-bob"}, &access.Actor{ID: "act-bob", Groups: []string{"idp-staff"}}
	for range 2 {
		for _, tt := range []struct {
			actor *access.Actor
			grant tool.Grant
			want  bool
		}{
			{ada, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("a")}, true},
			{ada, tool.Grant{Action: tool.Export, Branch: tool.BranchNamed("a")}, false},
			{bob, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("a")}, false},
			{member, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("a")}, true},
			{ada, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("a"), Via: tool.AdHoc}, true},
			{ada, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("a"), Via: tool.Stored, Query: "q1"}, false},
			{ada, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main"), Via: tool.AdHoc}, false},
			{ada, tool.Grant{Action: tool.Change, Via: tool.AdHoc}, false},
			{bob, tool.Grant{Action: tool.InvokeQuery, Query: "q1"}, true},
			{bob, tool.Grant{Action: tool.InvokeQuery, Query: "q2"}, false},
			{nil, tool.Grant{Action: tool.Read, Branch: tool.BranchNamed("a")}, false},
		} {
			if got := p.Allowed(tt.actor, tt.grant); got != tt.want {
				t.Errorf("%+v %+v: %t", tt.actor, tt.grant, got)
			}
		}
	}
	if n := len(p.decisions.cached); n != 9 {
		t.Errorf("%d decisions are cached, expected one for each question with an actor, no branch being main", n)
	}
}

// TestDecisionCacheBounds asks about more branches than the cache holds, from several goroutines.
// The decisions must stay correct, and the cache must stay bounded.
func TestDecisionCacheBounds(t *testing.T) {
	p, err := CompileCedar("p.cedar", []byte(`permit (principal == Actor::"act-wil", action == Action::"change", resource) unless { context.branch == context.query || context.branch == "release" };`), Options{Graph: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range maxDecisions + 100 {
				branch := fmt.Sprintf("b%d", i)
				if !p.Allowed(actor("act-wil"), tool.Grant{Action: tool.Change, Branch: tool.BranchNamed(branch)}) {
					t.Errorf("denied on %s", branch)
					return
				}
				if i%64 == 0 && p.Allowed(actor("act-wil"), tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("release")}) {
					t.Error("allowed on release")
					return
				}
			}
		})
	}
	wg.Wait()
	before := len(p.decisions.cached)
	long := tool.Grant{Action: tool.Change, Branch: tool.BranchNamed(strings.Repeat("b", maxNames+1))}
	if !p.Allowed(actor("act-wil"), long) || len(p.decisions.cached) != before || before > maxDecisions {
		t.Errorf("%d decisions are cached, then %d", before, len(p.decisions.cached))
	}
}

// TestDecisionsByClass asks about more branches of one class than the cache holds. The cache must
// then hold one decision.
func TestDecisionsByClass(t *testing.T) {
	p := team(t)
	for i := range 2 * maxDecisions {
		if !p.Allowed(actor("act-wil"), tool.Grant{Action: tool.Change, Branch: tool.BranchNamed(fmt.Sprint("b", i))}) {
			t.Fatal("denied")
		}
	}
	if n := len(p.decisions.cached); n != 1 {
		t.Errorf("%d decisions about branches of one class", n)
	}
}

// TestRightsByClass asks about the rights of 1,000 queries. Queries that no rule tells apart need one restriction.
func TestRightsByClass(t *testing.T) {
	schema := clinicSchema(t, clinic)
	for rule, want := range map[string]int{
		"": 1,
		"- { id: c, deny: { actors: any, actions: [read], via: stored, properties: [Person.bio] } }":                    1,
		"- { id: c, deny: { actors: any, actions: [read], via: stored, queries: [q1, q2], properties: [Person.bio] } }": 3,
	} {
		p, err := Compile("p.yaml", []byte("version: 1\nrules:\n  - { id: a, allow: { actors: any, actions: [read] } }\n  - { id: b, deny: { actors: any, actions: [read], properties: [Person.salary] } }\n  "+rule+"\n"), Options{Graph: "g", AnyQuery: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			p.Rights(actor("ada"), tool.Grant{Action: tool.Read, Via: tool.Stored, Query: fmt.Sprint("q", i)}, schema)
		}
		if n := len(p.rights.cached); n != want {
			t.Errorf("%d restrictions for %q, want %d", n, rule, want)
		}
		hidden := "Person without salary\n"
		if rule != "" {
			hidden = "Person without bio,face,salary\n"
		}
		if got := rightsText(schema, p.Rights(actor("ada"), tool.Grant{Action: tool.Read, Via: tool.Stored, Query: "q1"}, schema)); got != hidden {
			t.Errorf("%s: %s", rule, got)
		}
		if got := rightsText(schema, p.Rights(actor("ada"), tool.Grant{Action: tool.Read, Via: tool.AdHoc}, schema)); got != "Person without salary\n" {
			t.Errorf("%s: ad hoc: %s", rule, got)
		}
		long := &access.Actor{ID: "ada", Groups: []string{strings.Repeat("g", maxNames)}}
		if first := p.Rights(long, tool.Grant{Action: tool.Read}, schema); first != p.Rights(long, tool.Grant{Action: tool.Read}, schema) {
			t.Error("the rights of an actor with long names are not cached")
		}
	}
	kept := map[int]bool{}
	for i := range 3 * maxRights {
		if kept = keep(kept, i, true); len(kept) > maxRights || i >= maxRights && len(kept) < maxRights/2 || !kept[i] {
			t.Fatalf("%d elements are kept after %d", len(kept), i)
		}
	}
}
