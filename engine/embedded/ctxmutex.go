package embedded

import (
	"context"
	"sync/atomic"
)

// ctxMutex is a mutex whose wait ends with a context. It is not fair: a free mutex goes to the
// first caller that asks, even before callers that wait. Handing it to a waiting goroutine would
// leave it idle until that goroutine wakes up, which takes longer than most callers hold it.
type ctxMutex struct {
	held atomic.Bool   // whether the mutex is locked
	free chan struct{} // contains a token when a waiting caller may try to lock
}

func newCtxMutex() ctxMutex { return ctxMutex{free: make(chan struct{}, 1)} }

// lock waits for the mutex. The error is that of ctx.
func (m *ctxMutex) lock(ctx context.Context) error {
	for !m.held.CompareAndSwap(false, true) {
		select {
		case <-m.free:
		case <-ctx.Done():
			// A token that was sent for this caller wakes another one.
			return ctx.Err()
		}
	}
	return nil
}

// unlock releases the mutex and wakes one waiting caller.
func (m *ctxMutex) unlock() {
	m.held.Store(false)
	select {
	case m.free <- struct{}{}:
	default:
	}
}
