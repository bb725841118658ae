package reconcile

import (
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestAdd adds proposed queries. Another text of a proposal replaces the one that was recorded when the proposal was merged first.
func TestAdd(t *testing.T) {
	r := sample(t)
	query := func(name, limit string) string {
		return "query " + name + "() @description(\"People.\") { match { $p: Person } return { $p.name } limit " + limit + " }"
	}
	add := func(q ProposedQuery) *Revision {
		t.Helper()
		next, _, err := r.Add("people", q, nil)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	r = add(ProposedQuery{"few", query("few", "1"), "P1"})
	r = add(ProposedQuery{"more", query("more", "9"), "P2"})
	if again := add(ProposedQuery{"few", query("few", "1"), "P1"}); again != nil {
		t.Errorf("the same text makes revision %d", again.Number)
	}
	r = add(ProposedQuery{"few", query("few", "2"), "P1"})
	got := r.Graph("people").ProposedQueries()
	if len(got) != 2 || got[0].Text != query("few", "2") || got[1].Name != "more" || r.Number != 4 {
		t.Errorf("revision %d has %+v", r.Number, got)
	}
	if _, _, err := r.Add("people", ProposedQuery{"few", query("few", "3"), "P3"}, nil); !errors.As(err, new(*engine.Conflict)) {
		t.Errorf("another proposal replaces the query: %v", err)
	}
}
