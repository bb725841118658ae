package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
)

const (
	// The graph looks again for room on a full disk after firstRetry, and then after twice
	// the time, up to lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Failure returns nil while the graph takes writes, else the *engine.Unavailable that
// they get. Reads go on either way.
//
// When the disk was full, the graph looks by itself whether there is room again. After
// every other failure it must be closed and opened again: see [Options.LogFailed].
func (g *Graph) Failure() error { return g.store.Failure() }

// MustReopen reports whether the graph takes no more writes until it is closed and opened
// again.
func (g *Graph) MustReopen() bool { return g.store.MustReopen() }

// retryRoom looks for room on a disk that was full, until there is some. Then it asks for
// the checkpoint that may have failed.
func (g *Graph) retryRoom(ctx context.Context) {
	for wait := firstRetry; g.store.Full(); wait = min(2*wait, lastRetry) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if g.store.Retry() == nil && g.logged.Load() > g.opts.CheckpointBytes {
			g.requestCheckpoint()
		}
	}
}

// watchRoom calls retryRoom whenever the disk was full, until the context ends.
func (g *Graph) watchRoom(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.store.FullSignal():
			g.retryRoom(ctx)
		}
	}
}

// closeFlush makes the checkpoint of Close. Nothing is lost when it fails: the log has
// the commits.
func (g *Graph) closeFlush() (err error) {
	defer damage.Catch(damage.Watch(), &err)
	g.checkMu.Lock()
	defer g.checkMu.Unlock()
	g.shape.Lock()
	defer g.shape.Unlock()
	return g.flush(context.Background(), false)
}
