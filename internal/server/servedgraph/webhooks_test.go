package servedgraph_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// hookedGraph is a graph whose watches have a webhook, with the receiver and the clock of the test.
type hookedGraph struct {
	*watchedGraph
	now    time.Time
	url    string
	secret string
	status int      // that the receiver answers
	got    []string // the ids of the messages that arrived
	last   client.WebhookMessage
	bodies map[string]string // the data of the messages by id
	round  func()
}

func newHookedGraph(t *testing.T) *hookedGraph {
	g := &hookedGraph{watchedGraph: newWatchedGraph(t), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), status: 200, bodies: map[string]string{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		verifier, err := standardwebhooks.NewWebhook(g.secret)
		if err == nil {
			err = verifier.VerifyIgnoringTimestamp(body, r.Header)
		}
		g.last = client.WebhookMessage{}
		if err := errors.Join(err, json.Unmarshal(body, &g.last)); err != nil {
			t.Errorf("the message %s: %v", body, err)
		}
		id := r.Header.Get("webhook-id")
		if want := g.last.Data.WatchID + "_" + g.last.Data.Event.Cursor; id != want || g.last.Type != client.WebhookEvent || g.last.Data.GraphID != "people" {
			t.Errorf("the message %s has the id %s, want %s", body, id, want)
		}
		if was := cmp.Or(g.bodies[id], string(body)); was != string(body) {
			t.Errorf("the message %s is\n%s\nand was\n%s", id, body, was)
		}
		g.bodies[id] = string(body)
		g.got = append(g.got, id)
		w.WriteHeader(g.status)
	}))
	t.Cleanup(receiver.Close)
	g.url = receiver.URL + "/in"
	g.hook(nil)
	return g
}

// hook serves the graph with webhooks.
func (g *hookedGraph) hook(change func(*servedgraph.Config)) {
	g.Helper()
	c := servedgraph.Config{
		ID: "people", Graph: g.engine, Authorizer: watchPolicy{denied: &g.denied}, Webhooks: webhook.Settings{Loopback: true}, RightsFor: 24 * time.Hour,
		Now:     func() time.Time { return g.now },
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(g.T, servedtest.SchemaOf(g.T, watchedSource), watchedQueries)},
	}
	if change != nil {
		change(&c)
	}
	g.Graph = servedtest.Graph(g.T, c)
	round := g.Deliveries()
	g.round = func() {
		g.now = g.now.Add(2 * servedgraph.WatchRest) // so that the query may run again
		round(g.Context())
	}
}

// make makes a watch with a webhook.
func (g *hookedGraph) make(actor *access.Actor, query string) string {
	g.Helper()
	var w client.Watch
	if err := g.call(actor, operations.WatchRequest{New: &operations.NewWatch{Query: query, Webhook: g.url}}, &w); err != nil {
		g.Fatal(err)
	}
	if w.Webhook == nil || w.Webhook.URL != g.url || w.Webhook.State != client.WebhookActive || !strings.HasPrefix(w.Webhook.Secret, "whsec_") {
		g.Fatalf("the watch is made as %+v", w.Webhook)
	}
	g.secret = w.Webhook.Secret
	return w.ID
}

// listed returns the webhook of the only watch of an actor.
func (g *hookedGraph) listed(actor *access.Actor) *client.Webhook {
	g.Helper()
	var list client.WatchList
	if err := g.call(actor, operations.WatchRequest{}, &list); err != nil || len(list.Watches) != 1 || list.Watches[0].Webhook == nil || list.Watches[0].Webhook.Secret != "" {
		g.Fatalf("the watches are %+v, %v", list.Watches, err)
	}
	return list.Watches[0].Webhook
}

// stored returns the webhook of the only watch of the graph as the graph keeps it.
func (g *hookedGraph) stored() *operations.WatchHook {
	g.Helper()
	return operations.WebhookOf(g.only().State)
}

// only returns the only watch of the graph.
func (g *hookedGraph) only() *engine.Watch {
	g.Helper()
	list, err := g.engine.Watches(g.Context(), engine.WatchRange{})
	if err != nil || len(list) != 1 {
		g.Fatalf("the watches are %+v, %v", list, err)
	}
	return &list[0]
}

// arrived returns the number of messages since the last call.
func (g *hookedGraph) arrived() int {
	n := len(g.got)
	g.got = nil
	return n
}

