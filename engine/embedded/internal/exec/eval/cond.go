package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Test appends the rows of a frame for which a condition is true.
func (ev *Evaluator) Test(c *ir.Cond, f *Frame, rows []uint32) []uint32 {
	if c.Text >= 0 {
		ev.matchText(c.Text, f, func(i int, ok bool) {
			if ok {
				rows = append(rows, uint32(i))
			}
		})
		return rows
	}
	switch {
	case c.Right == nil:
		return ev.testNull(c, f, rows)
	case c.List >= 0:
		return ev.testIn(c, f, rows)
	case c.Pattern >= 0:
		return ev.testPattern(c, f, rows)
	}
	left, right, op := c.Left, c.Right, c.Op
	if left.Kind == ir.ExprConst && right.Kind != ir.ExprConst {
		if flipped, ok := scalar.Flip(op); ok {
			left, right, op = right, left, flipped
		}
	}
	if left.Kind != ir.ExprConst && right.Kind == ir.ExprConst {
		k := ev.Constant(right)
		if k.IsNull() {
			return rows
		}
		return testConst(op, ev.Eval(left, f), k, f.N, rows)
	}
	if left.Kind == ir.ExprConst && right.Kind == ir.ExprConst {
		if scalar.Holds(op, ev.Constant(left), ev.Constant(right)) {
			for i := range f.N {
				rows = append(rows, uint32(i))
			}
		}
		return rows
	}
	a, b := ev.Eval(left, f), ev.Eval(right, f)
	for i := range f.N {
		if scalar.Holds(op, a.Value(i), b.Value(i)) {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// testConst compares a vector with a constant that is not null.
func testConst(op plan.Op, v *column.Vec, k value.Value, n int, rows []uint32) []uint32 {
	if !v.Type.List && !k.IsList() {
		switch {
		case v.Type.Kind == value.String && k.Kind() == value.String:
			s := k.Str()
			for i, x := range v.Strings[:n] {
				if column.TextHolds(op, x, s) && !v.IsNull(i) {
					rows = append(rows, uint32(i))
				}
			}
			return rows
		case column.SameOrder(v.Type.Kind, k.Kind()):
			x := int64(k.Bits())
			for i, y := range v.Ints[:n] {
				if scalar.HoldsOrder(op, y < x, y == x) && !v.IsNull(i) {
					rows = append(rows, uint32(i))
				}
			}
			return rows
		case v.Type.Kind.IsFloat() && k.Kind().IsFloat():
			x := k.Float()
			for i, y := range v.Floats[:n] {
				if y == y && x == x && scalar.HoldsOrder(op, y < x, y == x) && !v.IsNull(i) {
					rows = append(rows, uint32(i))
				}
			}
			return rows
		}
	}
	for i := range n {
		if scalar.Holds(op, v.Value(i), k) {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}
