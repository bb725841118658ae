package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// members is a step that binds a variable to the nodes whose id, key or indexed property is in a
// constant list. It looks up each element of the list. The filter with the list still runs
// afterwards.
type members struct {
	v       plan.VarID   // the variable that it binds
	cond    *ir.Cond     // the condition with the list
	tuple   int          // position of the indexed property in the tuples of the type, or -1 for the id or the key
	vars    []plan.VarID // variables that are already bound
	id      int          // position in matcher.frames of the frame for the result
	instead step         // the step that runs if the condition is dropped
}

// members returns a step for a filter that requires the id, the key or an indexed property of a
// node to be in a constant list. It returns nil if there is no such filter.
func (pl *planner) members(s *scope, v plan.VarID) *members {
	t := pl.Types[v]
	var best *members
	for w := range pl.filtersOn(s, v) {
		c := w.cond
		if c.List < 0 || c.Left.Kind == ir.ExprConst || c.Left.Var != v || c.Right.Type.Kind != c.Left.Type.Kind || c.Left.Type.List {
			continue
		}
		if pl.IsID(c.Left) {
			return &members{v: v, cond: c, tuple: -1}
		}
		if c.Left.Kind != ir.ExprProp {
			continue
		}
		if len(t.Key) == 1 && t.Key[0] == c.Left.Prop {
			return &members{v: v, cond: c, tuple: -1}
		}
		if i := slices.IndexFunc(t.Tuples, func(tuple []int) bool { return len(tuple) == 1 && tuple[0] == c.Left.Prop }); i >= 0 {
			best = &members{v: v, cond: c, tuple: i}
		}
	}
	return best
}

// foundIn estimates the number of nodes that the step finds if `live` nodes of the type exist.
func (e *estimator) foundIn(s *members, live float64) float64 {
	n := ir.ListLength(s.cond.Right)
	if s.tuple >= 0 {
		n *= live * ir.EqualShare
	}
	return min(live, n)
}

// costIn estimates the cost of the step in rows.
func (e *estimator) costIn(s *members, live float64) float64 {
	if s.tuple < 0 {
		return lookupCost * max(1, ir.ListLength(s.cond.Right))
	}
	return probeCost + ir.ListLength(s.cond.Right)*live*probeShare
}

// addMembers adds the step r to the pipe.
func (pl *planner) addMembers(s *scope, r *members) {
	r.id, r.vars = pl.frame(), slices.Clip(s.vars)
	r.instead = &scan{v: r.v, id: r.id, vars: r.vars}
	s.pipe.steps = append(s.pipe.steps, r)
	s.bind(r.v)
}

// run implements [step].
func (s *members) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if s.cond.Unless >= 0 && m.Args[s.cond.Unless].IsNull() {
		return s.instead.run(m, p, at, f)
	}
	table := m.Table(s.v)
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.v)
	list := m.Evaluator.Members(s.cond.List)
	list = list[:max(0, len(list)-fault.Count(fault.MemberLost))]
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		// Two elements of a list can propose the same node, because equal hashes do not mean equal values.
		seen := &m.walks[s.id]
		if s.tuple >= 0 {
			seen.Begin(table.Ordinals())
		}
		emit := func(ord uint32) error {
			out.CopyRow(f, i, s.vars)
			out.Cols[s.v][out.N] = ord
			if out.N++; out.N < eval.FrameSize {
				return nil
			}
			err := m.flush(p, at, out)
			m.makeColumns(out, s.v)
			return err
		}
		for _, v := range list {
			if err := m.Tick(1); err != nil {
				return err
			}
			if s.tuple < 0 {
				if ord, ok := s.find(m, table, v); ok {
					if err := emit(ord); err != nil {
						return err
					}
				}
				continue
			}
			for c := table.Candidates(s.tuple, version.HashValue(0, v)); c.Next(); {
				if err := m.Tick(1); err != nil {
					return err
				}
				if !table.Alive(c.Ord) || !seen.Visit(c.Ord) {
					continue
				}
				if err := m.Charge(seen); err != nil {
					return err
				}
				if err := emit(c.Ord); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}

// find looks up the node that has v as its id or its key.
func (s *members) find(m *matcher, table *version.Table, v value.Value) (uint32, bool) {
	if s.cond.Left.Kind == ir.ExprID || table.Type.IDProp >= 0 {
		return table.Lookup(v.Str())
	}
	m.key = table.Type.AppendKey(m.key[:0], []value.Value{v})
	return table.Lookup(string(m.key))
}

// describe implements [step].
func (s *members) describe(x *explainer) (name, detail string) {
	t := x.Types[s.v]
	by := " by key "
	switch {
	case s.cond.Left.Kind == ir.ExprID:
		by = " by id, "
	case s.tuple >= 0:
		by = " by index "
	}
	return "lookup", t.Name + " " + x.Var(s.v) + by + x.condition(s.cond)
}
