package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
)

const (
	// While the disk is full, the graph checks for free space after firstRetry. It doubles the
	// time after each check, up to lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second // see above
)

// watchRoom waits for a full disk, checks it until there is free space, and requests the
// checkpoint that may have failed. It returns when ctx ends.
func watchRoom(ctx context.Context, st store.Storage, c *checkpoints) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.FullSignal():
		}
		for wait := firstRetry; st.Full(); wait = min(2*wait, lastRetry) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if st.Retry() == nil {
				c.retry()
			}
		}
	}
}

// Failure returns nil while the graph accepts writes, and the *engine.Unavailable that writes
// get otherwise. Reads continue in both cases.
//
// After a full disk, the graph itself checks whether there is free space again. After any other
// failure it must be closed and opened again: see [Options.LogFailed].
func (g *Graph) Failure() error { return g.store.Failure() }

// MustReopen reports whether the graph refuses writes until it is closed and opened again.
func (g *Graph) MustReopen() bool { return g.store.MustReopen() }
