package logsample

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
)

func TestLines(t *testing.T) {
	var l Sampler
	start := clocktest.Start
	for _, step := range []struct {
		kind string
		at   time.Duration
		held int
		ok   bool
	}{
		{"a", 0, 0, true}, {"a", 1, 0, false}, {"b", 2, 0, true}, {"a", Interval - 1, 0, false},
		{"a", Interval, 2, true}, {"a", Interval + 1, 0, false}, {"b", 3 * Interval, 0, true}, {"a", 9 * Interval, 1, true},
	} {
		if held, ok := l.Allow(step.kind, start.Add(step.at)); held != step.held || ok != step.ok {
			t.Errorf("%s at %v: %d, %t; want %d, %t", step.kind, step.at, held, ok, step.held, step.ok)
		}
	}
}

// TestKindsAreBounded passes lines of more kinds than the sampler distinguishes. The number of
// kinds that it keeps must stay bounded.
func TestKindsAreBounded(t *testing.T) {
	var l Sampler
	now, passed := clocktest.Start, 0
	for i := range 10 * maxKinds {
		if _, ok := l.Allow(fmt.Sprint(i), now); ok {
			passed++
		}
	}
	if passed != maxKinds+1 || len(l.kinds) != maxKinds+1 {
		t.Errorf("%d lines passed, %d kinds are kept", passed, len(l.kinds))
	}
}

// TestEachLineCounts passes lines from many goroutines. Each line either passes or is
// counted.
func TestEachLineCounts(t *testing.T) {
	var l Sampler
	var wg sync.WaitGroup
	start := clocktest.Start
	var mu sync.Mutex
	sum := 0
	for i := range 8 {
		wg.Go(func() {
			for j := range 1000 {
				if held, ok := l.Allow("a", start.Add(time.Duration(i+8*j)*Interval/100)); ok {
					mu.Lock()
					sum += held + 1
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	held, _ := l.Allow("a", start.Add(10000*Interval))
	if sum += held; sum != 8000 {
		t.Errorf("%d lines are told of, want 8000", sum)
	}
}
