package work_test

import (
	"context"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

func run(m *work.Meter, f func()) (err error) {
	defer work.Catch(&err)
	f()
	return nil
}

func TestStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := work.New(ctx, work.Limits{})
	steps := 0
	err := run(m, func() {
		for ; steps < 100_000; steps++ {
			if steps == 10_000 {
				cancel()
			}
			m.Step(1)
		}
	})
	if !errors.Is(err, context.Canceled) || steps > 10_000+1000 {
		t.Errorf("after %d steps: %v", steps, err)
	}
}

func TestLimits(t *testing.T) {
	m := work.New(t.Context(), work.Limits{Tokens: 2, Queries: 3, Head: 4})
	for _, test := range []struct {
		count func(int)
		limit int
	}{{m.Tokens, 2}, {m.Queries, 3}, {m.Head, 4}} {
		if err := run(m, func() { test.count(test.limit) }); err != nil {
			t.Error(err)
		}
		var many *work.TooMany
		if err := run(m, func() { test.count(test.limit + 1) }); !errors.As(err, &many) || many.Limit != test.limit || many.Actual != test.limit+1 {
			t.Errorf("%d above %d: %v", test.limit+1, test.limit, err)
		}
	}
}

func TestNone(t *testing.T) {
	var m *work.Meter
	if err := run(m, func() { m.Step(1 << 20); m.Tokens(1 << 30); m.Queries(1 << 30); m.Head(1 << 30) }); err != nil {
		t.Error(err)
	}
}

// TestOtherPanics checks that Catch does not stop a panic that no Meter caused.
func TestOtherPanics(t *testing.T) {
	defer func() {
		if recover() != "mine" {
			t.Error("the panic was lost")
		}
	}()
	_ = run(nil, func() { panic("mine") })
}
