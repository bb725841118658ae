package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// addScan adds a step that binds v to every entity of its type.
func (pl *planner) addScan(s *scope, v plan.VarID) {
	s.pipe.Steps = append(s.pipe.Steps, &exec.Scan{Var: v, ID: pl.frame(), Vars: slices.Clip(s.vars)})
	s.bind(v)
}

// idCond returns the filter for a condition on an id. It returns nil for other conditions.
func (pl *planner) idCond(c *ir.Cond) *exec.IDFilter {
	if !c.Compares() || c.Unless != plan.NoParam || c.Op != plan.Eq && c.Op != plan.Ne || c.Left.Optional || c.Right.Optional {
		return nil
	}
	left, right := c.Left, c.Right
	if left.Kind == ir.ExprConst {
		left, right = right, left
	}
	if right.Kind != ir.ExprConst || right.Type.Kind != value.String || right.Type.List || !pl.IsID(left) {
		return nil
	}
	return &exec.IDFilter{Var: left.Var, ID: right, Not: c.Op == plan.Ne, Cond: c}
}
