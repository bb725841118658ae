package replica

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// meter counts the requests that concern graphs, and can delay reads of incarnations.
type meter struct {
	object.Bucket
	graphs       atomic.Int64  // requests for objects of graphs
	incarnations atomic.Int64  // reads of incarnations: one for each attempt to open a graph
	other        atomic.Int64  // all other requests, for example for signs of life
	gate         chan struct{} // if set, reads of incarnations wait until it is closed
}

func (m *meter) count(name string) {
	switch {
	case strings.HasPrefix(name, "graph/"):
		m.graphs.Add(1)
	case strings.HasPrefix(name, incarnationPrefix):
		m.incarnations.Add(1)
		if m.gate != nil {
			<-m.gate
		}
	default:
		m.other.Add(1)
	}
}

// all returns the number of requests so far.
func (m *meter) all() int64 { return m.graphs.Load() + m.incarnations.Load() }

func (m *meter) Create(ctx context.Context, name string, data []byte) error {
	m.count(name)
	return m.Bucket.Create(ctx, name, data)
}

func (m *meter) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	m.count(name)
	return m.Bucket.Read(ctx, name, offset, length)
}

func (m *meter) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	m.count(prefix)
	return m.Bucket.List(ctx, prefix, after, limit)
}

func (m *meter) Put(ctx context.Context, name string, data []byte) error {
	m.count(name)
	return m.Bucket.Put(ctx, name, data)
}

func (m *meter) Delete(ctx context.Context, name string) error {
	m.count(name)
	return m.Bucket.Delete(ctx, name)
}

// lazy is a server whose graphs are opened on first use.
type lazy struct {
	*meter
	node    *Node
	storage *Storage
	graphs  map[string]*Graph
}

// serveLazily starts a server. The function `set` sets more options.
func serveLazily(t *testing.T, b object.Bucket, id string, graphs []string, set func(*Storage)) *lazy {
	t.Helper()
	l := &lazy{meter: &meter{Bucket: b}, graphs: map[string]*Graph{}}
	l.node = NewNode(NodeOptions{Bucket: l, ID: id, Address: "http://" + id, Config: "c", Lease: lease})
	l.storage = &Storage{Bucket: l, Cache: t.TempDir(), Node: l.node}
	set(l.storage)
	if err := l.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, graph := range graphs {
		g, err := l.storage.OpenOnUse(graph, engine.OpenOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.graphs[graph] = g
	}
	t.Cleanup(func() { l.stop(t) })
	return l
}

// stop ends the server in an orderly way.
func (l *lazy) stop(t *testing.T) {
	t.Helper()
	err := l.node.Leave(context.Background())
	for _, g := range l.graphs {
		err = errors.Join(err, g.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// persons returns the number of persons in the latest state of a graph.
func persons(t *testing.T, g *Graph) int64 {
	t.Helper()
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	snap, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return snap.Nodes[0].Count
}

// isIdle returns a function that reports whether a graph is Idle.
func isIdle(g *Graph) func() bool { return func() bool { return g.State().Role == Idle } }

// heap returns the bytes of the objects on the heap that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // the first collection may have run cleanups that free more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// find compiles a query that returns the names of all persons.
func find(t *testing.T) *plan.Query {
	t.Helper()
	c, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	queries, more := gq.CompileQueries(c, gq.Source{Name: "q.gq", Text: "query q() {\n  match { $p: Person }\n  return { $p.name as name }\n}\n"})
	if err := errors.Join(faults.Err(), more.Err()); err != nil {
		t.Fatal(err)
	}
	return queries[0].Plan
}

var idleGraphs = flag.Int("replica.graphs", 200, "number of unused graphs of TestIdleGraphs")

// TestIdleGraphs serves unused graphs. They must send no request and have no goroutine.
// Then it uses one of them, which must be the only one that is opened, and which must be closed again.
func TestIdleGraphs(t *testing.T) {
	b, graphs := emptyGraphs(t, *idleGraphs)
	before, heapBefore := runtime.NumGoroutine(), heap()
	began := clock.Now()
	l := serveLazily(t, b, "one", graphs, func(s *Storage) { s.Idle = lease / 2 })
	t.Logf("a server starts with %d graphs in %v", len(graphs), clock.Since(began))
	beat := func() uint64 {
		l.node.mu.Lock()
		defer l.node.mu.Unlock()
		return l.node.beat
	}
	quiet := func(what string) {
		t.Helper()
		sent, signs, from, began := l.all(), l.other.Load(), beat(), clock.Now()
		eventually(t, "three more signs", func() bool { return beat() >= from+3 })
		for _, g := range l.graphs {
			_, _, _ = g.Stats(), g.State(), g.Failure() // as for metrics and /readyz
		}
		spent := clock.Since(began)
		if n := l.all() - sent; n != 0 {
			t.Errorf("%s: %d idle graphs sent %d requests", what, len(graphs), n)
		}
		more := runtime.NumGoroutine() - before
		if more > 10 {
			t.Errorf("%s: a server with %d idle graphs has %d goroutines more", what, len(graphs), more)
		}
		bytes := heap() - heapBefore
		if each := bytes / int64(len(graphs)); each > 16<<10 {
			t.Errorf("%s: an idle graph has %d bytes", what, each)
		}
		t.Logf("%s: %d idle graphs have %d goroutines and %d bytes of heap (%d each); in %v the server sent %d requests for graphs and %d others",
			what, len(graphs), more, bytes, bytes/int64(len(graphs)), spent, l.all()-sent, l.other.Load()-signs)
	}
	quiet("after the start")
	used := l.graphs["graph-7"]
	if n := persons(t, used); n != 0 || used.State().Role != Writer || l.incarnations.Load() != 1 {
		t.Errorf("the first use opens %d graphs; the graph is %+v with %d persons", l.incarnations.Load(), used.State(), n)
	}
	if s := used.Stats(); !s.Shared.Open || s.Branches != 1 {
		t.Errorf("the figures of the open graph are %+v, %+v", s, s.Shared)
	}
	eventually(t, "idle again", isIdle(used))
	quiet("after the use")
	if s := used.Stats(); s.Shared.Open || s.Branches != 1 {
		t.Errorf("the figures of the idle graph are %+v, %+v", s, s.Shared)
	}
}

// TestFirstUse lets 16 callers use a graph at the same time. It must be opened once, even if the context
// of the first caller ends meanwhile.
func TestFirstUse(t *testing.T) {
	b, _ := people(t)
	var opened atomic.Int64
	l := serveLazily(t, b, "one", nil, func(*Storage) {})
	g, err := l.storage.OpenOnUse("people", engine.OpenOptions{}, func(ctx context.Context) {
		if _, err := l.graphs["people"].Schema(ctx, engine.Target{}); err != nil {
			t.Error(err)
		}
		opened.Add(1)
	})
	if err != nil {
		t.Fatal(err)
	}
	l.graphs["people"], l.gate = g, make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := g.Snapshot(ctx, engine.Target{})
		first <- err
	}()
	eventually(t, "opening", func() bool { return l.incarnations.Load() == 1 })
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose context ended: %v", err)
	}
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			if _, err := g.Snapshot(t.Context(), engine.Target{}); err != nil {
				t.Error(err)
			}
		})
	}
	close(l.gate)
	calls.Wait()
	eventually(t, "reported as open", func() bool { return opened.Load() > 0 })
	if n := l.incarnations.Load(); n != 1 || opened.Load() != 1 {
		t.Errorf("17 callers opened the graph %d times, and %d times were reported", n, opened.Load())
	}
}

