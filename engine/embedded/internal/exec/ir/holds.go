package ir

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// holding is a bound block whose truth is a value.
type holding struct {
	src   plan.Holds   // the expression in the plan
	Test  *Test        // the block as a test
	Outer []plan.VarID // the variables that are bound outside of the block
}

// holds binds a block whose truth is a value.
func (b *binder) holds(e plan.Holds, out *Expr) error {
	ranks, composes := b.ranks, b.composes
	b.ranks, b.composes = false, false
	t, err := b.blockTest(e.Block)
	b.ranks, b.composes = ranks, composes
	if err != nil {
		return err
	}
	out.Kind, out.Type, out.Holding = ExprHolds, value.Of(value.Bool), len(b.Holdings)
	b.Holdings = append(b.Holdings, &holding{src: e, Test: t, Outer: e.Outer})
	b.Computes = true
	return nil
}

// checkHolds checks the names in a block whose truth is a value. The block may use only the variables
// that it binds or that the plan lists as bound outside.
func (b *binder) checkHolds(e plan.Holds) error {
	switch e.Block.(type) {
	case plan.Not, plan.Exists, plan.Any, plan.All:
	default:
		return Mismatch("the truth of a clause that is not a block is used as a value")
	}
	bound := map[plan.VarID]bool{}
	for _, v := range e.Outer {
		if v < 0 || int(v) >= len(b.Types) {
			return Mismatch("there is no variable %d", v)
		}
		bound[v] = true
	}
	if err := b.clauses([]plan.Clause{e.Block}, map[plan.VarID]bool{}); err != nil {
		return err
	}
	return b.closed(e.Block, bound)
}

// closed checks that the conditions of a clause use only variables of the set `bound`, and variables
// that a block inside the clause binds.
func (b *binder) closed(c plan.Clause, bound map[plan.VarID]bool) error {
	b.Step(1)
	switch c := c.(type) {
	case plan.Filter:
		var err error
		usesCond(c.Cond, func(v plan.VarID) {
			if !bound[v] {
				err = Mismatch("a condition uses $%s, which is not bound there", b.Read.Vars[v].Name)
			}
		})
		return err
	case plan.Not, plan.Exists:
		inner := maps.Clone(bound)
		for _, c := range plan.Block(c) {
			switch c := c.(type) {
			case plan.Bind:
				inner[c.Var] = true
			case plan.Traverse:
				inner[c.From], inner[c.To], inner[c.EdgeVar] = true, true, true
			}
		}
		b.Step(len(inner))
		bound = inner
	case plan.Bind, plan.Traverse, plan.Any, plan.All:
	}
	for _, c := range plan.Block(c) {
		if err := b.closed(c, bound); err != nil {
			return err
		}
	}
	return nil
}

// runsBlock reports whether the evaluation of an expression runs the steps of a block. The expression
// may be nil.
func (e *Expr) runsBlock() bool {
	if e == nil {
		return false
	}
	return e.Kind == ExprHolds || e.Kind == ExprBlockAgg || e.Kind == ExprMember || e.Kind == ExprTest && (e.Cond.Left.runsBlock() || e.Cond.Right.runsBlock()) ||
		slices.ContainsFunc(e.Args, (*Expr).runsBlock)
}
