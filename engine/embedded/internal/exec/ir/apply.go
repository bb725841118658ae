package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// apply binds an operator or a function.
func (b *binder) apply(e plan.Apply, out *Expr) error {
	constant := true
	types := make([]value.Type, len(e.Args))
	for i, a := range e.Args {
		arg, err := b.part(a)
		if err != nil {
			return err
		}
		out.Args = append(out.Args, arg)
		types[i] = arg.Type
		constant = constant && arg.Kind == ExprConst
	}
	t, ok := e.Func.Row().Result(types)
	if !ok || t.Kind != e.Type.Kind || t.List != e.Type.List {
		return Mismatch("%s does not take the given types, or does not yield %s", e.Func, e.Type)
	}
	if t.Kind == value.Decimal {
		if t.Scale() != e.Type.Scale() {
			return Mismatch("%s yields %s, expected %s", e.Func, t, e.Type)
		}
		t.Dim = e.Type.Dim // a literal has the largest precision here, and that of the other operands in the plan
	}
	out.Type = t
	if !constant {
		out.Kind = ExprApply
		b.Computes = true
		if scalar.TakesNull(e.Func) {
			b.choose(e, out)
		}
	}
	return nil
}

// test binds a comparison or a test for null that is used as a value.
func (b *binder) test(e plan.Test, out *Expr) error {
	cond := &Cond{Unless: plan.NoParam, Text: -1, List: -1, Pattern: -1}
	var err error
	constant := true
	switch c := e.Cond.(type) {
	case plan.NullTest:
		cond.NotNull = c.Not
		cond.Left, err = b.part(c.Expr)
	case plan.Compare:
		if c.Unless != plan.NoParam {
			return &engine.Unsupported{Construct: "a comparison that can be dropped as a value within an expression"}
		}
		cond.Op = c.Op
		var ok bool
		if cond.Left, cond.Right, ok, err = b.nodeParam(c); ok {
			constant = false
			break
		}
		if cond.Left, cond.Right, ok, err = b.twoNodes(c); ok {
			constant = false
			break
		}
		if cond.Left, err = b.part(c.Left); err != nil {
			return err
		}
		if cond.Right, err = b.part(c.Right); err != nil {
			return err
		}
		constant = cond.Right.Kind == ExprConst
		err = b.wordOperator(cond)
	default:
		return &engine.Unsupported{Construct: "a text match as a value within an expression"}
	}
	if err != nil {
		return err
	}
	out.Type = value.Of(value.Bool)
	if !constant || cond.Left.Kind != ExprConst {
		out.Kind, out.Cond = ExprTest, cond
		b.Computes = true
	}
	return nil
}

// part binds an expression that is an operand of another one. Such an operand must not be a score.
func (b *binder) part(e plan.Expr) (*Expr, error) {
	out, err := b.expr(e)
	if err != nil {
		return nil, err
	}
	switch out.Kind {
	case ExprBM25, ExprNearest, ExprFused:
		return nil, &engine.Unsupported{Construct: "a score within an expression"}
	case ExprConst, ExprProp, ExprID, ExprEnd, ExprMatch, ExprApply, ExprTest, ExprHolds, ExprBlockAgg, ExprMember, ExprAgg, ExprWalk, ExprOrigin, ExprRef:
	}
	return out, nil
}

// composed binds a column or a sort key that computes with aggregates.
func (b *binder) composed(e plan.Expr) (*Expr, error) {
	b.composes = true
	defer func() { b.composes = false }()
	usesRow(e, b.keepVar)
	return b.expr(e)
}

// usesRow calls f for each variable that an expression uses outside its aggregates.
func usesRow(e plan.Expr, f func(plan.VarID)) {
	switch e := e.(type) {
	case plan.Agg:
	case plan.Apply, plan.Test, plan.Member:
		for _, o := range plan.Operands(e) {
			usesRow(o, f)
		}
	default:
		uses(e, f)
	}
}

// soleVar returns the variable that an expression uses, if there is exactly one, else NoVar. The
// expression must not contain aggregates.
func soleVar(e plan.Expr) plan.VarID {
	sole, several := plan.NoVar, false
	uses(e, func(v plan.VarID) {
		several = several || sole != plan.NoVar && sole != v
		sole = v
	})
	if several {
		return plan.NoVar
	}
	return sole
}

// choose binds the parts of an `if` or a `coalesce` that other functions do not have.
func (b *binder) choose(e plan.Apply, out *Expr) {
	out.Choice = b.Choosers
	b.Choosers++
	usesRow(e, func(v plan.VarID) {
		if !slices.Contains(out.Vars, v) {
			out.Vars = append(out.Vars, v)
		}
	})
}
