package embedded

import (
	"context"
	"sync/atomic"
)

// ctxMutex is a mutex. A caller stops waiting for it when the caller's context ends. The mutex is
// not fair: the first caller that tries to lock a free mutex gets it, even before callers that
// wait. If the mutex were handed to a waiting goroutine instead, it would be idle until the
// goroutine wakes up. That takes longer than most callers hold the mutex.
type ctxMutex struct {
	held atomic.Bool   // whether the mutex is locked
	free chan struct{} // contains a token when a waiting caller may try to lock
}

// newCtxMutex returns an unlocked mutex.
func newCtxMutex() ctxMutex { return ctxMutex{free: make(chan struct{}, 1)} }

// lock waits for the mutex and locks it. The only possible error is that of ctx.
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