// TestFailedUse uses a graph that does not exist. Calls must get a *engine.Unavailable that says what to
// do, and the graph must open by itself once it exists.
func TestFailedUse(t *testing.T) {
	b := &object.Memory{}
	var faults atomic.Int64
	l := serveLazily(t, b, "one", []string{"people"}, func(s *Storage) { s.Fault = func(string, error) { faults.Add(1) } })
	g := l.graphs["people"]
	if err := g.Failure(); err != nil {
		t.Errorf("before its first use, the graph reports %v", err)
	}
	_, err := g.Snapshot(t.Context(), engine.Target{})
	var unavailable *engine.Unavailable
	var missing *engine.NotFound
	if !errors.As(err, &unavailable) || errors.As(err, &missing) || !strings.Contains(err.Error(), "omnigraph cluster apply") || unavailable.RetryAfter == 0 {
		t.Errorf("the first use of a missing graph: %v", err)
	}
	if err := g.Failure(); err == nil || g.State().Role != Absent || faults.Load() != 1 {
		t.Errorf("after a use that failed, the graph reports %v and is %+v; %d faults", err, g.State(), faults.Load())
	}
	c, list := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	s := command(t, b)
	made, err := s.Create(t.Context(), "people", schema, c, engine.OpenOptions{})
	if err == nil {
		err = errors.Join(made.Close(), s.Node.Leave(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "open", func() bool { return g.Failure() == nil })
	if n := persons(t, g); n != 0 {
		t.Errorf("%d persons", n)
	}
}

// TestHeldOpen keeps a result open for longer than the time after which a graph becomes Idle.
func TestHeldOpen(t *testing.T) {
	b, add := people(t)
	l := serveLazily(t, b, "one", []string{"people"}, func(s *Storage) { s.Idle = lease / 4 })
	g := l.graphs["people"]
	if err := insert(g, add, "a"); err != nil {
		t.Fatal(err)
	}
	r, err := g.Query(t.Context(), find(t), nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease)
	if s := g.State(); s.Role != Writer {
		t.Errorf("with an open result the graph is %+v", s)
	}
	if batch, err := r.Next(t.Context()); err != nil || batch.Len != 1 {
		t.Errorf("the result: %v, %v", batch, err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "idle", isIdle(g))
}

// TestIdleWriter lets the writer of a graph become Idle, while the graph of another server stays in use.
// Reads must not change the writer. The next write must make its server the writer without waiting for a
// lease, and no write may be lost.
func TestIdleWriter(t *testing.T) {
	b, add := people(t)
	graphs := []string{"people"}
	one := serveLazily(t, b, "one", graphs, func(s *Storage) { s.Idle = lease / 2 })
	two := serveLazily(t, b, "two", graphs, func(s *Storage) { s.Idle = lease / 2 })
	here, there := one.graphs["people"], two.graphs["people"]
	if err := insert(here, add, "a"); err != nil {
		t.Fatal(err)
	}
	epoch, tenure := here.State().Epoch, here.Tenure()
	eventually(t, "idle", isIdle(here))
	if here.collecting.Lock(); here.collectedAt.IsZero() {
		t.Error("the writer closed the graph without a garbage collection")
	}
	here.collecting.Unlock()
	eventually(t, "in the sign", func() bool {
		s, err := ReadSign(t.Context(), b, "one")
		return err == nil && s.Graphs["people"] == GraphSign{Role: Idle, Epoch: epoch, Released: epoch}
	})
	if n := persons(t, here); n != 1 || here.State().Role != Reader || here.State().Epoch != epoch {
		t.Errorf("a read on the former writer: %d persons, %+v", n, here.State())
	}
	if n := persons(t, there); n != 1 || there.State().Role != Reader || there.State().Epoch != epoch {
		t.Errorf("a read on another server: %d persons, %+v", n, there.State())
	}
	eventually(t, "idle", isIdle(here))
	eventually(t, "idle", isIdle(there))
	if err := insert(there, add, "b"); err != nil {
		t.Errorf("the first write on another server: %v", err)
	}
	if s := there.State(); s.Role != Writer || s.Epoch != epoch+1 {
		t.Errorf("after its write the other server is %+v", s)
	}
	if n := persons(t, here); n != 2 || here.State().Role != Reader {
		t.Errorf("the former writer has %d persons and is %+v", n, here.State())
	}
	eventually(t, "idle", isIdle(there))
	if err := insert(there, add, "c"); err != nil {
		t.Errorf("the first write of the server that was the writer: %v", err)
	}
	if n := persons(t, here); n != 3 {
		t.Errorf("%d persons, want 3", n)
	}
	if got := there.Tenure(); got != epoch+1 {
		t.Errorf("a server that writes again after a pause, in which no other one wrote, has the tenure %d, want %d", got, epoch+1)
	}
	eventually(t, "idle", isIdle(there))
	eventually(t, "idle", isIdle(here))
	eventually(t, "the writer again", func() bool { // until it has read that the other server released the graph
		var refused *engine.Unavailable
		err := insert(here, add, "d")
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		return err == nil
	})
	if got := here.Tenure(); got == tenure {
		t.Errorf("a server that writes again after another one has the tenure %d, as before", got)
	}
}

// TestIdleOutage cuts a server off from the storage while its graph is unused. The graph must stay open,
// so that the server can answer reads.
func TestIdleOutage(t *testing.T) {
	b, _ := people(t)
	s := serveWith(t, b, "one", func(s *Storage) { s.Idle = lease / 2 })
	s.cable.cut.Store(true)
	time.Sleep(2 * lease)
	if _, err := s.Snapshot(t.Context(), engine.Target{}); err != nil {
		t.Errorf("a read during the outage: %v", err)
	}
	s.cable.cut.Store(false)
	eventually(t, "idle", isIdle(s.Graph))
	if n := s.count(t); n != 0 {
		t.Errorf("%d persons", n)
	}
}

// TestIdleMove asks a server to become the writer of a graph that it has not opened, and then lets that
// server stop while the graph is Idle on the other one.
func TestIdleMove(t *testing.T) {
	b, add := people(t)
	graphs := []string{"people"}
	one := serveLazily(t, b, "one", graphs, func(*Storage) {})
	two := serveLazily(t, b, "two", graphs, func(*Storage) {})
	here, there := one.graphs["people"], two.graphs["people"]
	if err := insert(here, add, "a"); err != nil {
		t.Fatal(err)
	}
	if err := Move(t.Context(), b, "two", Wish{Graph: "people", Epoch: here.State().Epoch}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "moved", func() bool { return there.State().Role == Writer && here.State().Role == Reader })
	three := serveLazily(t, b, "three", graphs, func(*Storage) {})
	one.stop(t)
	two.stop(t)
	if err := insert(three.graphs["people"], add, "b"); err != nil {
		t.Errorf("the first write after the writer has stopped: %v", err)
	}
	if n := persons(t, three.graphs["people"]); n != 2 {
		t.Errorf("%d persons, want 2", n)
	}
}
