package exec

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
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
func (s *scanShared) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	of := m.Shared(s.v)
	tables := of.Tables
	if len(tables) > 1 {
		tables = tables[:len(tables)-fault.Count(fault.TypeLost)]
	}
	out := m.frame(s.id, s.vars)
	m.column(out, s.v)
	for i := range f.N {
		for k, table := range tables {
			for next := uint32(0); next < table.Ordinals() && !f.IsDone(i); {
				if err := m.Tick(int(min(eval.FrameSize, table.Ordinals()-next))); err != nil {
					return err
				}
				from := out.N
				n, more := table.Scan(next, out.Cols[s.v][from:eval.FrameSize])
				next = more
				out.Repeat(f, i, s.vars, n)
				for j := range out.Cols[s.v][from : from+n] {
					out.Cols[s.v][from+j] += of.Starts[k]
				}
				if out.N == eval.FrameSize {
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
func (s *identify) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if err := m.Tick(f.N); err != nil {
		return err
	}
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.to)
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if s.back {
			typ, local := m.Referent(s.To, f.Cols[s.To][i])
			if ord, ok := m.Widened(s.From, typ, local); ok {
				out.CopyRow(f, i, s.vars)
				out.Cols[s.From][out.N] = ord
				out.N++
			}
			continue
		}
		ord, ok := m.Narrowed(s.From, f.Cols[s.From][i], m.Types[s.To])
		if !ok || s.both && f.Cols[s.To][i] != ord {
			continue
		}
		out.CopyRow(f, i, s.vars)
		out.Cols[s.To][out.N] = ord
		out.N++
	}
	return m.flush(p, at, out)
}

// describe implements [step].
func (s *identify) describe(x *explainer) (name, detail string) {
	name = "narrow"
	if s.back {
		name = "widen"
	}
	return name, x.Var(s.From) + " = " + x.Var(s.To)
}
