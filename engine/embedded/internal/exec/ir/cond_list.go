package ir

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// The operators `in` with a constant list and `matches`, and the test for null.

// constPattern is a pattern that the conditions of a query use.
type constPattern struct {
	Expr     *Expr            // constant during a run
	Compiled *pattern.Pattern // made from a literal; nil for a parameter
}

// wordOperator checks the operands of `in` and `matches`, and sets the fields `list` and `pattern`
// of a bound comparison.
func (b *binder) wordOperator(c *Cond) error {
	switch c.Op {
	case plan.In:
		if !c.Right.Type.List {
			return Mismatch("the right side of in is of type %s, expected a list", c.Right.Type)
		}
		if c.Right.Kind == ExprConst {
			c.List = len(b.Lists)
			b.Lists = append(b.Lists, c.Right)
		}
	case plan.Matches:
		if c.Left.Type.Kind != value.String || c.Left.Type.List || !isText(c.Right) || c.Right.Kind != ExprConst {
			return Mismatch("matches compares a String with a literal or a parameter, found %s and %s", c.Left.Type, c.Right.Type)
		}
		p := constPattern{Expr: c.Right}
		if lit, ok := c.Right.Src.(plan.Lit); ok && !lit.Value.IsNull() {
			var err error
			if p.Compiled, err = pattern.Compile(lit.Value.Str()); err != nil {
				return Mismatch("%v", err)
			}
		}
		c.Pattern = len(b.Patterns)
		b.Patterns = append(b.Patterns, p)
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.Contains, plan.StartsWith:
	default:
		return Mismatch("there is no operator %d", uint8(c.Op))
	}
	return nil
}
