package locks

import (
	"math"
	"sync/atomic"
)

// InFlight counts the calls in progress. A call takes one atomic addition at its beginning and
// one at its end, so that reads on many processors share no lock.
type InFlight struct {
	calls atomic.Int64  // number of calls in progress, plus closedMark once close was called
	idle  chan struct{} // receives a token when the last call ends after close was called
}

// closedMark is so far below zero that no number of calls brings the sum back to zero.
const closedMark = math.MinInt64 / 2

// NewInFlight returns a counter without calls.
func NewInFlight() InFlight { return InFlight{idle: make(chan struct{}, 1)} }

// Enter begins a call and reports whether close was not called yet. The caller must call leave
// only if enter returns true.
func (f *InFlight) Enter() bool {
	if f.calls.Add(1) > 0 {
		return true
	}
	f.Leave()
	return false
}

// Leave ends a call. The last call that ends after close was called wakes close.
func (f *InFlight) Leave() {
	if f.calls.Add(-1) == closedMark {
		select {
		case f.idle <- struct{}{}:
		default: // the token is there already
		}
	}
}

// Close makes enter return false from now on, and waits for the calls in progress. It must be
// called only once.
func (f *InFlight) Close() {
	if f.calls.Add(closedMark) != closedMark {
		<-f.idle
	}
}

// Shut makes `enter` return false from now on. It does not wait for calls in progress. Neither
// `close` nor `shut` may be called afterwards.
func (f *InFlight) Shut() { f.calls.Add(closedMark) }

// Count returns the number of calls in progress.
func (f *InFlight) Count() int64 { return max(0, f.calls.Load()) }
