package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// fencedGraph is a graph that a server may not write, and that can do something while a query runs.
type fencedGraph struct {
	engine.Graph
	lost   error  // the error of writes; nil for a server that may write
	during func() // called once by the next query; may be nil
}

func (g *fencedGraph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	if g.lost != nil {
		return g.lost
	}
	return g.Graph.ChangeWatch(ctx, id, change)
}

func (g *fencedGraph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if f := g.during; f != nil {
		g.during = nil
		f()
	}
	return g.Graph.Query(ctx, q, args, at)
}

// TestWebhookFence has a server that cannot write the graph any more try an event again, and takes a watch or its rights away between an
// evaluation and the message. Nothing is sent.
func TestWebhookFence(t *testing.T) {
	g := newHookedGraph(t)
	id := g.make(servedtest.Writer, "people")
	fence := &fencedGraph{Graph: g.engine}
	g.hook(func(c *servedgraph.Config) { c.Graph = fence })
	g.status = 503
	if g.round(); g.arrived() != 1 {
		t.Fatal("no attempt")
	}
	g.status = 200
	fence.lost = &engine.Unavailable{Reason: "another server writes the graph"}
	g.now = g.now.Add(time.Minute)
	if g.round(); g.arrived() != 0 {
		t.Error("a server that does not write the graph sends an event again")
	}
	fence.lost = nil
	if err := g.engine.ChangeWatch(t.Context(), id, func(state []byte) ([]byte, error) {
		h := operations.WebhookOf(state)
		h.GiveUp()
		h.Undelivered[0].Again = true
		return h.State()
	}); err != nil {
		t.Fatal(err)
	}
	fence.lost = &engine.Unavailable{Reason: "another server writes the graph"}
	g.now = g.now.Add(time.Hour)
	if g.round(); g.arrived() != 0 {
		t.Error("a server that does not write the graph sends an event that the owner wants again")
	}
	fence.lost = nil
	g.now = g.now.Add(time.Hour)
	if g.round(); g.arrived() != 1 || len(g.stored().Undelivered) != 0 {
		t.Errorf("sent again, the webhook is %+v", g.stored())
	}
	g.mutate("", "put", "ann", 30, "a")
	fence.during = func() {
		if err := g.engine.ChangeWatch(t.Context(), id, func(state []byte) ([]byte, error) {
			h := operations.WebhookOf(state)
			h.Owner = []byte("null")
			return h.State()
		}); err != nil {
			t.Error(err)
		}
	}
	if g.round(); g.arrived() != 0 || g.stored().Sending != nil {
		t.Error("an event is sent with rights that were replaced after the evaluation")
	}
	g.round() // denied
	g.now = g.now.Add(time.Hour)
	g.listed(servedtest.Writer)
	fence.during = func() {
		if err := g.engine.DeleteWatch(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	g.round()
	if g.round(); g.arrived() != 0 || fence.during != nil {
		t.Error("an event of a deleted watch is sent")
	}
}

// TestWebhookSlowHost has a receiver that does not answer. It is not in the way of another receiver of the owner, and its messages end when
// another server becomes the writer.
func TestWebhookSlowHost(t *testing.T) {
	g := newHookedGraph(t)
	hanging, ended, quick := make(chan struct{}, 10), make(chan struct{}, 10), make(chan int64, 10)
	var hangs atomic.Int64
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		hangs.Add(1)
		hanging <- struct{}{}
		<-r.Context().Done()
		hangs.Add(-1)
		ended <- struct{}{}
	}))
	t.Cleanup(slow.Close)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { quick <- hangs.Load() }))
	t.Cleanup(other.Close)
	var writer atomic.Bool
	writer.Store(true)
	g.hook(func(c *servedgraph.Config) {
		c.Now = clock.Now
		c.Delivers = servedgraph.WriterRole{Writes: writer.Load, Claim: func(context.Context) error { return nil }}
	})
	g.url = slow.URL
	first := g.make(servedtest.Writer, "people")
	g.make(servedtest.Writer, "people")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Deliver(ctx)
	}()
	<-hanging
	<-hanging
	g.url = other.URL
	g.make(servedtest.Writer, "people")
	if n := <-quick; n != 2 {
		t.Errorf("the other receiver gets its message while %d messages hang, want both", n)
	}
	writer.Store(false)
	<-ended
	<-ended
	cancel()
	<-done
	list, err := g.engine.Watches(t.Context(), engine.WatchRange{ID: first})
	if err != nil {
		t.Fatal(err)
	}
	if sent := operations.WebhookOf(list[0].State).Sending; sent == nil || sent.Attempts != 1 || sent.Reason != "" {
		t.Errorf("the event of the former writer is stored as %+v, want one attempt without an end", sent)
	}
}

