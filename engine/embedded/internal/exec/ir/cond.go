package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Cond is a bound condition.
type Cond struct {
	Op          plan.Op
	Left, Right *Expr        // right is nil in a test for null
	NotNull     bool         // for a test for null: true if it keeps the values that are not null
	Unless      int          // the parameter that disables the condition when it is null, or -1
	Text        int          // position in Query.Texts for a text match, else -1
	List        int          // position in Query.Lists for `in` with a constant list, else -1
	Pattern     int          // position in Query.Patterns for `matches`, else -1
	Vars        []plan.VarID // the variables that it uses, each once
}

// Compares reports whether the condition compares two expressions.
func (c *Cond) Compares() bool { return c.Text < 0 && c.Right != nil }

// cond binds a condition.
func (b *binder) cond(c plan.Cond) (*Cond, error) {
	out := &Cond{Unless: plan.NoParam, Text: -1, List: -1, Pattern: -1}
	usesCond(c, func(v plan.VarID) {
		if v != plan.NoVar && !slices.Contains(out.Vars, v) {
			out.Vars = append(out.Vars, v)
		}
	})
	var err error
	switch c := c.(type) {
	case plan.Compare:
		out.Op, out.Unless = c.Op, c.Unless
		if c.Unless < plan.NoParam || c.Unless >= len(b.Params) {
			return nil, Mismatch("there is no parameter %d", c.Unless)
		}
		left, isNode := c.Left.(plan.Whole)
		if right, ok := c.Right.(plan.Whole); ok && isNode {
			if out.Left, out.Right = b.ref(left), b.ref(right); c.Op != plan.Eq && c.Op != plan.Ne {
				return nil, Mismatch("two nodes are compared with %s", c.Op)
			}
			break
		}
		var ok bool
		if out.Left, out.Right, ok, err = b.nodeParam(c); ok {
			break
		}
		if out.Left, out.Right, ok, err = b.twoNodes(c); ok {
			break
		}
		if out.Left, err = b.expr(c.Left); err != nil {
			return nil, err
		}
		if out.Right, err = b.expr(c.Right); err == nil {
			err = b.wordOperator(out)
		}
	case plan.NullTest:
		out.NotNull = c.Not
		out.Left, err = b.expr(c.Expr)
	case plan.TextMatch:
		out.Text, err = b.text(c)
	}
	return out, err
}

// Weight returns the cost class of a condition. A filter tests cheap conditions first.
func (c *Cond) Weight() int {
	switch {
	case c.Text >= 0:
		return 3
	case c.Left.runsBlock() || c.Right.runsBlock():
		return 4
	case c.Right == nil:
		return 0
	case c.Op == plan.Matches:
		return 3
	case c.Op == plan.Contains:
		return 2
	case c.Left.Type.Kind == value.String:
		return 1
	}
	return 0
}

// IsLocal reports whether a condition compares a property or the id of one variable with a constant, or tests a property
// for null. Such a condition cannot fail with an error, so it may be tested for nodes that are in no row.
func (c *Cond) IsLocal() bool {
	simple := func(e *Expr) bool {
		if e == nil || e.Kind == ExprProp || e.Kind == ExprID {
			return true
		}
		_, applies := e.Src.(plan.Apply)
		_, tests := e.Src.(plan.Test)
		return e.Kind == ExprConst && !applies && !tests
	}
	return c.Text < 0 && c.Pattern < 0 && len(c.Vars) == 1 && simple(c.Left) && simple(c.Right)
}

// Of returns a local condition with the variable that replaces its variable, and any other condition unchanged.
func (c *Cond) Of(same []plan.VarID) *Cond {
	if len(c.Vars) != 1 || same[c.Vars[0]] == c.Vars[0] {
		return c
	}
	moved := *c
	moved.Vars = []plan.VarID{same[c.Vars[0]]}
	for _, e := range [2]**Expr{&moved.Left, &moved.Right} {
		if *e != nil && (*e).Kind != ExprConst {
			other := **e
			other.Var = moved.Vars[0]
			*e = &other
		}
	}
	return &moved
}

// Determines reports whether a condition requires two values to be equal in every run.
func (c *Cond) Determines() bool {
	return c.Compares() && c.Op == plan.Eq && c.Unless == plan.NoParam
}
