package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// ScanShared binds a variable over an interface to each node of the types that implement the interface.
type ScanShared struct {
	Var  plan.VarID   // the variable that it binds
	Vars []plan.VarID // already bound
	ID   int          // position in matcher.frames of the frame for the result
}

// run implements [Step]. With the build tag fault_types it leaves out the last of several types.
func (s *ScanShared) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	of := m.Shared(s.Var)
	tables := of.Tables
	if len(tables) > 1 {
		tables = tables[:len(tables)-fault.Count(fault.TypeLost)]
	}
	out := m.frame(s.ID, s.Vars)
	m.column(out, s.Var)
	for i := range f.N {
		for k, table := range tables {
			for next := uint32(0); next < table.Ordinals() && !f.IsDone(i); {
				if err := m.Tick(int(min(eval.FrameSize, table.Ordinals()-next))); err != nil {
					return err
				}
				from := out.N
				n, more := table.Scan(next, out.Cols[s.Var][from:eval.FrameSize])
				next = more
				out.Repeat(f, i, s.Vars, n)
				for j := range out.Cols[s.Var][from : from+n] {
					out.Cols[s.Var][from+j] += of.Starts[k]
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

// describe implements [Step].
func (s *ScanShared) describe(x *explainer) (name, detail string) {
	names := make([]string, len(x.Over[s.Var].Members))
	for i, m := range x.Over[s.Var].Members {
		names[i] = m.Type.Name
	}
	return "scan", x.Types[s.Var].Name + " " + x.Var(s.Var) + ": each " + strings.Join(names, ", ")
}

// Identify is the step for two variables that are the same node: `From` of an interface or a node type, and `To` of a
// node type or a reference type. If one of the two is bound, the step binds the other. If both are, it keeps the rows in
// which they are the same node.
type Identify struct {
	Traversal
	Both bool // whether both variables are bound
}

// run implements [Step].
func (s *Identify) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if err := m.Tick(f.N); err != nil {
		return err
	}
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.Far)
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if s.Back {
			typ, local := m.Referent(s.To, f.Cols[s.To][i])
			if ord, ok := m.Widened(s.From, typ, local); ok {
				out.CopyRow(f, i, s.Vars)
				out.Cols[s.From][out.N] = ord
				out.N++
			}
			continue
		}
		ord, ok := m.Narrowed(s.From, f.Cols[s.From][i], m.Types[s.To])
		if !ok || s.Both && f.Cols[s.To][i] != ord {
			continue
		}
		out.CopyRow(f, i, s.Vars)
		out.Cols[s.To][out.N] = ord
		out.N++
	}
	return m.flush(p, at, out)
}

// describe implements [Step].
func (s *Identify) describe(x *explainer) (name, detail string) {
	name = "narrow"
	if s.Back {
		name = "widen"
	}
	return name, x.Var(s.From) + " = " + x.Var(s.To)
}
