package check

import (
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