// TestWebhookWithoutWriter starts a server whose graph no server writes. It becomes the writer by itself if there are webhooks, and else it does
// not.
func TestWebhookWithoutWriter(t *testing.T) {
	g := newHookedGraph(t)
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	t.Cleanup(receiver.Close)
	g.url = receiver.URL
	var writer atomic.Bool
	var claims, looks atomic.Int64
	looked := make(chan struct{}, 1)
	g.hook(func(c *servedgraph.Config) {
		c.Now = clock.Now
		c.Delivers = servedgraph.WriterRole{
			Writes: func() bool {
				if looks.Add(1) == 3 {
					looked <- struct{}{}
				}
				return writer.Load()
			},
			Claim: func(context.Context) error {
				claims.Add(1)
				writer.Store(true)
				return nil
			},
		}
	})
	start := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			g.Deliver(ctx)
		}()
		return func() {
			cancel()
			<-ended
		}
	}
	g.watch(servedtest.Writer, "people", "", "")
	stop := start()
	<-looked
	stop()
	if n := claims.Load(); n != 0 {
		t.Errorf("without a webhook the server claims the graph %d times", n)
	}
	g.make(servedtest.Writer, "people")
	stop = start()
	<-arrived
	stop()
	if n := claims.Load(); n != 1 {
		t.Errorf("the server claims the graph %d times, want once", n)
	}
}

// TestWebhooksOfAll lists and ends webhooks as an administrator, who sees neither their addresses nor their arguments, and dismisses what could not be
// delivered as the owner.
func TestWebhooksOfAll(t *testing.T) {
	g := newHookedGraph(t)
	g.hook(func(c *servedgraph.Config) { c.RightsFor = 1000 * time.Hour })
	id := g.make(servedtest.Writer, "people")
	g.watch(servedtest.Reader, "people", "", "") // has no webhook
	g.round()
	g.status = 500
	g.mutate("", "put", "ann", 30, "a")
	for range 200 {
		g.round()
		g.now = g.now.Add(10 * time.Minute)
	}
	ask := func(end string, into any) error {
		t.Helper()
		a, err := g.Do(t.Context(), servedtest.Reader, "webhooks", g.WebhooksCall(end), encoding.Options{})
		if err != nil {
			return err
		}
		defer a.Release()
		if text := string(a.JSON); strings.Contains(text, g.secret) || strings.Contains(text, g.url) {
			t.Errorf("the answer has the secret or the address: %s", text)
		}
		return json.Unmarshal(a.JSON, into)
	}
	undelivered := func(want int64) {
		t.Helper()
		var list client.WebhookList
		if err := ask("", &list); err != nil || len(list.Webhooks) != 1 {
			t.Fatalf("the webhooks are %+v, %v", list, err)
		}
		if w := list.Webhooks[0]; w.WatchID != id || w.Owner != servedtest.Writer.ID || w.Query != "people" || w.Undelivered != want || !strings.Contains(g.url, "//"+w.Host) || w.Host == "" {
			t.Errorf("the webhook is %+v, want %d undelivered events", w, want)
		}
	}
	undelivered(1)
	var missing *engine.NotFound
	if err := g.call(servedtest.Reader, operations.WatchRequest{ID: id, Forget: true}, nil); !errors.As(err, &missing) {
		t.Errorf("another actor dismisses: %v", err)
	}
	var w client.Watch
	if err := g.call(servedtest.Writer, operations.WatchRequest{ID: id, Forget: true}, &w); err != nil || w.Webhook == nil || len(w.Webhook.Undelivered) != 0 || w.Webhook.Secret != "" {
		t.Errorf("dismiss: %+v, %v", w, err)
	}
	undelivered(0)
	g.status = 200
	g.arrived()
	g.mutate("", "grow", "ann", 31)
	if g.round(); g.arrived() != 1 {
		t.Error("nothing is sent after the owner has dismissed an event")
	}

	var denied *wireerror.Forbidden
	action := tool.Admin
	g.denied.Store(&action)
	for _, end := range []string{"", id} {
		if err := ask(end, nil); !errors.As(err, &denied) {
			t.Errorf("without admin: %v", err)
		}
	}
	g.denied.Store(nil)
	var deleted client.WatchDeleted
	if err := ask(id, &deleted); err != nil || deleted.Deleted != id {
		t.Errorf("end: %+v, %v", deleted, err)
	}
	if err := ask(id, &deleted); !errors.As(err, &missing) {
		t.Errorf("end it again: %v", err)
	}
	var bad *tool.ArgumentError
	if err := ask(g.only().ID, &deleted); !errors.As(err, &bad) {
		t.Errorf("end a watch without a webhook: %v", err)
	}
}
