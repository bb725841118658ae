package embedded

import (
	"context"
	"sync/atomic"
)

// turn is a lock whose wait ends with a context. A free turn goes to whoever asks
// first, even before those that wait: to hand it to one that must be woken would leave
// it idle for as long as that takes, which is longer than most hold it.
type turn struct {
	held atomic.Bool
	free chan struct{} // holds a token when one that waits may try
}

func newTurn() turn { return turn{free: make(chan struct{}, 1)} }

// take waits for the turn. The error is the context's.
func (t *turn) take(ctx context.Context) error {
	for !t.held.CompareAndSwap(false, true) {
		select {
		case <-t.free:
		case <-ctx.Done():
			// The token that was meant for this one goes to another.
			return ctx.Err()
		}
	}
	return nil
}

// give gives the turn back.
func (t *turn) give() {
	t.held.Store(false)
	select {
	case t.free <- struct{}{}:
	default:
	}
}
