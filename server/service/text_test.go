package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/tool"
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

// TestTextMemory checks that compiling takes memory from the budget of all calls, takes no
// more than the limit of one call, and returns it.
func TestTextMemory(t *testing.T) {
	for _, test := range []struct {
		name          string
		text          int
		memory, call  int64
		taken         int64
		large, isBusy bool
	}{
		{name: "a short text", text: 1000, memory: 1 << 20},
		{name: "a text", text: 100_000, memory: 1 << 30, taken: 100_000*textMemory - textUnasked},
		{name: "the largest text", text: MaxText, memory: 1 << 30, taken: textCounted*textMemory - textUnasked},
		{name: "a larger text", text: MaxText + 1, memory: 1 << 40, large: true},
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
			u := &textUse{Texts: NewTexts(b, test.call)}
			done, err := u.admit(t.Context(), "query", strings.Repeat("x", test.text))
			var large *engine.TooLarge
			var busy *engine.Busy
			if errors.As(err, &large) != test.large || errors.As(err, &busy) != test.isBusy {
				t.Fatalf("%v", err)
			}
			if large != nil && (!strings.Contains(large.Resource, "query") || large.Actual <= large.Limit) {
				t.Errorf("%v", large)
			}
			if got := before - b.left.Load(); got != test.taken {
				t.Errorf("took %d bytes, wanted %d", got, test.taken)
			}
			if err == nil {
				done()
			}
			u.release()
			if b.left.Load() != before || u.turns.free == 0 {
				t.Errorf("%d bytes are left of %d, %d turns", b.left.Load(), before, u.turns.free)
			}
		})
	}
}

// TestTurns checks that large texts take turns by actor, and that small texts do not wait.
func TestTurns(t *testing.T) {
	texts := NewTexts(nil, 0)
	texts.turns.free = 1
	large := strings.Repeat("x", smallText+1)
	first := &textUse{Texts: texts, actor: "a"}
	if _, err := first.admit(t.Context(), "query", large); err != nil {
		t.Fatal(err)
	}
	small := &textUse{Texts: texts, actor: "a"}
	if _, err := small.admit(t.Context(), "query", large[1:]); err != nil {
		t.Fatal(err)
	}
	small.release()

	// Three calls of one actor wait, then one of another actor, and one that is canceled.
	order := make(chan string, 4)
	wait := func(actor string, n int) {
		u := &textUse{Texts: texts, actor: actor}
		go func() {
			if _, err := u.admit(context.Background(), "query", large); err != nil {
				t.Error(err)
			}
			order <- actor
			u.release()
		}()
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
		_, err := (&textUse{Texts: texts, actor: "c"}).admit(ctx, "query", large)
		gone <- err
	}()
	for waiting(texts) < 5 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that gave up: %v", err)
	}
	first.release()
	got := ""
	for range 4 {
		got += <-order
	}
	if got != "abaa" {
		t.Errorf("the actors had their turns as %s, wanted abaa", got)
	}
	texts.turns.mu.Lock()
	defer texts.turns.mu.Unlock()
	if texts.turns.free != 1 || len(texts.turns.waiting) != 0 || len(texts.turns.actors) != 0 {
		t.Errorf("left are %+v", &texts.turns)
	}
}

func waiting(texts *Texts) (n int) {
	texts.turns.mu.Lock()
	defer texts.turns.mu.Unlock()
	for _, list := range texts.turns.waiting {
		n += len(list)
	}
	return n
}

// TestTurnEnds checks that a long-running call gives up its slot.
func TestTurnEnds(t *testing.T) {
	texts := NewTexts(nil, 0)
	texts.turns.free = 1
	large := strings.Repeat("x", smallText+1)
	runs := &textUse{Texts: texts, actor: "a"}
	done, err := runs.admit(t.Context(), "query", large)
	if err != nil {
		t.Fatal(err)
	}
	done()
	ctx, cancel := context.WithTimeout(t.Context(), 30*turnAfter)
	defer cancel()
	next := &textUse{Texts: texts, actor: "b"}
	if _, err := next.admit(ctx, "query", large); err != nil {
		t.Fatal(err)
	}
	next.release()
	runs.release()
	if texts.turns.free != 1 {
		t.Errorf("%d turns are free, wanted 1", texts.turns.free)
	}
}

// TestCompileEnds checks that a call stops compiling at its deadline and reports it.
func TestCompileEnds(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: check.ExampleSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	text := "query q() { match { $p: Person " + strings.Repeat("$p.age = 1 ", 40_000) + "} return { $p } }"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	start := clock.Now()
	_, _, err := Compile(ctx, &tool.Env{}, "query", s, text)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %v: %v", clock.Since(start), err)
	}
	// An error about too many parts names the argument.
	_, _, err = Compile(t.Context(), &tool.Env{}, "the_text", s, strings.Repeat("query q() {} ", textLimits.Queries+1))
	if want := fmt.Sprintf("queries of the_text: %d is more than the limit of %d", textLimits.Queries+1, textLimits.Queries); err == nil || err.Error() != want {
		t.Errorf("%v, wanted %s", err, want)
	}
}

// TestValueTooLarge checks, for both transports, that an answer without rows has at most
// the permitted number of bytes, unless it is the answer of a write.
func TestValueTooLarge(t *testing.T) {
	for _, test := range []struct {
		name string
		e    *encoder
	}{
		{"max_bytes", &encoder{enc: Encoding{MaxBytes: 100}}},
		{"answers over REST", &encoder{enc: Encoding{Parts: true}, parts: parts{memory: newTextBudget(1000), most: 100}}},
	} {
		var large *Oversize
		err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 100), Less: "ask for one"})
		if !errors.As(err, &large) || err.Error() != "the answer has 102 bytes, wanted at most 100; ask for one" || len(test.e.buf) > 0 {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 98)}); err != nil || len(test.e.buf) != 100 {
			t.Errorf("%s: %d bytes, %v", test.name, len(test.e.buf), err)
		}
		test.e.buf = nil
		if err := test.e.answer(&tool.Outcome{Value: strings.Repeat("x", 100), Wrote: &tool.Written{}}); err != nil {
			t.Errorf("%s: a write: %v", test.name, err)
		}
	}
}
