package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// arrangeHoldings arranges the blocks whose truth is a value into steps. A block starts with the
// variables that are bound outside of it.
func (pl *planner) arrangeHoldings() error {
	for _, h := range pl.Holdings {
		outer := &scope{varStates: make([]varState, len(pl.Types)), pipe: &pipe{}, rows: 1, start: plan.NoVar}
		for _, v := range h.Outer {
			outer.bind(v)
		}
		t, err := pl.arrange(outer, h.Test)
		if err != nil {
			return err
		}
		pl.heldTests = append(pl.heldTests, t)
	}
	return nil
}

// evalHolds writes the truth of a block, 1 or 0, for each row of a frame into vec, beginning at
// position `at`.
func (ev *evaluator) evalHolds(e *ir.Expr, f *frame, vec *column.Vec, at int) {
	held, err := ev.blocks.truths(e.Holding, f)
	if err != nil {
		ev.fail(err)
	}
	for i := range f.n {
		vec.Ints[at+i] = 0
		if held.get(uint32(i)) {
			vec.Ints[at+i] = 1
		}
	}
}

// truths returns the rows of a frame in which block number i of the program's holdings is true. A
// dropped block is true. The steps of the block share memory with the step that evaluates the
// expression, so truths keeps the rows that this step has chosen.
func (m *matcher) truths(i int, f *frame) (rowSet, error) {
	var all rowSet
	for row := range f.n {
		all.set(uint32(row))
	}
	t := m.heldTests[i]
	if m.isDropped(t) {
		return all, nil
	}
	chosen := m.chosen
	m.chosen = m.chosenBy[i]
	kept, err := m.satisfying(t, f, m.Holdings[i].Outer, all)
	m.chosenBy[i], m.chosen = m.chosen, chosen
	return kept, err
}

// explainHoldings returns the operators of the blocks within an expression.
func (x *explainer) explainHoldings(e *ir.Expr, rows float64) []*engine.Operator {
	if e == nil {
		return nil
	}
	x.Step(1)
	var out []*engine.Operator
	switch e.Kind {
	case ir.ExprHolds:
		t := x.heldTests[e.Holding]
		op := &engine.Operator{Name: t.keyword(), Estimate: rows * ir.BlockShare, Children: x.conditions(t, rows)}
		if x.prof != nil {
			x.measure(op, x.prof.tests[t], 0)
		}
		return append(out, op)
	case ir.ExprTest:
		return slices.Concat(x.explainHoldings(e.Cond.Left, rows), x.explainHoldings(e.Cond.Right, rows))
	case ir.ExprApply:
		for _, a := range e.Args {
			out = append(out, x.explainHoldings(a, rows)...)
		}
	case ir.ExprBlockAgg, ir.ExprMember:
		return append(out, x.explainSubquery(e.Subquery, rows))
	case ir.ExprConst, ir.ExprProp, ir.ExprID, ir.ExprEnd, ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprAgg, ir.ExprWalk, ir.ExprRef:
	}
	return out
}
