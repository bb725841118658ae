// Package work counts the steps of compiling a text. It ends the work soon after its context
// ends and refuses a text that has more parts than the limits allow.
package work

import (
	"context"
	"fmt"
	"runtime"
)

// Limits bounds the parts of a text. A zero field means no limit.
type Limits struct {
	Tokens  int // in the text
	Queries int // in the text
	Head    int // tokens in a query before its body, or in the declaration of a type
}

// TooMany is the error for a text that has more parts of one kind than the limit for that kind
// allows.
type TooMany struct {
	What          string // the kind of part, such as tokens
	Limit, Actual int    // Actual may be smaller than the real number, because counting ends early
}

func (e *TooMany) Error() string {
	return fmt.Sprintf("the text has at least %d %s; the limit is %d", e.Actual, e.What, e.Limit)
}

// Meter counts the steps of one goroutine. It is not safe for concurrent use. A nil Meter
// neither counts nor limits.
//
// A Meter ends the work by a panic, as go/parser does, because the phases are recursive. The
// function that makes the Meter must defer [Catch], which turns the panic into an error.
type Meter struct {
	ctx    context.Context // ends the work when it ends
	limits Limits
	left   int // steps until the next check of ctx
}

// interval is the number of steps between two checks of the context. A step takes less than 10
// µs, so an interval takes at most a few milliseconds.
const interval = 256

// New returns a Meter that bounds work by ctx and the limits.
func New(ctx context.Context, limits Limits) *Meter {
	return &Meter{ctx: ctx, limits: limits}
}

// Step counts n steps. Once in every interval it checks the context and lets other goroutines
// run. If the context has ended, it panics with a value that Catch recovers.
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
	// Without this call, the scheduler could let a short task wait for 10 ms.
	runtime.Gosched()
}

// Tokens panics, with a value that Catch recovers, if n is more than the allowed number of tokens.
func (m *Meter) Tokens(n int) { m.atMost("tokens", n, m.Limits().Tokens) }

// Queries panics, with a value that Catch recovers, if n is more than the allowed number of
// queries.
func (m *Meter) Queries(n int) { m.atMost("queries", n, m.Limits().Queries) }

// Head panics, with a value that Catch recovers, if n is more than the allowed number of tokens in
// the head of a query, or in a type.
func (m *Meter) Head(n int) {
	m.atMost("tokens in the head of a query or in a type", n, m.Limits().Head)
}

// Limits returns the limits of the Meter. A nil Meter has no limits.
func (m *Meter) Limits() Limits {
	if m == nil {
		return Limits{}
	}
	return m.limits
}

// atMost panics with a TooMany if n is above the limit. A limit of 0 means none.
func (m *Meter) atMost(what string, n, limit int) {
	if limit > 0 && n > limit {
		panic(ended{&TooMany{What: what, Limit: limit, Actual: n}})
	}
}

// ended carries an error from a Meter to Catch.
type ended struct{ err error }

// Catch sets err to the error with which a Meter ended the work. Other panics continue. Catch must
// be deferred directly:
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
