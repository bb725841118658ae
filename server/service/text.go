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

// Limits on GQ and schema texts that a caller sends. They are the same for all transports.
const (
	// MaxText is the maximum total size in bytes of the texts of one call.
	MaxText = 1 << 20

	// textMemory is the maximum number of bytes of memory per byte of text that compiling,
	// checking, linting and rendering take. Only the first textCounted bytes of a text
	// count, because a longer text has no more tokens. The first textUnasked bytes of
	// memory are not reserved, because most texts need no more and then do not touch the
	// shared budget.
	textMemory  = 320
	textCounted = 512 << 10
	textUnasked = 1 << 20

	// turnAfter is the maximum time that a call keeps its compile slot after its text is
	// compiled. It covers planning, and a short run or a large answer. A long run must not
	// keep others from compiling.
	turnAfter = 5 * time.Second

	// smallText is the size in bytes up to which a text is compiled without a slot.
	smallText = 16 << 10
)

// textLimits bounds the parts of a text. It admits a query of 1 MiB with four bytes per
// token.
var textLimits = work.Limits{Tokens: 1 << 18, Queries: 1000, Head: 1 << 14}

// Texts limits the compilation of texts that callers send, for all graphs that share it. It
// bounds the memory, and the number of large texts compiled at the same time, so that one
// processor stays free for other calls. It is safe for concurrent use.
type Texts struct {
	memory  Memory // nil for no limit
	perCall int64  // limit on memory in bytes; 0 for none
	turns   turns
}

// NewTexts returns limits that take memory from the given budget, with at most perCall
// bytes for one call. If perCall is 0, a call has no limit of its own.
func NewTexts(memory Memory, perCall int64) *Texts {
	return &Texts{memory: memory, perCall: perCall, turns: turns{free: max(1, runtime.GOMAXPROCS(0)-1)}}
}

// CheckText returns an *engine.TooLarge if the texts of an argument have more bytes than a
// call may send.
func CheckText(argument string, bytes int) error {
	if bytes <= MaxText {
		return nil
	}
	return &engine.TooLarge{Resource: "bytes of " + argument, Limit: MaxText, Actual: int64(bytes)}
}

// textUse is the memory and the compile slot that one call holds.
type textUse struct {
	*Texts
	actor string
	taken int64  // bytes of memory
	leave func() // frees the slot; nil if the call holds none
}

func (g *Graph) textsOf(actor *Actor) *textUse {
	u := &textUse{Texts: g.texts}
	if actor != nil {
		u.actor = actor.Tenant + "\x00" + actor.ID
	}
	return u
}

// admit waits for a compile slot and reserves memory for a text. The caller calls done
// after compiling. The call keeps the memory until release. It keeps the slot until release
// too, but at most turnAfter longer than the compilation.
func (u *textUse) admit(ctx context.Context, argument, text string) (done func(), err error) {
	if err := CheckText(argument, len(text)); err != nil {
		return nil, err
	}
	if u.leave != nil {
		u.leave() // from an earlier text of the call
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

// turn waits for a slot for work on the given number of bytes. The caller calls done
// afterwards.
func (u *textUse) turn(ctx context.Context, bytes int) (done func(), err error) {
	if bytes <= smallText {
		return func() {}, nil
	}
	if err := u.turns.wait(ctx, u.actor); err != nil {
		return nil, err
	}
	return sync.OnceFunc(u.turns.leave), nil
}

// Turn waits for a slot for the actor in the context and then runs f, which decodes or
// encodes the given number of bytes of JSON. The slots leave one processor free for other
// callers. The error is the context's.
func (g *Graph) Turn(ctx context.Context, bytes int, f func()) error {
	done, err := g.textsOf(ActorFrom(ctx)).turn(ctx, bytes)
	if err != nil {
		return err
	}
	defer done()
	f()
	return nil
}

// take reserves memory. The error is an *engine.TooLarge, or an *engine.Busy if other calls
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

// Render runs f within the limits of a call. f turns a text that was sent as an argument
// into a text for a model.
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

// release frees the slot and the memory.
func (u *textUse) release() {
	if u.leave != nil {
		u.leave()
	}
	if u.taken > 0 {
		u.memory.Give(u.taken)
		u.taken = 0
	}
}

// Compile compiles the queries of a text that was sent as an argument. The error is an
// *engine.TooLarge, an *engine.Busy, or the context's.
func Compile(ctx context.Context, env *tool.Env, argument string, s *catalog.Schema, text string) (queries []*gq.Query, faults diag.List, err error) {
	err = WithText(ctx, env, argument, text, func(limits work.Limits) (err error) {
		queries, faults, err = gq.CompileQueriesWithin(ctx, limits, s, gq.Source{Name: sourceName, Text: text})
		return err
	})
	return queries, faults, err
}

// WithText admits a text that was sent as an argument and then runs f, which compiles it.
// The error is an *engine.TooLarge, an *engine.Busy, or that of f.
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

// turns is a semaphore with a few slots. Waiting calls get a slot in rotation by actor, so
// that an actor with many calls does not hold up the others.
type turns struct {
	mu      sync.Mutex // guards the fields below
	free    int
	actors  []string // actors with waiting calls, the next one first
	waiting map[string][]chan struct{}
}

// wait waits for a slot. If it returns nil, the caller must call leave; otherwise it
// returns the context's error.
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
	t.next() // the slot was given at the same time
	return ctx.Err()
}

// forget removes a waiting call and reports whether it was still waiting.
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

// next gives the slot to the next actor, or marks it free.
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
