package service

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/gq/work"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The bounds of a text in GQ, or of a schema, that a caller sends. They hold over every
// transport.
const (
	// MaxText is the most bytes that the texts of one call may have together.
	MaxText = 1 << 20

	// textMemory is how many bytes of memory the compiling, checking, linting and rendering
	// of a text takes at most for each of its first textCounted bytes; a longer text has no
	// more tokens. The first textUnasked bytes of memory are not counted: most texts need
	// no more, and then share nothing.
	textMemory  = 320
	textCounted = 512 << 10
	textUnasked = 1 << 20

	// turnAfter is how long a call keeps its turn at most after its text is compiled. It is
	// for the plan, and for a short run or a large answer; a long run must not keep others
	// from compiling.
	turnAfter = 5 * time.Second

	// smallText is the size in bytes up to which nothing waits for a turn.
	smallText = 16 << 10
)

// textLimits bound the parts of a text. A query of 1 MiB with four bytes a token passes.
var textLimits = work.Limits{Tokens: 1 << 18, Queries: 1000, Head: 1 << 14}

// Texts bounds the compiling of texts that callers send, over all graphs that have it:
// their memory, and how many of the large ones are worked on at a time, so that a
// processor is left for other calls. It is safe for concurrent use.
type Texts struct {
	memory  Memory // nil for no bound
	perCall int64  // of memory, in bytes; 0 for no bound
	turns   turns
}

// NewTexts returns bounds that take memory from the budget of all calls, and for one
// call at most perCall bytes; 0 is no bound for one call.
func NewTexts(memory Memory, perCall int64) *Texts {
	return &Texts{memory: memory, perCall: perCall, turns: turns{free: max(1, runtime.GOMAXPROCS(0)-1)}}
}

// CheckText returns a *engine.TooLarge when the texts of an argument have more bytes
// than a call may send.
func CheckText(argument string, bytes int) error {
	if bytes <= MaxText {
		return nil
	}
	return &engine.TooLarge{Resource: "bytes of " + argument, Limit: MaxText, Actual: int64(bytes)}
}

// textUse is what one call takes of Texts.
type textUse struct {
	*Texts
	actor string
	taken int64  // of memory
	leave func() // gives back the turn; nil for none
}

func (g *Graph) textsOf(actor *Actor) *textUse {
	u := &textUse{Texts: g.texts}
	if actor != nil {
		u.actor = actor.Tenant + "\x00" + actor.ID
	}
	return u
}

// admit waits for the turn of a text and takes memory for it. The caller calls done when
// the text is compiled. The memory is the call's until release, and so is the turn, but
// no longer than turnAfter.
func (u *textUse) admit(ctx context.Context, argument, text string) (done func(), err error) {
	if err := CheckText(argument, len(text)); err != nil {
		return nil, err
	}
	if u.leave != nil {
		u.leave() // of an earlier text of the call
	}
	leave, err := u.turn(ctx, len(text))
	if err != nil {
		return nil, err
	}
	u.leave = leave
	if err := u.take(argument, int64(min(len(text), textCounted))*textMemory-textUnasked); err != nil {
		leave()
		return nil, err
	}
	if len(text) <= smallText {
		return leave, nil
	}
	return func() { time.AfterFunc(turnAfter, leave) }, nil
}

// turn waits for the turn of work on so many bytes. The caller calls done after it.
func (u *textUse) turn(ctx context.Context, bytes int) (done func(), err error) {
	if bytes <= smallText {
		return func() {}, nil
	}
	if err := u.turns.wait(ctx, u.actor); err != nil {
		return nil, err
	}
	return sync.OnceFunc(u.turns.leave), nil
}

// Turn runs f, which decodes or encodes so many bytes of JSON, once the caller in the
// context has its turn: a processor is left for other callers. The error is the context's.
func (g *Graph) Turn(ctx context.Context, bytes int, f func()) error {
	done, err := g.textsOf(ActorFrom(ctx)).turn(ctx, bytes)
	if err != nil {
		return err
	}
	defer done()
	f()
	return nil
}

