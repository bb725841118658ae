package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// probeShared returns the cheapest step for a filter that requires the id or a property of a variable over an
// interface to equal a value, or the node to be that of a parameter. It returns nil if the scope has no such
// filter, or if no type has an index for it.
func (pl *planner) probeShared(s *scope, v plan.VarID) *exec.ProbeShared {
	for _, by := range []struct {
		prop int
		kind ir.ExprKind
	}{{exec.ByRef, ir.ExprRef}, {exec.ByID, ir.ExprID}} {
		if ex := pl.equals(s, v, func(e *ir.Expr) bool { return e.Kind == by.kind && e.Var == v }, value.String); ex != nil {
			return &exec.ProbeShared{Var: v, Prop: by.prop, Expr: ex, Ways: slices.Repeat([]exec.MemberPath{{Lookup: true, Tuple: -1}}, len(pl.Query.Over[v].Members))}
		}
	}
	var best *exec.ProbeShared
	for p, prop := range pl.Types[v].Props {
		if prop.Name == catalog.TypeProperty || prop.Type.List {
			continue
		}
		ex := pl.equals(s, v, exec.PropOf(v, p), prop.Type.Kind)
		if ex == nil {
			continue
		}
		out := &exec.ProbeShared{Var: v, Prop: p, Expr: ex}
		indexed := false
		for _, m := range pl.Query.Over[v].Members {
			way := path(m, p)
			out.Ways = append(out.Ways, way)
			indexed = indexed || way != exec.MemberPath{Tuple: -1}
		}
		if indexed && (best == nil || pl.cost(out) < pl.cost(best)) {
			best = out
		}
	}
	return best
}

// path says how to find the nodes of a member with a value of property p of the interface.
func path(m schema.Member, p int) exec.MemberPath {
	own := m.Props[p]
	return exec.MemberPath{
		Lookup: len(m.Type.Key) == 1 && m.Type.Key[0] == own,
		Tuple:  slices.IndexFunc(m.Type.Tuples, func(tuple []int) bool { return len(tuple) == 1 && tuple[0] == own }),
	}
}

// cost estimates the cost of the step in rows.
func (pl *planner) cost(s *exec.ProbeShared) float64 {
	total := 0.0
	for k, way := range s.Ways {
		live := float64(pl.snap.Nodes(pl.Query.Over[s.Var].Members[k].Type.Index).Live())
		switch {
		case way.Lookup:
			total += lookupCost
		case way.Tuple >= 0:
			total += probeCost + live*probeShare
		default:
			total += scanCost + live
		}
	}
	return total
}

// found estimates the number of nodes that the step finds.
func (pl *planner) found(s *exec.ProbeShared) float64 {
	switch s.Prop {
	case exec.ByID:
		return float64(len(s.Ways))
	case exec.ByRef:
		return 1
	}
	return max(1, float64(pl.live(s.Var))*ir.EqualShare)
}

// addProbeShared adds the step. The filters stay.
func (pl *planner) addProbeShared(s *scope, p *exec.ProbeShared) {
	p.ID, p.Vars = pl.frame(), slices.Clip(s.vars)
	s.pipe.Steps = append(s.pipe.Steps, p)
	s.bind(p.Var)
}
