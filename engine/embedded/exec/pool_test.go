package exec

import (
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestPool spends from two runs that share a pool: the second is refused what the first
// has, and gets it when the first has ended.
func TestPool(t *testing.T) {
	pool := NewPool(4 * share)
	program := &Program{}
	begin := func() *state {
		st := newState(program)
		st.begin(t.Context(), nil, nil, Options{Pool: pool})
		return st
	}
	first, second := begin(), begin()
	if err := first.spend(share); err != nil || pool.taken.Load() != 0 {
		t.Errorf("the first share is free: %v, %d taken", err, pool.taken.Load())
	}
	if err := first.spend(3 * share); err != nil {
		t.Errorf("within the pool: %v", err)
	}
	var busy *engine.Busy
	if err := second.spend(3 * share); !errors.As(err, &busy) || !busy.Retryable() || busy.Limit != 4*share {
		t.Errorf("beside the first: %v", err)
	}
	first.end()
	second.end()
	if taken := pool.taken.Load(); taken != 0 {
		t.Errorf("after the end %d bytes are taken", taken)
	}
	third := begin()
	if err := third.spend(4*share + 1); err != nil {
		t.Errorf("after the others: %v", err)
	}
	third.end()
	if taken := pool.taken.Load(); taken != 0 {
		t.Errorf("at the end %d bytes are taken", taken)
	}
}
