package embedded

import (
	"context"
	"sync/atomic"
)

// turn is a mutex whose wait ends with a context. It is not fair: a free turn goes to the first
// caller that asks, even before callers that wait. Handing it to a waiting goroutine would
// leave it idle until that goroutine wakes up, which takes longer than most callers hold it.
type turn struct {
	held atomic.Bool
	free chan struct{} // holds a token when a waiting caller may try
}

func newTurn() turn { return turn{free: make(chan struct{}, 1)} }

// take waits for the turn. The error is that of ctx.
func (t *turn) take(ctx context.Context) error {
	for !t.held.CompareAndSwap(false, true) {
		select {
		case <-t.free:
		case <-ctx.Done():
			// A token that was sent for this caller wakes another one.
			return ctx.Err()
		}
	}
	return nil
}

// give releases the turn and wakes one waiting caller.
func (t *turn) give() {
	t.held.Store(false)
	select {
	case t.free <- struct{}{}:
	default:
	}
}
