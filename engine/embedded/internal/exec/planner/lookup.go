package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// lookup finds the filters that determine a variable's id or key. It returns nil if there
// are none.
func (pl *planner) lookup(s *scope, v plan.VarID) *exec.Lookup {
	if id := pl.equals(s, v, func(e *ir.Expr) bool { return e.Kind == ir.ExprID && e.Var == v }, value.String); id != nil {
		return &exec.Lookup{Var: v, ByID: true, Exprs: []*ir.Expr{id}}
	}
	t := pl.Types[v]
	if len(t.Key) == 0 {
		return nil
	}
	l := &exec.Lookup{Var: v}
	for _, k := range t.Key {
		e := pl.equals(s, v, exec.PropOf(v, k), t.Props[k].Type.Kind)
		if e == nil {
			return nil
		}
		l.Exprs = append(l.Exprs, e)
	}
	return l
}

// addLookup adds a lookup to the steps, and drops the filters that the lookup already tests.
func (pl *planner) addLookup(s *scope, l *exec.Lookup) {
	l.Out, l.Vars = pl.frame(), slices.Clip(s.vars)
	// Remove the filters that the lookup has already tested.
	for w := range pl.filtersOn(s, l.Var) {
		if c := w.cond; c.Determines() {
			w.done = pl.tests(l, c.Left, c.Right) || pl.tests(l, c.Right, c.Left)
		}
	}
	s.pipe.Steps = append(s.pipe.Steps, l)
	s.bind(l.Var)
}

// tests reports whether the found entity always satisfies left = right.
func (pl *planner) tests(l *exec.Lookup, left, right *ir.Expr) bool {
	if left.Var != l.Var {
		return false
	}
	switch left.Kind {
	case ir.ExprID:
		return l.ByID && ir.SameExpr(right.Src, l.Exprs[0].Src)
	case ir.ExprProp:
		member := slices.Index(pl.Types[l.Var].Key, left.Prop)
		return !l.ByID && member >= 0 && ir.SameExpr(right.Src, l.Exprs[member].Src)
	case ir.ExprConst, ir.ExprEnd, ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprAgg, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
	}
	return false
}

// addEdgeLookup binds an edge variable by its id, and the ends of the edge with it.
func (pl *planner) addEdgeLookup(s *scope, t *ir.Link, l *exec.Lookup) {
	l.Edge = t
	pl.addLookup(s, l)
	s.bind(t.From)
	s.bind(t.To)
}

// probe finds the filters that determine the values of an indexed tuple. It returns nil if
// there are none.
func (pl *planner) probe(s *scope, v plan.VarID) *exec.Probe {
	t := pl.Types[v]
tuples:
	for i, tuple := range t.Tuples {
		p := &exec.Probe{Var: v, Tuple: i}
		for _, k := range tuple {
			if k < 0 || t.Props[k].Type.List {
				continue tuples
			}
			e := pl.equals(s, v, exec.PropOf(v, k), t.Props[k].Type.Kind)
			if e == nil {
				continue tuples
			}
			p.Exprs = append(p.Exprs, e)
		}
		return p
	}
	return nil
}

// addProbe adds a probe. The filters still run afterwards, because the index may propose
// entities that do not match.
func (pl *planner) addProbe(s *scope, p *exec.Probe) {
	p.Out, p.Vars = pl.frame(), slices.Clip(s.vars)
	s.pipe.Steps = append(s.pipe.Steps, p)
	s.bind(p.Var)
}
