package check

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file is about the two clocks of a graph: when something was known, and when it was true.

// asOf resolves the instant as of which a query reads.
func (c *checker) asOf(q *syntax.Query) {
	at := q.AsOf.At.Source().Span()
	if _, ok := q.Body.(*syntax.Mutation); ok {
		c.fault(BadTime, at, "leave as of out; a read may have it", "a mutation cannot be as of an instant, because it writes to the head of a branch")
		return
	}
	var t typed
	var ok bool
	if c.wanting("DateTime", func() { t, ok = c.operand(q.AsOf.At, &scope{}) }); !ok {
		return
	}
	ref, param := t.expr.(plan.ParamRef)
	switch {
	case !param && t.lit == nil, t.typ.Kind != value.DateTime, t.typ.List:
		c.fault(BadTime, at, `write a parameter, such as $t: DateTime, or datetime("2024-05-01T12:00:00Z")`, "as of takes a DateTime literal or parameter")
	case param && c.plan.Params[ref.Index].Type.Nullable:
		name := c.plan.Params[ref.Index].Name
		c.fault(BadTime, at, "declare it as $"+name+": DateTime, or give it a @default", "a call may leave out $%s, so it does not say as of when", name)
	default:
		c.plan.AsOf = t.expr
	}
}

// valid resolves when the entities that a read sees are valid.
func (c *checker) valid(v *syntax.Valid) {
	if !slices.ContainsFunc(c.schema.Edges, func(e *catalog.Edge) bool { return e.Valid != nil }) && !slices.ContainsFunc(c.schema.Nodes, func(n *catalog.Node) bool { return n.Valid != nil }) {
		c.fault(BadTime, v.Span(), "declare it, as in edge WorksAt: Person -> Company @valid(since, until) { since: Date until: Date? }", "no type of the schema says with @valid when its entities are valid")
		return
	}
	out := &plan.Valid{From: c.validTime(v.From)}
	if v.To != nil {
		out.To = c.validTime(v.To)
	}
	if out.From == nil || v.To != nil && out.To == nil {
		return
	}
	from, literal := out.From.(plan.Lit)
	if to, ok := out.To.(plan.Lit); ok && literal && plan.Instant(to.Value) <= plan.Instant(from.Value) {
		c.fault(BadTime, v.To.Source().Span(), "give an end after the start", "the period ends at or before its start")
		return
	}
	c.read.Valid = out
}

// validTime resolves a time of `valid`, or returns nil.
func (c *checker) validTime(o syntax.Operand) plan.Expr {
	at := o.Source().Span()
	var t typed
	var ok bool
	if c.wanting("Date", func() { t, ok = c.operand(o, &scope{}) }); !ok {
		return nil
	}
	ref, param := t.expr.(plan.ParamRef)
	_, now := t.expr.(plan.Now)
	switch {
	case !param && !now && t.lit == nil, t.typ.Kind != value.Date && t.typ.Kind != value.DateTime, t.typ.List:
		c.fault(BadTime, at, `write a parameter, such as $day: Date, or date("2024-05-01"), or now()`, "valid takes a Date or a DateTime: a literal, a parameter or now()")
	case param && c.plan.Params[ref.Index].Type.Nullable:
		name := c.plan.Params[ref.Index].Name
		c.fault(BadTime, at, "declare it as $"+name+": "+t.typ.Kind.String()+", or give it a @default", "a call may leave out $%s, so it does not say when", name)
	default:
		return t.expr
	}
	return nil
}
