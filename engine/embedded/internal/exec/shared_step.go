package exec

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// scanShared binds a variable over an interface to each node of the types that implement the interface.
type scanShared struct {
	v    plan.VarID   // the variable that it binds
	vars []plan.VarID // already bound
	id   int          // position in matcher.frames of the frame for the result
}

// addScanShared adds a step that binds v to every node of its interface.
func (pl *planner) addScanShared(s *scope, v plan.VarID) {
	s.pipe.steps = append(s.pipe.steps, &scanShared{v: v, id: pl.frame(), vars: slices.Clip(s.vars)})
	s.bind(v)
}

// run implements step. With the build tag fault_types it leaves out the last of several types.
func (s *scanShared) run(m *matcher, p *pipe, at int, f *frame) error {
	of := m.shared(s.v)
	tables := of.tables
	if len(tables) > 1 {
		tables = tables[:len(tables)-fault.Count(fault.TypeLost)]
	}
	out := m.frame(s.id, s.vars)
	m.column(out, s.v)
	for i := range f.n {
		for k, table := range tables {
			for next := uint32(0); next < table.Ordinals() && !f.isDone(i); {
				if err := m.tick(int(min(frameSize, table.Ordinals()-next))); err != nil {
					return err
				}
				from := out.n
				n, more := table.Scan(next, out.cols[s.v][from:frameSize])
				next = more
				out.repeat(f, i, s.vars, n)
				for j := range out.cols[s.v][from : from+n] {
					out.cols[s.v][from+j] += of.starts[k]
				}
				if out.n == frameSize {
					if err := m.flush(p, at, out); err != nil {
						return err
					}
				}
			}
		}
	}
	return m.flush(p, at, out)
}

// describe implements [step].
func (s *scanShared) describe(x *explainer) (name, detail string) {
	names := make([]string, len(x.Over[s.v].Members))
	for i, m := range x.Over[s.v].Members {
		names[i] = m.Type.Name
	}
	return "scan", x.Types[s.v].Name + " " + x.Var(s.v) + ": each " + strings.Join(names, ", ")
}

// identify is the step for two variables that are the same node: `From` of an interface or a node type, and `To` of a
// node type or a reference type. If one of the two is bound, the step binds the other. If both are, it keeps the rows in
// which they are the same node.
type identify struct {
	traverse
	both bool // whether both variables are bound
}

// run implements [step].
func (s *identify) run(m *matcher, p *pipe, at int, f *frame) error {
	if err := m.tick(f.n); err != nil {
		return err
	}
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.to)
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if s.back {
			typ, local := m.referent(s.To, f.cols[s.To][i])
			if ord, ok := m.widened(s.From, typ, local); ok {
				out.copyRow(f, i, s.vars)
				out.cols[s.From][out.n] = ord
				out.n++
			}
			continue
		}
		ord, ok := m.narrowed(s.From, f.cols[s.From][i], m.Types[s.To])
		if !ok || s.both && f.cols[s.To][i] != ord {
			continue
		}
		out.copyRow(f, i, s.vars)
		out.cols[s.To][out.n] = ord
		out.n++
	}
	return m.flush(p, at, out)
}

// narrowed returns the ordinal in the table of type t, a node type or a reference type, for the node that a variable
// stands for. It reports false if there is none.
func (ev *evaluator) narrowed(v plan.VarID, ord uint32, t *version.Type) (uint32, bool) {
	typ := ev.Types[v]
	if s := ev.shared(v); s != nil {
		var k int
		k, ord = s.place(ord)
		typ = s.of.Members[k].Type
		if t.Of != nil && k > 0 && k == len(s.of.Members)-1 && fault.On(fault.EndLost) {
			return 0, false
		}
	}
	if t.Of == nil {
		return ord, typ == t
	}
	return ev.snap.ReferenceTo(t, typ, ord)
}

// referent returns the node that a variable of a node type or a reference type stands for: its type, and its ordinal
// in the table of that type.
func (ev *evaluator) referent(v plan.VarID, ord uint32) (*version.Type, uint32) {
	if t := ev.Types[v]; t.Of == nil {
		return t, ord
	}
	return ev.snap.Referent(ev.Types[v], ord)
}

// widened returns the ordinal of a variable of an interface or a node type for a node. It reports false if the variable
// cannot stand for the node.
func (ev *evaluator) widened(v plan.VarID, typ *version.Type, ord uint32) (uint32, bool) {
	s := ev.shared(v)
	if s == nil {
		return ord, typ == ev.Types[v]
	}
	k := s.of.Position(typ)
	if k < 0 {
		return 0, false
	}
	return s.starts[k] + ord, true
}

// describe implements [step].
func (s *identify) describe(x *explainer) (name, detail string) {
	name = "narrow"
	if s.back {
		name = "widen"
	}
	return name, x.Var(s.From) + " = " + x.Var(s.To)
}
