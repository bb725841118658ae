package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
)

const (
	// While the disk is full, the graph checks for free space after firstRetry. It doubles the
	// time after each check, up to lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Failure returns nil while the graph accepts writes, and the *engine.Unavailable that writes
// get otherwise. Reads continue in both cases.
//
// After a full disk, the graph itself checks whether there is free space again. After any other
// failure it must be closed and opened again: see [Options.LogFailed].
func (g *Graph) Failure() error { return g.store.Failure() }

// MustReopen reports whether the graph refuses writes until it is closed and opened again.
func (g *Graph) MustReopen() bool { return g.store.MustReopen() }

// retryRoom checks the full disk for free space until there is some. Then it requests the
// checkpoint that may have failed.
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

// watchRoom calls retryRoom each time the disk is full, until ctx ends.
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

// closeFlush makes the checkpoint of Close. If it fails, no data is lost, because the log has
// the commits.
func (g *Graph) closeFlush() (err error) {
	defer damage.Catch(damage.Watch(), &err)
	g.checkMu.Lock()
	defer g.checkMu.Unlock()
	g.shape.Lock()
	defer g.shape.Unlock()
	return g.flush(context.Background(), false)
}
