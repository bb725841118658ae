package embedded

import (
	"math"
	"sync/atomic"
)

// turnstile counts the calls in progress. A call takes one atomic addition at its beginning and
// one at its end, so that reads on many processors share no lock.
type turnstile struct {
	calls atomic.Int64  // number of calls in progress, plus shut once close was called
	idle  chan struct{} // receives a token when the last call ends after close was called
}

// shut is so far below zero that no number of calls brings the sum back to zero.
const shut = math.MinInt64 / 2

func newTurnstile() turnstile { return turnstile{idle: make(chan struct{}, 1)} }

// enter begins a call and reports whether the turnstile is open. The caller must call leave
// only if it is.
func (t *turnstile) enter() bool {
	if t.calls.Add(1) > 0 {
		return true
	}
	t.leave()
	return false
}

func (t *turnstile) leave() {
	if t.calls.Add(-1) == shut {
		select {
		case t.idle <- struct{}{}:
		default: // the token is there already
		}
	}
}

// close closes the turnstile for good and waits for the calls in progress. It must be called
// only once.
func (t *turnstile) close() {
	if t.calls.Add(shut) != shut {
		<-t.idle
	}
}
