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
