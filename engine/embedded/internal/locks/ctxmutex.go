package locks

import (
	"context"
	"sync/atomic"
)

// Mutex is a mutex. A caller stops waiting for it when the caller's context ends. The mutex is
// not fair: the first caller that tries to lock a free mutex gets it, even before callers that
// wait. If the mutex were handed to a waiting goroutine instead, it would be idle until the
// goroutine wakes up. That takes longer than most callers hold the mutex.
type Mutex struct {
	held atomic.Bool   // whether the mutex is locked
	free chan struct{} // contains a token when a waiting caller may try to lock
}

// NewMutex returns an unlocked mutex.
func NewMutex() Mutex { return Mutex{free: make(chan struct{}, 1)} }

// Lock waits for the mutex and locks it. The only possible error is that of ctx.
func (m *Mutex) Lock(ctx context.Context) error {
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

// Unlock releases the mutex and wakes one waiting caller.
func (m *Mutex) Unlock() {
	m.held.Store(false)
	select {
	case m.free <- struct{}{}:
	default:
	}
}
