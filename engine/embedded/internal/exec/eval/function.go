package eval

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// Inputs are the values that an expression without variables depends on.
type Inputs struct {
	Ctx  context.Context // ends the search for a pattern
	Args engine.Args     // the arguments of the query
	Now  value.Value     // the value of now()

	// Entity evaluates an expression that depends on an entity or a row of a mutation: a Prop, an
	// ID, an Endpoint, an Old, a Cell or a KeyOf. In a read, the function is nil.
	Entity func(e plan.Expr) (value.Value, error)
}

// Value evaluates an expression of literals, arguments and now(). If the expression has no result,
// value returns null or, if `strict` is set, the error scalar.ErrZero or scalar.ErrRange. The other errors are a
// *engine.TooLarge and the context's. Of the arguments of `if` and `coalesce`, it evaluates only the ones that it
// needs.
func (in *Inputs) Value(e plan.Expr, strict bool) (value.Value, error) {
	switch e := e.(type) {
	case plan.Lit:
		return e.Value, nil
	case plan.ParamRef:
		return in.Args[e.Index], nil
	case plan.Now:
		return in.Now, nil
	case plan.Test:
		return in.test(e.Cond, strict)
	case plan.Apply:
		return in.apply(e, strict)
	case plan.Prop, plan.ID, plan.Endpoint, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef:
		if in.Entity != nil {
			return in.Entity(e)
		}
	case plan.WalkPart, plan.Whole, plan.EndNode, plan.Agg, plan.Matched, plan.BM25, plan.Nearest, plan.RRF, plan.Holds,
		plan.BlockAgg, plan.BlockRows, plan.Member:
	}
	panic("exec: an expression without variables has a variable")
}

// test evaluates a condition in the way that the method value describes.
func (in *Inputs) test(c plan.Cond, strict bool) (value.Value, error) {
	switch c := c.(type) {
	case plan.NullTest:
		v, err := in.Value(c.Expr, strict)
		return value.OfBool(v.IsNull() != c.Not), err
	case plan.Compare:
		left, err := in.Value(c.Left, strict)
		if err != nil {
			return value.Null, err
		}
		right, err := in.Value(c.Right, strict)
		if err != nil {
			return value.Null, err
		}
		if c.Op != plan.Matches {
			return value.OfBool(scalar.Holds(c.Op, left, right)), nil
		}
		if left.IsNull() || right.IsNull() {
			return value.OfBool(false), nil
		}
		p, err := pattern.Compile(right.Str())
		if err != nil { // a bad pattern in an argument is refused before
			return value.Null, ir.Mismatch("%v", err)
		}
		matched := p.Match(left.Str(), func() bool { return in.Ctx.Err() != nil })
		return value.OfBool(matched), in.Ctx.Err()
	}
	panic("exec: an expression without variables has a text match")
}

// apply evaluates an operator or a function in the way that the method value describes.
func (in *Inputs) apply(e plan.Apply, strict bool) (value.Value, error) {
	args := e.Args
	switch e.Func {
	case plan.If:
		cond, err := in.Value(args[0], strict)
		if err != nil {
			return value.Null, err
		}
		if args = args[1:2]; !cond.Bool() {
			args = e.Args[2:]
		}
		fallthrough
	case plan.Coalesce:
		for _, a := range args {
			v, err := in.Value(a, strict)
			if err != nil || !v.IsNull() {
				return scalar.Widen(v, e.Type.Kind), err
			}
		}
		return value.Null, nil
	}
	var few [3]value.Value
	vals := few[:0]
	for _, a := range args {
		v, err := in.Value(a, strict)
		if err != nil {
			return value.Null, err
		}
		vals = append(vals, v)
	}
	v, err := scalar.Call(e.Func, e.Type, vals)
	if !strict && (err == scalar.ErrZero || err == scalar.ErrRange) {
		return value.Null, nil
	}
	return v, err
}