// TestWebhook sends events to a receiver that fails for a while. Each event arrives with one id and one body, whatever happens in between.
func TestWebhook(t *testing.T) {
	g := newHookedGraph(t)
	id := g.make(servedtest.Writer, "people")
	g.mutate("", "put", "ann", 30, "a")
	g.round()
	if g.arrived() != 1 || g.last.Data.WatchID != id || g.last.Data.Event.Reset == nil || len(g.last.Data.Event.Rows) != 1 || g.last.Data.Previous != "" {
		t.Fatalf("the first message is %+v", g.last)
	}
	cursor := g.last.Data.Event.Cursor
	g.round()
	g.mutate("", "put", "ann", 30, "b") // not in the answer
	g.round()
	if n := g.arrived(); n != 0 {
		t.Fatalf("%d messages without news", n)
	}
	g.status = 503
	g.mutate("", "grow", "ann", 31)
	g.round()
	failed := slices.Clone(g.got)
	if g.arrived() != 1 || g.last.Data.Previous != cursor || len(g.last.Data.Event.Changed) != 1 {
		t.Fatalf("the message is %+v", g.last)
	}
	if h := g.listed(servedtest.Writer); h.State != client.WebhookRetrying || h.Reason != "the receiver answered 503" {
		t.Errorf("while the receiver fails, the webhook is %+v", h)
	}
	g.mutate("", "grow", "ann", 32)
	g.round()
	if n := g.arrived(); n != 0 {
		t.Errorf("%d attempts before the next one is due", n)
	}
	g.now = g.now.Add(time.Minute)
	g.round()
	if !slices.Equal(g.got, failed) {
		t.Errorf("the second attempt has the id %s, want %s", g.got, failed)
	}
	g.arrived()
	// Another server takes over.
	g.restart()
	g.hook(nil)
	g.now, g.status = g.now.Add(time.Hour), 200
	g.round()
	if !slices.Equal(g.got, failed) {
		t.Errorf("after a takeover the id is %s, want %s", g.got, failed)
	}
	g.arrived()
	cursor = g.last.Data.Event.Cursor
	g.round()
	if g.arrived() != 1 || g.last.Data.Previous != cursor || len(g.last.Data.Event.Changed) != 1 || string(g.last.Data.Event.Changed[0].After) != `{"p.name":"ann","p.age":32}` {
		t.Errorf("the event behind it is %+v", g.last)
	}
	g.round()
	if n := g.arrived(); n != 0 || g.listed(servedtest.Writer).State != client.WebhookActive {
		t.Errorf("%d messages without news, and the webhook is %+v", n, g.listed(servedtest.Writer))
	}
}

// TestWebhookGivesUp sends an event in vain for a day. The event is listed, the next one is sent, and the owner has the first sent again.
func TestWebhookGivesUp(t *testing.T) {
	g := newHookedGraph(t)
	g.hook(func(c *servedgraph.Config) { c.RightsFor = 1000 * time.Hour })
	id := g.make(servedtest.Writer, "people")
	g.round()
	g.arrived()
	g.status = 500
	g.mutate("", "put", "ann", 30, "a")
	attempts := 0
	for range 200 {
		g.round()
		attempts += g.arrived()
		g.now = g.now.Add(10 * time.Minute)
	}
	given, lost := g.listed(servedtest.Writer), g.last.Data
	if attempts < 20 || attempts > 60 || given.State != client.WebhookActive || len(given.Undelivered) != 1 || given.Undelivered[0].Cursor != lost.Previous ||
		given.Undelivered[0].To != lost.Event.To || given.Undelivered[0].Attempts != int64(attempts) || given.Undelivered[0].Reason == "" {
		t.Fatalf("after %d attempts the webhook is %+v", attempts, given)
	}
	g.status = 200
	g.mutate("", "grow", "ann", 31)
	g.round()
	if g.arrived() != 1 || g.last.Data.Previous != lost.Event.Cursor {
		t.Errorf("the next event is %+v", g.last)
	}
	again := func() {
		t.Helper()
		var w client.Watch
		if err := g.call(servedtest.Writer, operations.WatchRequest{ID: id, Again: true}, &w); err != nil || w.Webhook == nil || w.Webhook.Secret != "" {
			t.Fatalf("send again: %+v, %v", w, err)
		}
		g.round()
	}
	g.status = 410
	again()
	if h := g.listed(servedtest.Writer); g.arrived() != 1 || len(h.Undelivered) != 1 {
		t.Errorf("sent again in vain, the webhook is %+v", h)
	}
	g.status = 200
	again()
	if h := g.listed(servedtest.Writer); !slices.Equal(g.got, []string{id + "_" + lost.Event.Cursor}) || len(h.Undelivered) != 0 {
		t.Errorf("sent again as %s, the webhook is %+v", g.got, h)
	}
	g.arrived()
	// A receiver that answers 410 gets nothing before the owner wants that.
	g.status = 410
	g.mutate("", "grow", "ann", 32)
	g.round()
	if h := g.listed(servedtest.Writer); g.arrived() != 1 || h.State != client.WebhookPaused || len(h.Undelivered) != 1 {
		t.Errorf("after 410 the webhook is %+v", h)
	}
	g.status = 200
	g.mutate("", "grow", "ann", 33)
	g.now = g.now.Add(time.Hour)
	g.round()
	if n := g.arrived(); n != 0 {
		t.Errorf("%d messages after 410", n)
	}
	again()
	g.round()
	if h := g.listed(servedtest.Writer); g.arrived() != 2 || h.State != client.WebhookActive || len(h.Undelivered) != 0 {
		t.Errorf("after the owner wants it, the webhook is %+v", h)
	}
	var bad *tool.ArgumentError
	if err := g.call(servedtest.Writer, operations.WatchRequest{ID: g.watch(servedtest.Writer, "people", "", ""), Again: true}, nil); !errors.As(err, &bad) {
		t.Errorf("send again for a watch without a webhook: %v", err)
	}
	var missing *engine.NotFound
	if err := g.call(servedtest.Reader, operations.WatchRequest{ID: id, Again: true}, nil); !errors.As(err, &missing) {
		t.Errorf("another actor sends again: %v", err)
	}
}

