package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Members is a step that binds a variable to the nodes whose id, key or indexed property is in a
// constant list. It looks up each element of the list. The filter with the list still runs
// afterwards.
type Members struct {
	Var     plan.VarID   // the variable that it binds
	Cond    *ir.Cond     // the condition with the list
	Tuple   int          // position of the indexed property in the tuples of the type, or -1 for the id or the key
	Vars    []plan.VarID // variables that are already bound
	ID      int          // position in matcher.frames of the frame for the result
	Instead Step         // the step that runs if the condition is dropped
}

// run implements [Step].
func (s *Members) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if s.Cond.Unless >= 0 && m.Args[s.Cond.Unless].IsNull() {
		return s.Instead.run(m, p, at, f)
	}
	table := m.Table(s.Var)
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.Var)
	list := m.Evaluator.Members(s.Cond.List)
	list = list[:max(0, len(list)-fault.Count(fault.MemberLost))]
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		// Two elements of a list can propose the same node, because equal hashes do not mean equal values.
		seen := &m.walks[s.ID]
		if s.Tuple >= 0 {
			seen.Begin(table.Ordinals())
		}
		emit := func(ord uint32) error {
			out.CopyRow(f, i, s.Vars)
			out.Cols[s.Var][out.N] = ord
			if out.N++; out.N < eval.FrameSize {
				return nil
			}
			err := m.flush(p, at, out)
			m.makeColumns(out, s.Var)
			return err
		}
		for _, v := range list {
			if err := m.Tick(1); err != nil {
				return err
			}
			if s.Tuple < 0 {
				if ord, ok := s.find(m, table, v); ok {
					if err := emit(ord); err != nil {
						return err
					}
				}
				continue
			}
			for c := table.Candidates(s.Tuple, version.HashValue(0, v)); c.Next(); {
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
func (s *Members) find(m *matcher, table *version.Table, v value.Value) (uint32, bool) {
	if s.Cond.Left.Kind == ir.ExprID || table.Type.IDProp >= 0 {
		return table.Lookup(v.Str())
	}
	m.key = table.Type.AppendKey(m.key[:0], []value.Value{v})
	return table.Lookup(string(m.key))
}

// describe implements [Step].
func (s *Members) describe(x *explainer) (name, detail string) {
	t := x.Types[s.Var]
	by := " by key "
	switch {
	case s.Cond.Left.Kind == ir.ExprID:
		by = " by id, "
	case s.Tuple >= 0:
		by = " by index "
	}
	return "lookup", t.Name + " " + x.Var(s.Var) + by + x.condition(s.Cond)
}
