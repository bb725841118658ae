package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// members returns a step for a filter that requires the id, the key or an indexed property of a
// node to be in a constant list. It returns nil if there is no such filter.
func (pl *planner) members(s *scope, v plan.VarID) *exec.Members {
	t := pl.Types[v]
	var best *exec.Members
	for w := range pl.filtersOn(s, v) {
		c := w.cond
		if c.List < 0 || c.Left.Kind == ir.ExprConst || c.Left.Var != v || c.Right.Type.Kind != c.Left.Type.Kind || c.Left.Type.List {
			continue
		}
		if pl.IsID(c.Left) {
			return &exec.Members{Var: v, Cond: c, Tuple: -1}
		}
		if c.Left.Kind != ir.ExprProp {
			continue
		}
		if len(t.Key) == 1 && t.Key[0] == c.Left.Prop {
			return &exec.Members{Var: v, Cond: c, Tuple: -1}
		}
		if i := slices.IndexFunc(t.Tuples, func(tuple []int) bool { return len(tuple) == 1 && tuple[0] == c.Left.Prop }); i >= 0 {
			best = &exec.Members{Var: v, Cond: c, Tuple: i}
		}
	}
	return best
}

// foundIn estimates the number of nodes that the step finds if `live` nodes of the type exist.
func (e *estimator) foundIn(s *exec.Members, live float64) float64 {
	n := ir.ListLength(s.Cond.Right)
	if s.Tuple >= 0 {
		n *= live * ir.EqualShare
	}
	return min(live, n)
}

// costIn estimates the cost of the step in rows.
func (e *estimator) costIn(s *exec.Members, live float64) float64 {
	if s.Tuple < 0 {
		return lookupCost * max(1, ir.ListLength(s.Cond.Right))
	}
	return probeCost + ir.ListLength(s.Cond.Right)*live*probeShare
}

// addMembers adds the step r to the pipe.
func (pl *planner) addMembers(s *scope, r *exec.Members) {
	r.ID, r.Vars = pl.frame(), slices.Clip(s.vars)
	r.Instead = &exec.Scan{Var: r.Var, ID: r.ID, Vars: r.Vars}
	s.pipe.Steps = append(s.pipe.Steps, r)
	s.bind(r.Var)
}