// TestWebhookRights takes the rights of the owner away. Nothing is sent without them.
func TestWebhookRights(t *testing.T) {
	g := newHookedGraph(t)
	g.make(servedtest.Writer, "people")
	g.round()
	g.arrived()
	for i, action := range []tool.Action{tool.WatchWebhook, tool.Watch, tool.Read, tool.InvokeQuery} {
		g.mutate("", "put", "ann", i, nil)
		g.denied.Store(&action)
		g.round()
		if n := g.arrived(); n != 0 {
			t.Errorf("%d messages without %s", n, action)
		}
		if h := g.stored(); !h.Denied || h.Fault == "" {
			t.Errorf("without %s the webhook is %+v", action, h)
		}
		g.denied.Store(nil)
		for range 3 { // the server does not ask again and again
			g.now = g.now.Add(2 * time.Hour)
			g.round()
		}
		if h := g.listed(servedtest.Writer); g.arrived() != 0 || h.State != client.WebhookPaused || !strings.Contains(h.Reason, "the next call of the owner") {
			t.Errorf("before a call of the owner the webhook is %+v", h)
		}
		if g.round(); g.arrived() != 1 || g.listed(servedtest.Writer).State != client.WebhookActive {
			t.Errorf("no message after %s came back", action)
		}
	}
	action := tool.WatchWebhook
	g.denied.Store(&action)
	request := operations.WatchRequest{New: &operations.NewWatch{Query: "people", Webhook: g.url}}
	if err := g.call(servedtest.Writer, request, nil); err == nil {
		t.Error("an actor without watch_webhook makes a webhook")
	}
	var bad *tool.ArgumentError
	if err := g.call(servedtest.Writer, operations.WatchRequest{New: &operations.NewWatch{Query: "people", Webhook: "https://hooks.example.com/"}}, nil); err == nil || errors.As(err, &bad) {
		t.Errorf("an actor without watch_webhook learns which hosts are listed: %v", err)
	}
	g.denied.Store(nil)
	g.hook(func(c *servedgraph.Config) { c.Webhooks = webhook.Settings{} })
	if err := g.call(servedtest.Writer, request, nil); !errors.As(err, &bad) || bad.Path != "webhook" || bad.Help == "" {
		t.Errorf("a webhook of a graph without hosts: %v", err)
	}
}

