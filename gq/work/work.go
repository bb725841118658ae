// Package work counts the steps of compiling a text, so that the work ends soon after
// its context does, and refuses a text that has more parts than it may have.
package work

import (
	"context"
	"fmt"
	"runtime"
)

// Limits bound the parts of a text. A zero field is no limit.
type Limits struct {
	Tokens  int // of the text
	Queries int // of the text
	Head    int // tokens of a query before its body, and of the declaration of a type
}

// TooMany says that a text has more parts of a kind than it may have.
type TooMany struct {
	What          string // such as tokens
	Limit, Actual int    // Actual may be where counting ended
}

func (e *TooMany) Error() string {
	return fmt.Sprintf("the text has at least %d %s, wanted at most %d", e.Actual, e.What, e.Limit)
}

// Meter counts the steps of one goroutine. The nil Meter neither counts nor limits.
//
// A Meter ends the work by a panic, as go/parser does, because the phases recurse: the
// function that makes the Meter defers [Catch], which turns the panic into an error.
type Meter struct {
	ctx    context.Context
	limits Limits
	left   int // steps until the Meter looks at ctx
}

// interval is how many steps lie between two looks at the context. A step takes less
// than 10 µs, so that an interval takes a few milliseconds at most.
const interval = 256

// New returns a Meter for work that ctx and the limits bound.
func New(ctx context.Context, limits Limits) *Meter {
	return &Meter{ctx: ctx, limits: limits}
}

// Step counts n steps, and now and then lets other goroutines run. It panics for Catch
// when the context has ended.
func (m *Meter) Step(n int) {
	if m == nil {
		return
	}
	if m.left -= n; m.left > 0 {
		return
	}
	m.left = interval
	if err := m.ctx.Err(); err != nil {
		panic(ended{err})
	}
	// The scheduler would let a short call wait for 10 ms behind this one.
	runtime.Gosched()
}

// Tokens panics for Catch when a text has more than the allowed number of tokens.
func (m *Meter) Tokens(n int) { m.atMost("tokens", n, m.Limits().Tokens) }

// Queries panics for Catch when a text has more than the allowed number of queries.
func (m *Meter) Queries(n int) { m.atMost("queries", n, m.Limits().Queries) }

// Head panics for Catch when the head of a query, or a type, has too many tokens.
func (m *Meter) Head(n int) {
	m.atMost("tokens in the head of a query or in a type", n, m.Limits().Head)
}

// Limits returns what the Meter allows; the nil Meter allows everything.
func (m *Meter) Limits() Limits {
	if m == nil {
		return Limits{}
	}
	return m.limits
}

func (m *Meter) atMost(what string, n, limit int) {
	if limit > 0 && n > limit {
		panic(ended{&TooMany{What: what, Limit: limit, Actual: n}})
	}
}

// ended carries an error from a Meter to Catch.
type ended struct{ err error }

// Catch stores the error with which a Meter ended the work. It must be deferred itself:
//
//	defer work.Catch(&err)
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case ended:
		*err = p.err
	default:
		panic(p)
	}
}
