package exec

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// holding is a bound block whose truth is a value.
type holding struct {
	src   plan.Holds   // the expression in the plan
	test  *test        // the block as a test
	outer []plan.VarID // the variables that are bound outside of the block
}

// holds binds a block whose truth is a value.
func (b *binder) holds(e plan.Holds, out *expr) error {
	ranks, composes := b.ranks, b.composes
	b.ranks, b.composes = false, false
	t, err := b.blockTest(e.Block)
	b.ranks, b.composes = ranks, composes
	if err != nil {
		return err
	}
	out.kind, out.typ, out.holding = exprHolds, value.Of(value.Bool), len(b.holdings)
	b.holdings = append(b.holdings, &holding{src: e, test: t, outer: e.Outer})
	b.computes = true
	return nil
}

// checkHolds checks the names in a block whose truth is a value. The block may use only the variables
// that it binds or that the plan lists as bound outside.
func (b *binder) checkHolds(e plan.Holds) error {
	switch e.Block.(type) {
	case plan.Not, plan.Exists, plan.Any, plan.All:
	default:
		return mismatch("the truth of a clause that is not a block is used as a value")
	}
	bound := map[plan.VarID]bool{}
	for _, v := range e.Outer {
		if v < 0 || int(v) >= len(b.types) {
			return mismatch("there is no variable %d", v)
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
	b.step(1)
	switch c := c.(type) {
	case plan.Filter:
		var err error
		usesCond(c.Cond, func(v plan.VarID) {
			if !bound[v] {
				err = mismatch("a condition uses $%s, which is not bound there", b.read.Vars[v].Name)
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
		b.step(len(inner))
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

// arrangeHoldings arranges the blocks whose truth is a value into steps. A block starts with the
// variables that are bound outside of it.
func (pl *planner) arrangeHoldings() error {
	for _, h := range pl.holdings {
		outer := &scope{varStates: make([]varState, len(pl.types)), pipe: &pipe{}, rows: 1, start: plan.NoVar}
		for _, v := range h.outer {
			outer.bind(v)
		}
		t, err := pl.arrange(outer, h.test)
		if err != nil {
			return err
		}
		pl.heldTests = append(pl.heldTests, t)
	}
	return nil
}

// runsBlock reports whether the evaluation of an expression runs the steps of a block. The expression
// may be nil.
func (e *expr) runsBlock() bool {
	if e == nil {
		return false
	}
	return e.kind == exprHolds || e.kind == exprBlockAgg || e.kind == exprMember || e.kind == exprTest && (e.cond.left.runsBlock() || e.cond.right.runsBlock()) ||
		slices.ContainsFunc(e.args, (*expr).runsBlock)
}

// evalHolds writes the truth of a block, 1 or 0, for each row of a frame into vec, beginning at
// position `at`.
func (ev *evaluator) evalHolds(e *expr, f *frame, vec *column.Vec, at int) {
	held, err := ev.blocks.truths(e.holding, f)
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
	kept, err := m.satisfying(t, f, m.holdings[i].outer, all)
	m.chosenBy[i], m.chosen = m.chosen, chosen
	return kept, err
}

// explainHoldings returns the operators of the blocks within an expression.
func (x *explainer) explainHoldings(e *expr, rows float64) []*engine.Operator {
	if e == nil {
		return nil
	}
	x.step(1)
	var out []*engine.Operator
	switch e.kind {
	case exprHolds:
		t := x.heldTests[e.holding]
		op := &engine.Operator{Name: t.keyword(), Estimate: rows * blockShare, Children: x.conditions(t, rows)}
		if x.prof != nil {
			x.measure(op, x.prof.tests[t], 0)
		}
		return append(out, op)
	case exprTest:
		return slices.Concat(x.explainHoldings(e.cond.left, rows), x.explainHoldings(e.cond.right, rows))
	case exprApply:
		for _, a := range e.args {
			out = append(out, x.explainHoldings(a, rows)...)
		}
	case exprBlockAgg, exprMember:
		return append(out, x.explainSubquery(e.subquery, rows))
	case exprConst, exprProp, exprID, exprEnd, exprMatch, exprBM25, exprNearest, exprFused, exprAgg, exprWalk, exprRef:
	}
	return out
}