// TestWebhookRightsFor lets the rights of an owner expire. The webhook pauses, and its next call resumes it, with the rights of that call.
func TestWebhookRightsFor(t *testing.T) {
	g := newHookedGraph(t)
	g.hook(func(c *servedgraph.Config) {
		c.Catalog.Queries = append(c.Catalog.Queries, servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), `query mine() { match { $p: Person $p.team in actor().groups } return { $p.name } }`)...)
	})
	owner := func(groups ...string) *access.Actor {
		a := *servedtest.Writer
		a.Groups, a.Agents = groups, []access.Agent{{ID: "act-bot", Groups: []string{"bots"}}}
		return &a
	}
	g.make(owner("a"), "mine")
	g.mutate("", "put", "ann", 30, "a")
	g.mutate("", "put", "bob", 30, "b")
	g.round()
	if g.arrived() != 1 || len(g.last.Data.Event.Rows) != 1 {
		t.Fatalf("the first message is %+v", g.last)
	}
	g.now = g.now.Add(23 * time.Hour)
	g.listed(owner("a")) // a call of the owner
	g.round()
	g.now = g.now.Add(23 * time.Hour)
	g.mutate("", "put", "cid", 30, "a")
	if g.round(); g.arrived() != 1 {
		t.Error("nothing is sent although the owner has called")
	}
	g.now = g.now.Add(2 * time.Hour)
	g.mutate("", "put", "dan", 30, "a")
	if g.round(); g.arrived() != 0 {
		t.Error("an event is sent with rights that have expired")
	}
	if err := g.call(servedtest.Writer, operations.WatchRequest{}, &client.WatchList{}); err != nil { // without the agent it is another actor
		t.Fatal(err)
	}
	if g.round(); g.arrived() != 0 {
		t.Error("the call of another actor resumes the webhook")
	}
	if h := g.listed(owner("b")); h.State != client.WebhookPaused || !strings.Contains(h.Reason, "24h") {
		t.Errorf("the webhook is listed as %+v", h)
	}
	g.round()
	if h := g.listed(owner("b")); h.State != client.WebhookActive {
		t.Errorf("after the call the webhook is %+v", h)
	}
	if e := g.last.Data.Event; g.arrived() != 1 || e.Reset == nil || *e.Reset != client.ResetRights || len(e.Rows) != 1 || !strings.Contains(string(e.Rows[0]), "bob") {
		t.Errorf("with the groups of the call the event is %+v", e)
	}
}

// TestWebhookWriter serves a graph that another server writes at first. The events are sent once this server writes it.
func TestWebhookWriter(t *testing.T) {
	g := newHookedGraph(t)
	arrived := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Header.Get("webhook-id") }))
	t.Cleanup(receiver.Close)
	var looks atomic.Int64
	var writer atomic.Bool
	looked := make(chan struct{}, 1)
	g.hook(func(c *servedgraph.Config) {
		c.Now = clock.Now
		c.Delivers = servedgraph.WriterRole{Claim: func(context.Context) error { return nil }, Writes: func() bool {
			if looks.Add(1) == 4 {
				looked <- struct{}{}
			}
			return writer.Load()
		}}
	})
	g.url = receiver.URL
	id := g.make(servedtest.Writer, "people")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.Deliver(ctx)
	}()
	<-looked
	if n := len(arrived); n != 0 {
		t.Errorf("a server that does not write the graph sends %d messages", n)
	}
	writer.Store(true)
	if got := <-arrived; !strings.HasPrefix(got, id+"_") {
		t.Errorf("the message %s arrived", got)
	}
	g.mutate("", "put", "ann", 30, "a")
	<-arrived
	cancel()
	<-ended
}

// TestStoredActor checks that an owner of a webhook has the rights of its token when it is restored.
func TestStoredActor(t *testing.T) {
	types := plan.Claims{"level": {Kind: value.I64}, "teams": {Kind: value.String, List: true}}
	for name, a := range map[string]*access.Actor{
		"nobody": nil,
		"plain":  {ID: "ada"},
		"whole": {
			ID: "ada", Tenant: "t", Source: "oidc", Groups: []string{"a"}, Agents: []access.Agent{{ID: "bot", Groups: []string{"b"}}, {ID: "other"}},
			Claims: map[string]value.Value{"level": value.OfI64(3), "teams": value.OfList(value.String, []value.Value{value.OfString("x")})},
		},
		"scoped": {ID: "ada", Scopes: &access.Scopes{Held: []string{"r"}, Known: []access.Scope{{Name: "r", Actions: []tool.Action{tool.Read}}}}},
		"closed": {ID: "ada", Scopes: &access.Scopes{}},
	} {
		got, err := servedgraph.StoreAndRestore(a, types)
		if err != nil {
			t.Fatal(err)
		}
		if got != nil && got.Scopes != nil {
			got.Scopes.Challenge = nil
		}
		if !reflect.DeepEqual(got, a) {
			t.Errorf("%s: %+v is restored as %+v", name, a, got)
		}
	}
	lost, err := servedgraph.StoreAndRestore(&access.Actor{ID: "ada", Claims: map[string]value.Value{"level": value.OfString("x")}}, types)
	if err != nil || len(lost.Claims) != 0 {
		t.Errorf("a claim of another type is restored as %+v, %v", lost, err)
	}
}
