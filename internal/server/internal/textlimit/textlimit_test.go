package textlimit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// textBudget is a Memory that records its use.
type textBudget struct {
	limit, most int64
	left        atomic.Int64
}

func newTextBudget(bytes int64) *textBudget {
	b := &textBudget{limit: bytes, most: bytes}
	b.left.Store(bytes)
	return b
}

func (b *textBudget) Take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		b.most = min(b.most, b.left.Load())
		return true
	}
	b.left.Add(n)
	return false
}

func (b *textBudget) Give(n int64) { b.left.Add(n) }
func (b *textBudget) Limit() int64 { return b.limit }

// TestTextMemory checks that compiling takes memory from the budget of all calls, and returns it.
// One call must not take more than its limit.
func TestTextMemory(t *testing.T) {
	for _, test := range []struct {
		name          string
		text          int
		memory, call  int64
		taken         int64
		large, isBusy bool
	}{
		{name: "a short text", text: 1000, memory: 1 << 20},
		{name: "a text", text: 100_000, memory: 1 << 30, taken: 100_000*textMemory - textUnreserved},
		{name: "the largest text", text: Max, memory: 1 << 30, taken: textCounted*textMemory - textUnreserved},
		{name: "a larger text", text: Max + 1, memory: 1 << 40, large: true},
		{name: "more than a call may have", text: 100_000, memory: 1 << 30, call: 1 << 20, large: true},
		{name: "more than there is", text: 100_000, memory: 1 << 20, large: true},
		{name: "more than others leave", text: 100_000, memory: 100_000 * textMemory, isBusy: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newTextBudget(test.memory)
			if test.isBusy {
				b.Take(10_000_000)
			}
			before := b.left.Load()
			u := &Use{Limiter: New(b, test.call)}
			done, err := u.Admit(t.Context(), "query", strings.Repeat("x", test.text))
			var large *engine.TooLarge
			var busy *engine.Busy
			if errors.As(err, &large) != test.large || errors.As(err, &busy) != test.isBusy {
				t.Fatalf("%v", err)
			}
			if large != nil && (!strings.Contains(large.Resource, "query") || large.Actual <= large.Limit) {
				t.Errorf("%v", large)
			}
			if got := before - b.left.Load(); got != test.taken {
				t.Errorf("took %d bytes, expected %d", got, test.taken)
			}
			if err == nil {
				done()
			}
			u.Release()
			if b.left.Load() != before || u.slots.free == 0 {
				t.Errorf("%d bytes are left of %d, %d slots", b.left.Load(), before, u.slots.free)
			}
		})
	}
}

// TestTurns checks that calls with large texts get slots in rotation by actor, and that small texts
// do not wait.
func TestTurns(t *testing.T) {
	texts := New(nil, 0)
	texts.slots.free = 1
	large := strings.Repeat("x", smallText+1)
	first := &Use{Limiter: texts, caller: "a"}
	if _, err := first.Admit(t.Context(), "query", large); err != nil {
		t.Fatal(err)
	}
	small := &Use{Limiter: texts, caller: "a"}
	if _, err := small.Admit(t.Context(), "query", large[1:]); err != nil {
		t.Fatal(err)
	}
	small.Release()

	// Three calls of one actor wait, then one of another actor, and one that is canceled.
	order := make(chan string, 4)
	var calls sync.WaitGroup
	wait := func(actor string, n int) {
		u := &Use{Limiter: texts, caller: actor}
		calls.Go(func() {
			if _, err := u.Admit(context.Background(), "query", large); err != nil {
				t.Error(err)
			}
			order <- actor
			u.Release()
		})
		for waiting(texts) < n {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range 3 {
		wait("a", i+1)
	}
	wait("b", 4)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := (&Use{Limiter: texts, caller: "c"}).Admit(ctx, "query", large)
		gone <- err
	}()
	for waiting(texts) < 5 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that gave up: %v", err)
	}
	first.Release()
	got := ""
	for range 4 {
		got += <-order
	}
	if got != "abaa" {
		t.Errorf("the actors had their slots as %s, expected abaa", got)
	}
	calls.Wait() // the last call releases its slot after it is counted
	texts.slots.mu.Lock()
	defer texts.slots.mu.Unlock()
	if texts.slots.free != 1 || len(texts.slots.waiting) != 0 || len(texts.slots.actors) != 0 {
		t.Errorf("left are %+v", &texts.slots)
	}
}

func waiting(texts *Limiter) (n int) {
	texts.slots.mu.Lock()
	defer texts.slots.mu.Unlock()
	for _, list := range texts.slots.waiting {
		n += len(list)
	}
	return n
}

// TestTurnEnds checks that a long-running call gives up its slot.
func TestTurnEnds(t *testing.T) {
	texts := New(nil, 0)
	texts.slots.free = 1
	large := strings.Repeat("x", smallText+1)
	runs := &Use{Limiter: texts, caller: "a"}
	done, err := runs.Admit(t.Context(), "query", large)
	if err != nil {
		t.Fatal(err)
	}
	done()
	ctx, cancel := context.WithTimeout(t.Context(), 30*maxSlotHold)
	defer cancel()
	next := &Use{Limiter: texts, caller: "b"}
	if _, err := next.Admit(ctx, "query", large); err != nil {
		t.Fatal(err)
	}
	next.Release()
	runs.Release()
	if texts.slots.free != 1 {
		t.Errorf("%d slots are free, expected 1", texts.slots.free)
	}
}
