package reopen

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schema = "node Person {\n  name: String @key\n}\n"

const queries = `query add($name: String) {
  insert Person { name: $name }
}
`

// disk is a simulated disk. Its mode determines which operations fail.
type disk struct {
	fs.FS
	mode atomic.Int32
}

const (
	good   = iota
	noSync // syncs of the log fail
	noOpen // syncs of the log fail, and nothing can be opened for writing
	noRoom // writes of the log fail for lack of space after a part was written
)

func newDisk() *disk {
	d := &disk{}
	d.FS = faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		mode := d.mode.Load()
		switch {
		case (mode == noSync || mode == noOpen) && op.Kind == faultfs.OpSync:
			return &faultfs.Fault{Err: syscall.EIO, Lose: true}
		case mode == noOpen && op.Kind == faultfs.OpOpenWrite:
			return &faultfs.Fault{Err: syscall.EIO}
		case mode == noRoom && op.Kind == faultfs.OpWrite && op.Len > 8:
			// Only one write fails: the engine must be able to write the zeros that clear the
			// partial write.
			if d.mode.CompareAndSwap(noRoom, good) {
				return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len - 8}
			}
		}
		return nil
	})
	return d
}

// people is a graph on a failing disk, kept open by this package.
type people struct {
	t     *testing.T
	disk  *disk
	graph *Graph
	add   *plan.Query
	acked []string
	made  int
}

func newPeople(t *testing.T) *people {
	t.Helper()
	c, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	qs, faults := gq.CompileQueries(c, gq.Source{Name: "queries.gq", Text: queries})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	p := &people{t: t, disk: newDisk(), add: qs[0].Plan}
	g, err := embedded.Create(t.Context(), p.disk, "graph", schema, c, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	p.graph, err = New(t.Context(), Options{
		Open: func(ctx context.Context, failed func(error)) (engine.Graph, error) {
			g, err := embedded.Open(ctx, p.disk, "graph", embedded.Options{LogFailed: failed})
			if err != nil {
				return nil, err
			}
			return g, nil
		},
		wait: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.graph.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *people) insert() error {
	p.made++
	name := fmt.Sprint("p", p.made)
	_, err := p.graph.Mutate(context.Background(), p.add, engine.Args{value.OfString(name)}, engine.WriteOptions{})
	if err == nil {
		p.acked = append(p.acked, name)
	}
	return err
}

func (p *people) count() int64 {
	p.t.Helper()
	s, err := p.graph.Snapshot(context.Background(), engine.Target{})
	if err != nil {
		p.t.Fatal(err)
	}
	return s.Nodes[0].Count
}

// heals inserts until a write succeeds. Until then every error must be an *engine.Unavailable.
func (p *people) heals() {
	p.t.Helper()
	for range 1000 {
		err := p.insert()
		if err == nil {
			return
		}
		var gone *engine.Unavailable
		if !errors.As(err, &gone) || !engine.IsRetryable(err) {
			p.t.Fatalf("%v (%T), want a retryable *engine.Unavailable", err, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatal("10 seconds later writes are still refused")
}

// TestFailedSync makes syncs fail and, in one case, the later opens too. The graph must report the
// failure, and must accept writes again when the disk works. Of the writes that were not
// acknowledged, only the one with an unknown outcome may be in the graph.
func TestFailedSync(t *testing.T) {
	for name, mode := range map[string]int32{"the sync fails": noSync, "opening fails too": noOpen} {
		t.Run(name, func(t *testing.T) {
			p := newPeople(t)
			for range 5 {
				if err := p.insert(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.graph.Failure(); err != nil {
				t.Errorf("a sound graph says %v", err)
			}
			p.disk.mode.Store(mode)
			var unknown *engine.Indeterminate
			if err := p.insert(); !errors.As(err, &unknown) {
				t.Fatalf("%v, want *engine.Indeterminate", err)
			}
			for range 20 {
				var gone *engine.Unavailable
				if err := p.insert(); !errors.As(err, &gone) || gone.RetryAfter == 0 {
					t.Fatalf("%v, want *engine.Unavailable with a time to wait", err)
				}
				if err := p.graph.Failure(); !errors.As(err, &gone) {
					t.Fatalf("the graph says %v, want *engine.Unavailable", err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			p.disk.mode.Store(good)
			p.heals()
			if err := p.graph.Failure(); err != nil {
				t.Errorf("a healed graph says %v", err)
			}
			if n := p.count(); n != int64(len(p.acked)) && n != int64(len(p.acked))+1 {
				t.Errorf("%d persons, want the %d that were acknowledged, and maybe one more", n, len(p.acked))
			}
			if err := p.graph.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRefusedWrite makes the disk refuse the end of a log write for lack of space. The engine
// clears the partial write. So the error must say that the write was not made, and the write must
// never appear.
func TestRefusedWrite(t *testing.T) {
	p := newPeople(t)
	if err := p.insert(); err != nil {
		t.Fatal(err)
	}
	p.disk.mode.Store(noRoom)
	var gone *engine.Unavailable
	if err := p.insert(); !errors.As(err, &gone) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v (%T), want *engine.Unavailable for want of space", err, err)
	}
	p.heals()
	if n := p.count(); n != int64(len(p.acked)) {
		t.Errorf("%d persons, want the %d that were acknowledged", n, len(p.acked))
	}
}

// TestCloseDuringFailure closes a graph that cannot be opened again. Close must succeed and nothing
// may be lost.
func TestCloseDuringFailure(t *testing.T) {
	p := newPeople(t)
	if err := p.insert(); err != nil {
		t.Fatal(err)
	}
	p.disk.mode.Store(noOpen)
	if err := p.insert(); err == nil {
		t.Fatal("a write whose sync fails succeeds")
	}
	time.Sleep(50 * time.Millisecond)
	if err := p.graph.Close(); err != nil {
		t.Error(err)
	}
	p.disk.mode.Store(good)
	g, err := embedded.Open(t.Context(), p.disk, filepath.Clean("graph"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if s, err := g.Snapshot(t.Context(), engine.Target{}); err != nil || s.Nodes[0].Count < 1 {
		t.Errorf("%+v, %v; want the person that was acknowledged", s, err)
	}
}
