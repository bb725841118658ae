package parallel

import (
	"errors"
	"runtime/debug"
	"sync/atomic"
	"testing"
)

func TestRanges(t *testing.T) {
	for _, n := range []int{0, 1, 7, 1000} {
		seen := make([]atomic.Int32, n)
		var parts atomic.Int32
		got := Ranges(n, 5, 3, func(_, from, to int) {
			parts.Add(1)
			for i := from; i < to; i++ {
				seen[i].Add(1)
			}
		})
		if got != int(parts.Load()) {
			t.Errorf("%d in %d ranges, and %d calls", n, got, parts.Load())
		}
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Errorf("%d of %d is done %d times", i, n, seen[i].Load())
			}
		}
	}
}

func TestPanic(t *testing.T) {
	boom := errors.New("boom")
	var done atomic.Int32
	defer func() {
		if v := recover(); v != boom || done.Load() > 3 {
			t.Errorf("recovered %v after %d tasks", v, done.Load())
		}
	}()
	ok := func() { done.Add(1) }
	Do(ok, ok, func() { panic(boom) }, ok)
	t.Error("a panic is lost")
}

func TestFaults(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var off atomic.Int32
	task := func() {
		if was := debug.SetPanicOnFault(true); !was {
			off.Add(1)
		}
	}
	Do(task, task, task, task)
	if off.Load() > 0 {
		t.Error("a task does not panic on faults as its caller does")
	}
}
