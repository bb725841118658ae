package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// settleTests adds a step for each test that uses no unbound variable of the surrounding block.
func (pl *planner) settleTests(s *scope) error {
	var open []*ir.Test
	for _, t := range s.tests {
		if pl.waits(s, t) {
			open = append(open, t)
			continue
		}
		arranged, err := pl.arrange(s, t)
		if err != nil {
			return err
		}
		var out exec.Step = &exec.BlockFilter{Test: arranged, Vars: slices.Clip(s.vars)}
		if c := arranged.Joins(); c != nil {
			if _, not := t.Src.(plan.Not); not {
				c.Not = !c.Not // it is set if the only clause of the block is itself a `not` block
			}
			out = c
		}
		s.pipe.Steps = append(s.pipe.Steps, out)
		s.scaleRows(ir.BlockShare)
	}
	s.tests = open
	return nil
}

// arrange arranges the blocks of a test into steps.
func (pl *planner) arrange(s *scope, t *ir.Test) (*exec.ArrangedTest, error) {
	pl.Step(1)
	out := &exec.ArrangedTest{Test: t}
	if t.Block != nil {
		var err error
		out.Inner, err = pl.pipe(t.Block, s)
		out.Needs = pl.nullable(s, t.Block.Vars)
		out.ID = pl.frame()
		return out, err
	}
	for _, inner := range t.Of {
		arranged, err := pl.arrange(s, inner)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, arranged)
	}
	slices.SortStableFunc(out.Members, func(a, b *exec.ArrangedTest) int { return a.Weight() - b.Weight() })
	return out, nil
}

// waits reports whether a test uses variables of the surrounding block that are not bound yet. A `not`
// or `exists` block binds its other variables itself.
func (pl *planner) waits(s *scope, t *ir.Test) bool {
	return len(s.unbound) > 0 && pl.wants(t, func(v plan.VarID) bool { return v != plan.NoVar && s.varStates[v] == neededHere })
}

// wants reports whether a test uses a variable for which the function `wanted` returns true.
func (pl *planner) wants(t *ir.Test, wanted func(plan.VarID) bool) bool {
	inner := func(t *ir.Test) bool { return pl.wants(t, wanted) }
	switch {
	case t.Cond != nil:
		pl.Step(1)
		return slices.ContainsFunc(t.Cond.Vars, wanted)
	case t.Block == nil:
		return slices.ContainsFunc(t.Of, inner)
	}
	b := t.Block
	pl.Step(1 + len(b.Vars) + len(b.Conds))
	return slices.ContainsFunc(b.Vars, wanted) ||
		slices.ContainsFunc(b.Conds, func(c *ir.Cond) bool { return slices.ContainsFunc(c.Vars, wanted) }) ||
		slices.ContainsFunc(b.Tests, inner)
}
