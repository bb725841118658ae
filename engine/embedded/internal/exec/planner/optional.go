package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// addOptional adds the step for an `optional` block, and the conditions that wait for it.
func (pl *planner) addOptional(s *scope, o *ir.Optional) error {
	step := &exec.OptionalStep{Vars: slices.Clip(s.vars), Binds: o.Binds, Needs: pl.nullable(s, o.Block.Vars),
		Row: pl.Markers(pl.Optionals), Number: pl.Optionals, In: pl.frame(), Out: pl.frame()}
	pl.Optionals++
	inner := pl.scope(o.Block, s)
	inner.vars = append(slices.Clip(s.vars), step.Row)
	inner.pipe.Inner, inner.pipe.Optional = false, step
	var err error
	if step.Inner, err = pl.arrangeScope(inner); err != nil {
		return err
	}
	s.pipe.Steps = append(s.pipe.Steps, step)
	s.scaleRows(max(1, inner.rows))
	for _, v := range o.Binds {
		s.bind(v)
	}
	for i, c := range o.Conds {
		s.filter(&pendingCond{cond: c, at: i})
	}
	s.tests = o.Tests
	return pl.settle(s)
}

// nullable returns the optional variables among `vars` that are bound outside of a block.
func (pl *planner) nullable(s *scope, vars []plan.VarID) []plan.VarID {
	var out []plan.VarID
	for _, v := range vars {
		if v != plan.NoVar && pl.Read.Vars[v].Optional && s.bound(v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
