package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// logGate is a Bucket that can hold back requests that create log objects.
type logGate struct {
	object.Bucket
	shut   atomic.Bool
	opened chan struct{} // closed when the requests may go on
	held   atomic.Int64  // requests that were held back
}

func (g *logGate) Create(ctx context.Context, name string, data []byte) error {
	if g.shut.Load() && strings.Contains(name, "/log/") {
		g.held.Add(1)
		<-g.opened
	}
	return g.Bucket.Create(ctx, name, data)
}

// TestLoadDuringTakeover lets another server take over when a load has stored its segments, but not its commit.
// The load must fail as unavailable and leave no row, and the new writer must delete its segments.
func TestLoadDuringTakeover(t *testing.T) {
	b, add := people(t)
	quick := func(s *Storage) { s.Retention = time.Second }
	gate := &logGate{Bucket: b, opened: make(chan struct{})}
	one := serveWith(t, gate, "one", quick)
	two := serveWith(t, b, "two", quick)
	segments := func() map[string]bool {
		t.Helper()
		entries, err := object.ListAll(t.Context(), b, "graph/people/")
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, e := range entries {
			if strings.Contains(e.Name, "/segment/") {
				found[e.Name] = true
			}
		}
		return found
	}
	before := segments()
	var data strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&data, `{"type":"Person","data":{"name":"loaded-%d"}}`+"\n", i)
	}
	gate.shut.Store(true)
	loaded := make(chan error, 1)
	go func() {
		_, err := one.Load(context.Background(), strings.NewReader(data.String()), engine.LoadOptions{Mode: engine.Append})
		loaded <- err
	}()
	eventually(t, "at the commit of the load", func() bool { return gate.held.Load() > 0 })
	orphans := segments()
	for name := range before {
		delete(orphans, name)
	}
	if len(orphans) == 0 {
		t.Fatal("the load has stored no segment; it is too small for this test")
	}
	if err := Move(t.Context(), b, "two", Wish{Graph: "people", Epoch: one.State().Epoch}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "taken over", func() bool { return two.State().Role == Writer })
	gate.shut.Store(false)
	close(gate.opened)
	var lost *engine.Unavailable
	var unknown *engine.Indeterminate
	if err := <-loaded; !errors.As(err, &lost) || lost.RetryAfter == 0 || errors.As(err, &unknown) {
		t.Errorf("the load that met the takeover: %v; want a *engine.Unavailable with a time to wait", err)
	}
	eventually(t, "a reader", func() bool { return one.State().Role == Reader })
	for _, s := range []*server{one, two} {
		if n := s.count(t); n != 0 {
			t.Errorf("server %s has %d rows of the load that failed", s.node.ID(), n)
		}
	}

	// The new writer looks for orphans after its first checkpoint, and condemns them with the checkpoint after that.
	const checkpoint, most = 1040, 10 // a writer makes a checkpoint after 1,024 commits
	deleted := func() bool {
		for name := range segments() {
			if orphans[name] {
				return false
			}
		}
		return true
	}
	inserted := 0
	for round := 0; !deleted(); round++ {
		if round == most {
			t.Fatalf("the segments of the load are still there after %d checkpoints", most)
		}
		for range checkpoint {
			if err := insert(two, add, fmt.Sprint("p", inserted)); err != nil {
				t.Fatal(err)
			}
			inserted++
		}
		time.Sleep(2 * two.storage.collectEvery())
	}
	for _, s := range []*server{one, two, serveWith(t, b, "three", quick)} {
		if n := s.count(t); n != int64(inserted) {
			t.Errorf("server %s has %d persons, want %d", s.node.ID(), n, inserted)
		}
	}
}