// take reserves memory. The error is a *engine.TooLarge, or a *engine.Busy when others
// have the memory.
func (u *textUse) take(argument string, bytes int64) error {
	if bytes <= 0 || u.memory == nil {
		return nil
	}
	limit := u.memory.Limit()
	if u.perCall > 0 {
		limit = min(limit, u.perCall)
	}
	if u.taken+bytes > limit {
		return &engine.TooLarge{Resource: "bytes of memory to compile " + argument, Limit: limit, Actual: u.taken + bytes}
	}
	if !u.memory.Take(bytes) {
		return &engine.Busy{Resource: "bytes of memory for texts and queries at once", Limit: u.memory.Limit()}
	}
	u.taken += bytes
	return nil
}

// Render runs f, which makes a text for a model from a text that was sent as an argument,
// within the bounds of a call.
func (g *Graph) Render(ctx context.Context, actor *Actor, argument, text string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.limits.Timeout, errLimit)
	defer cancel()
	u := g.textsOf(actor)
	defer u.release()
	done, err := u.admit(ctx, argument, text)
	if err != nil {
		return overdue(ctx, err)
	}
	defer done()
	return overdue(ctx, f(ctx))
}

// release gives back the turn and the memory.
func (u *textUse) release() {
	if u.leave != nil {
		u.leave()
	}
	if u.taken > 0 {
		u.memory.Give(u.taken)
		u.taken = 0
	}
}

// Compile compiles the queries of a text that was sent as an argument. The error is a
// *engine.TooLarge, a *engine.Busy, or the context's.
func Compile(ctx context.Context, env *tool.Env, argument string, s *catalog.Schema, text string) (queries []*gq.Query, faults diag.List, err error) {
	err = WithText(ctx, env, argument, text, func(limits work.Limits) (err error) {
		queries, faults, err = gq.CompileQueriesWithin(ctx, limits, s, gq.Source{Name: sourceName, Text: text})
		return err
	})
	return queries, faults, err
}

// WithText runs f, which compiles a text that was sent as an argument, once the text is
// admitted. The error is a *engine.TooLarge, a *engine.Busy, or that of f.
func WithText(ctx context.Context, env *tool.Env, argument, text string, f func(work.Limits) error) error {
	if env.Text != nil {
		done, err := env.Text(ctx, argument, text)
		if err != nil {
			return err
		}
		defer done()
	}
	err := f(textLimits)
	var many *work.TooMany
	if errors.As(err, &many) {
		return &engine.TooLarge{Resource: fmt.Sprintf("%s of %s", many.What, argument), Limit: int64(many.Limit), Actual: int64(many.Actual)}
	}
	return err
}

// turns lets a few holders in at a time. Those who wait are let in actor by actor, so
// that an actor with many calls does not keep others waiting for all of them.
type turns struct {
	mu      sync.Mutex
	free    int
	actors  []string // that wait, the next one first
	waiting map[string][]chan struct{}
}

// wait returns nil when the caller is let in, who then leaves, or the context's error.
func (t *turns) wait(ctx context.Context, actor string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	if t.waiting == nil {
		t.waiting = map[string][]chan struct{}{}
	}
	if len(t.waiting[actor]) == 0 {
		t.actors = append(t.actors, actor)
	}
	turn := make(chan struct{})
	t.waiting[actor] = append(t.waiting[actor], turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forget(actor, turn) {
		return ctx.Err()
	}
	t.next() // let in at the same time
	return ctx.Err()
}

// forget removes a waiting caller and reports whether it still waited.
// REQUIRES: t.mu is held.
func (t *turns) forget(actor string, turn chan struct{}) bool {
	list := t.waiting[actor]
	for i := range list {
		if list[i] != turn {
			continue
		}
		t.waiting[actor] = append(list[:i:i], list[i+1:]...)
		if len(t.waiting[actor]) == 0 {
			delete(t.waiting, actor)
			for j, a := range t.actors {
				if a == actor {
					t.actors = append(t.actors[:j:j], t.actors[j+1:]...)
					break
				}
			}
		}
		return true
	}
	return false
}

func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next gives a turn to the next actor, or makes it free.
// REQUIRES: t.mu is held.
func (t *turns) next() {
	if len(t.actors) == 0 {
		t.free++
		return
	}
	actor := t.actors[0]
	t.actors = t.actors[1:]
	list := t.waiting[actor]
	close(list[0])
	if len(list) == 1 {
		delete(t.waiting, actor)
		return
	}
	t.waiting[actor] = list[1:]
	t.actors = append(t.actors, actor)
}
