package embedded

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestAsOfAwaits reads as of an instant after a commit that is still in flight. The read must wait for that
// commit, and a read as of an instant before it must not.
func TestAsOfAwaits(t *testing.T) {
	var held atomic.Bool
	released := make(chan struct{})
	fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if op.Kind == faultfs.OpSync && held.Load() {
			<-released
		}
		return nil
	})
	g := create(t, fsys, Options{Now: testClock})
	ctx := t.Context()
	first := g.branches.main.head.Load().snap.Commit
	held.Store(true)
	loaded := make(chan error, 1)
	go func() { loaded <- loadText(g, engine.Append, `{"type":"Person","data":{"name":"ann"}}`) }()
	deadline := clock.Now().Add(20 * time.Second)
	for g.branches.main.latest() == first.ID {
		if clock.Now().After(deadline) {
			t.Fatal("the load gets no place in the log")
		}
		time.Sleep(time.Millisecond)
	}
	second, _, _ := g.history.Get(g.branches.main.latest())
	if got, err := g.Snapshot(ctx, engine.Target{AsOf: second.Time.Add(-time.Microsecond)}); err != nil || got.Commit.ID != first.ID {
		t.Errorf("as of an instant before the commit in flight: %+v, %v", got, err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if got, err := g.Snapshot(short, engine.Target{AsOf: second.Time}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a commit in flight is not awaited: %+v, %v", got, err)
	}
	close(released)
	if got, err := g.Snapshot(ctx, engine.Target{AsOf: second.Time}); err != nil || got.Commit.ID != second.ID || got.Nodes[0].Count != 1 {
		t.Errorf("as of the commit: %+v, %v", got, err)
	}
	if err := <-loaded; err != nil {
		t.Error(err)
	}
}
