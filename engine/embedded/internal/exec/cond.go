package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// cond is a bound condition.
type cond struct {
	op          plan.Op
	left, right *expr        // right is nil in a test for null
	notNull     bool         // for a test for null: true if it keeps the values that are not null
	unless      int          // the parameter that disables the condition when it is null, or -1
	text        int          // position in query.texts for a text match, else -1
	list        int          // position in query.lists for `in` with a constant list, else -1
	pattern     int          // position in query.patterns for `matches`, else -1
	vars        []plan.VarID // the variables that it uses, each once
}

// compares reports whether the condition compares two expressions.
func (c *cond) compares() bool { return c.text < 0 && c.right != nil }

// cond binds a condition.
func (b *binder) cond(c plan.Cond) (*cond, error) {
	out := &cond{unless: plan.NoParam, text: -1, list: -1, pattern: -1}
	usesCond(c, func(v plan.VarID) {
		if v != plan.NoVar && !slices.Contains(out.vars, v) {
			out.vars = append(out.vars, v)
		}
	})
	var err error
	switch c := c.(type) {
	case plan.Compare:
		out.op, out.unless = c.Op, c.Unless
		if c.Unless < plan.NoParam || c.Unless >= len(b.params) {
			return nil, mismatch("there is no parameter %d", c.Unless)
		}
		left, isNode := c.Left.(plan.Whole)
		if right, ok := c.Right.(plan.Whole); ok && isNode {
			if out.left, out.right = b.ref(left), b.ref(right); c.Op != plan.Eq && c.Op != plan.Ne {
				return nil, mismatch("two nodes are compared with %s", c.Op)
			}
			break
		}
		var ok bool
		if out.left, out.right, ok, err = b.nodeParam(c); ok {
			break
		}
		if out.left, out.right, ok, err = b.twoNodes(c); ok {
			break
		}
		if out.left, err = b.expr(c.Left); err != nil {
			return nil, err
		}
		if out.right, err = b.expr(c.Right); err == nil {
			err = b.wordOperator(out)
		}
	case plan.NullTest:
		out.notNull = c.Not
		out.left, err = b.expr(c.Expr)
	case plan.TextMatch:
		out.text, err = b.text(c)
	}
	return out, err
}

// weight returns the cost class of a condition. A filter tests cheap conditions first.
func (c *cond) weight() int {
	switch {
	case c.text >= 0:
		return 3
	case c.left.runsBlock() || c.right.runsBlock():
		return 4
	case c.right == nil:
		return 0
	case c.op == plan.Matches:
		return 3
	case c.op == plan.Contains:
		return 2
	case c.left.typ.Kind == value.String:
		return 1
	}
	return 0
}

// test appends the rows of a frame for which a condition is true.
func (ev *evaluator) test(c *cond, f *frame, rows []uint32) []uint32 {
	if c.text >= 0 {
		ev.matchText(c.text, f, func(i int, ok bool) {
			if ok {
				rows = append(rows, uint32(i))
			}
		})
		return rows
	}
	switch {
	case c.right == nil:
		return ev.testNull(c, f, rows)
	case c.list >= 0:
		return ev.testIn(c, f, rows)
	case c.pattern >= 0:
		return ev.testPattern(c, f, rows)
	}
	left, right, op := c.left, c.right, c.op
	if left.kind == exprConst && right.kind != exprConst {
		if flipped, ok := scalar.Flip(op); ok {
			left, right, op = right, left, flipped
		}
	}
	if left.kind != exprConst && right.kind == exprConst {
		k := ev.constant(right)
		if k.IsNull() {
			return rows
		}
		return testConst(op, ev.eval(left, f), k, f.n, rows)
	}
	if left.kind == exprConst && right.kind == exprConst {
		if scalar.Holds(op, ev.constant(left), ev.constant(right)) {
			for i := range f.n {
				rows = append(rows, uint32(i))
			}
		}
		return rows
	}
	a, b := ev.eval(left, f), ev.eval(right, f)
	for i := range f.n {
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
