package embedded

import (
	"math"
	"sync/atomic"
)

// turnstile counts the calls under way: a call takes one atomic addition to begin and one
// to end, so that reads on many processors share no lock.
type turnstile struct {
	calls atomic.Int64  // under way, and shut beside them once it is shut
	idle  chan struct{} // is told when the last call ends after that
}

// shut is far below zero, however many calls are under way.
const shut = math.MinInt64 / 2

func newTurnstile() turnstile { return turnstile{idle: make(chan struct{}, 1)} }

// enter begins a call and reports whether it is open; only then leave ends it.
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
		default: // it was told
		}
	}
}

// close shuts it for good and waits for the calls under way. It is called once.
func (t *turnstile) close() {
	if t.calls.Add(shut) != shut {
		<-t.idle
	}
}
