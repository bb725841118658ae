package servedgraph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// mine is a query whose answer depends on the groups of the caller.
const mine = `query mine() { match { $p: Person $p.team in actor().groups } return { $p.name } }`

// hookMine serves a graph with the query mine, and returns a function that makes owners with the given groups.
func (g *hookedGraph) hookMine() func(groups ...string) *access.Actor {
	g.Helper()
	g.hook(func(c *servedgraph.Config) {
		c.Catalog.Queries = append(c.Catalog.Queries, servedtest.QueriesOf(g.T, servedtest.SchemaOf(g.T, watchedSource), mine)...)
	})
	return func(groups ...string) *access.Actor {
		a := *servedtest.Writer
		a.Groups = groups
		return &a
	}
}

// TestWebhookLossOfRights has an owner call with fewer groups. The next event has the rights of that call, whatever came of it and however soon
// it followed another one.
func TestWebhookLossOfRights(t *testing.T) {
	for _, tt := range []struct {
		what string
		call func(*hookedGraph, *access.Actor) error
	}{
		{"a list of watches", func(g *hookedGraph, a *access.Actor) error {
			return g.call(a, operations.WatchRequest{}, &client.WatchList{})
		}},
		{"a call that is denied", func(g *hookedGraph, a *access.Actor) error {
			action := tool.InvokeQuery
			g.denied.Store(&action)
			defer g.denied.Store(nil)
			if _, err := g.InvokeQuery(g.Context(), a, "people", servedgraph.Invocation{}, encoding.Options{}); err == nil {
				t.Error("the call is not denied")
			}
			return nil
		}},
		{"a call that writes", func(g *hookedGraph, a *access.Actor) error {
			return g.call(a, operations.WatchRequest{ID: g.only().ID, Again: true}, &client.Watch{})
		}},
	} {
		g := newHookedGraph(t)
		owner := g.hookMine()
		g.make(owner("a", "b"), "mine")
		g.mutate("", "put", "ann", 30, "a")
		g.mutate("", "put", "bob", 30, "b")
		if g.round(); g.arrived() != 1 || len(g.last.Data.Event.Rows) != 2 {
			t.Fatalf("the first message is %+v", g.last)
		}
		g.listed(owner("b", "a")) // the same rights
		if err := tt.call(g, owner("b")); err != nil {
			t.Fatalf("%s: %v", tt.what, err)
		}
		g.mutate("", "put", "cid", 30, "a")
		g.round()
		if e := g.last.Data.Event; g.arrived() != 1 || e.Reset == nil || *e.Reset != client.ResetRights || len(e.Rows) != 1 || !strings.Contains(string(e.Rows[0]), "bob") {
			t.Errorf("after %s with fewer groups the event is %+v", tt.what, e)
		}
		// The next loss follows within the time in which the server stores no other call.
		g.listed(owner())
		g.mutate("", "put", "dan", 30, "b")
		g.round()
		if e := g.last.Data.Event; g.arrived() != 1 || e.Reset == nil || len(e.Rows) != 0 {
			t.Errorf("after a second call with fewer groups the event is %+v", e)
		}
	}
}

// TestWebhookOtherToken has an owner call with a token of another application, whose scopes are others. It neither widens nor renews the rights.
func TestWebhookOtherToken(t *testing.T) {
	g := newHookedGraph(t)
	owner := g.hookMine()
	known := []access.Scope{{Name: "watch", Actions: []tool.Action{tool.Read, tool.InvokeQuery, tool.Watch, tool.WatchWebhook}}, {Name: "more", Actions: []tool.Action{tool.Read, tool.Watch}}}
	app := func(groups ...string) *access.Actor {
		a := owner(groups...)
		a.Scopes = &access.Scopes{Known: known, Held: []string{"watch"}, Challenge: func([]string) string { return "" }}
		return a
	}
	g.make(app("a"), "mine")
	g.mutate("", "put", "ann", 30, "a")
	g.mutate("", "put", "bob", 30, "b")
	if g.round(); g.arrived() != 1 || len(g.last.Data.Event.Rows) != 1 {
		t.Fatalf("the first message is %+v", g.last)
	}
	was := g.stored()
	for _, other := range []*access.Actor{owner("a", "b"), func() *access.Actor {
		a := app("a", "b")
		a.Scopes.Held = []string{"watch", "more"}
		return a
	}()} {
		g.now = g.now.Add(10 * time.Hour)
		g.listed(other)
		g.round()
		if is := g.stored(); g.arrived() != 0 || is.Called != was.Called || !slices.Equal(is.Owner, was.Owner) {
			t.Errorf("a token with other scopes makes the webhook %s of %s", is.Owner, was.Owner)
		}
	}
	g.now = g.now.Add(10 * time.Hour)
	g.mutate("", "put", "cid", 30, "a")
	if g.round(); g.arrived() != 0 || g.listed(owner("a")).State != client.WebhookPaused {
		t.Error("the rights of the application have not expired")
	}
	g.listed(app("a"))
	if g.round(); g.arrived() != 1 || len(g.last.Data.Event.Came) != 1 {
		t.Errorf("after a call of the application the event is %+v", g.last)
	}
}

// TestWebhookLostCommit takes the commit of an event away that is being delivered. The consumer gets the answer at the head instead, and an event
// that the owner wants again, which cannot be computed, stays listed with the reason.
func TestWebhookLostCommit(t *testing.T) {
	g := newHookedGraph(t)
	id := g.make(servedtest.Writer, "people")
	g.mutate("", "put", "ann", 30, "a")
	g.round()
	g.arrived()
	g.status = 503
	g.mutate("", "grow", "ann", 31)
	if g.round(); g.arrived() != 1 {
		t.Fatal("no attempt")
	}
	first := g.stored().Sending
	err := g.engine.ChangeWatch(t.Context(), id, func(state []byte) ([]byte, error) {
		h := operations.WebhookOf(state)
		lost := *h.Sending
		lost.Again = true
		h.Undelivered = append(h.Undelivered, lost)
		return h.State()
	})
	if err != nil {
		t.Fatal(err)
	}
	g.hook(func(c *servedgraph.Config) { c.Graph = &lostPast{g.engine, false} })
	g.mutate("", "grow", "ann", 32)
	g.now = g.now.Add(time.Minute)
	g.round()
	if e := g.last.Data.Event; g.arrived() != 1 || e.Reset == nil || *e.Reset != client.ResetHistory || len(e.Rows) != 1 || !strings.Contains(string(e.Rows[0]), "32") {
		t.Errorf("without the state of the event it is %+v", e)
	}
	if is := g.stored().Sending; is == nil || is.Since != first.Since || is.Attempts != 2 {
		t.Errorf("the event that replaces it is %+v, want the time and the attempts of the first one", is)
	}
	h := g.stored()
	if len(h.Undelivered) != 1 || h.Undelivered[0].Again || !strings.Contains(h.Undelivered[0].Reason, "cannot be computed again") {
		t.Errorf("the lost event is listed as %+v", h.Undelivered)
	}
	// The owner wants everything again: the event with a later attempt does not wait for that.
	g.status = 200
	if err := g.call(servedtest.Writer, operations.WatchRequest{ID: id, Again: true}, &client.Watch{}); err != nil {
		t.Fatal(err)
	}
	if g.round(); g.arrived() != 1 || g.stored().Sending != nil {
		t.Errorf("sent again, the webhook is %+v", g.stored())
	}
}
