package embedded

import (
	"math"
	"sync/atomic"
)

// inflight counts the calls in progress. A call takes one atomic addition at its beginning and
// one at its end, so that reads on many processors share no lock.
type inflight struct {
	calls atomic.Int64  // number of calls in progress, plus closedMark once close was called
	idle  chan struct{} // receives a token when the last call ends after close was called
}

// closedMark is so far below zero that no number of calls brings the sum back to zero.
const closedMark = math.MinInt64 / 2

// newInflight returns a counter without calls.
func newInflight() inflight { return inflight{idle: make(chan struct{}, 1)} }

// enter begins a call and reports whether close was not called yet. The caller must call leave
// only if enter returns true.
func (f *inflight) enter() bool {
	if f.calls.Add(1) > 0 {
		return true
	}
	f.leave()
	return false
}

// leave ends a call. The last call that ends after close was called wakes close.
func (f *inflight) leave() {
	if f.calls.Add(-1) == closedMark {
		select {
		case f.idle <- struct{}{}:
		default: // the token is there already
		}
	}
}

// close makes enter return false from now on, and waits for the calls in progress. It must be
// called only once.
func (f *inflight) close() {
	if f.calls.Add(closedMark) != closedMark {
		<-f.idle
	}
}

// shut makes `enter` return false from now on. It does not wait for calls in progress. Neither
// `close` nor `shut` may be called afterwards.
func (f *inflight) shut() { f.calls.Add(closedMark) }

// count returns the number of calls in progress.
func (f *inflight) count() int64 { return max(0, f.calls.Load()) }
