package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// sorted finds the filters that limit an indexed property of a variable. It returns nil if there
// are none.
func (pl *planner) sorted(s *scope, v plan.VarID) *exec.Sorted {
	var best *exec.Sorted
	t := pl.Types[v]
	for p, prop := range t.Props {
		if !t.Sortable(p) {
			continue
		}
		r := &exec.Sorted{Var: v, Prop: p}
		for w := range pl.filtersOn(s, v) {
			r.Take(w.cond, prop.Type)
		}
		switch {
		case len(r.Lower) == 0 && len(r.Upper) == 0:
			continue
		case len(r.Lower) == 0 || len(r.Upper) == 0:
			r.Share = ir.HalfShare
		case slices.ContainsFunc(r.Lower, func(b exec.Bound) bool { return b.Op == plan.StartsWith || b.Op == plan.Eq }):
			r.Share = ir.PrefixShare
		default:
			r.Share = ir.RangeShare
		}
		if best == nil || r.Share < best.Share {
			best = r
		}
	}
	return best
}

// addSorted adds the step. The filters stay.
func (pl *planner) addSorted(s *scope, r *exec.Sorted) {
	r.ID, r.Vars = pl.frame(), slices.Clip(s.vars)
	r.Instead = &exec.Scan{Var: r.Var, ID: r.ID, Vars: r.Vars}
	s.pipe.Steps = append(s.pipe.Steps, r)
	s.bind(r.Var)
}

// followOrder makes the first step of a read follow the index of its first sort key, if few
// entities are likely to yield enough rows for the limit.
func (pl *planner) followOrder() {
	r := pl.Read
	if r.Grouped || r.Limit <= 0 || len(r.Order) == 0 || len(pl.Body.Steps) == 0 || ir.Fuses(r) {
		return
	}
	key, ok := r.Order[0].Expr.(plan.Prop)
	if !ok {
		return
	}
	step := &exec.Sorted{Var: key.Var, Ordered: true, Desc: r.Order[0].Desc, Share: 1}
	if step.Prop, ok = pl.Types[key.Var].Prop(key.Name); !ok || !pl.Types[key.Var].Sortable(step.Prop) {
		return
	}
	switch first := pl.Body.Steps[0].(type) {
	case *exec.Scan:
		if first.Var != key.Var || len(first.Vars) > 0 {
			return
		}
		step.ID = first.ID
	case *exec.Sorted:
		if first.Var != key.Var || len(first.Vars) > 0 || first.Prop != step.Prop {
			return
		}
		step.ID, step.Lower, step.Upper, step.Share = first.ID, first.Lower, first.Upper, first.Share
	default:
		return
	}
	live := float64(pl.live(key.Var)) * step.Share
	if need := (float64(r.Limit) + 1) / pl.passing(step, pl.Body.Steps[1:]); need > max(exec.FewSorted, live*ir.OrderShare) {
		return
	}
	pl.Body.Steps[0] = step
}
