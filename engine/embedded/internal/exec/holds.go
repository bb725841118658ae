package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// Truths returns the rows of a frame in which block number i of the program's holdings is true. A
// dropped block is true. The steps of the block share memory with the step that evaluates the
// expression, so truths keeps the rows that this step has chosen.
func (m *matcher) Truths(i int, f *eval.Frame) (eval.RowSet, error) {
	var all eval.RowSet
	for row := range f.N {
		all.Set(uint32(row))
	}
	t := m.HeldTests[i]
	if m.isDropped(t) {
		return all, nil
	}
	chosen := m.Chosen
	m.Chosen = m.ChosenBy[i]
	kept, err := m.satisfying(t, f, m.Holdings[i].Outer, all)
	m.ChosenBy[i], m.Chosen = m.Chosen, chosen
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
		t := x.HeldTests[e.Holding]
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
	case ir.ExprConst, ir.ExprProp, ir.ExprID, ir.ExprEnd, ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprAgg, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
	}
	return out
}
