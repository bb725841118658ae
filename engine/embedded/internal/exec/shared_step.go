package exec

import (
	"slices"
	"strings"

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

// describe implements [described].
func (s *scanShared) describe(x *explainer) (name, detail string) {
	names := make([]string, len(x.over[s.v].Members))
	for i, m := range x.over[s.v].Members {
		names[i] = m.Type.Name
	}
	return "scan", x.types[s.v].Name + " " + x.Var(s.v) + ": each " + strings.Join(names, ", ")
}

// identify is the step for a variable over an interface and a variable of a node type that are the same node. If
// one of the two is bound, the step binds the other. If both are, it keeps the rows in which they
// are the same node. The field `from` of the link is the variable over the interface.
type identify struct {
	traverse
	both bool // whether both variables are bound
}

// run implements [step].
func (s *identify) run(m *matcher, p *pipe, at int, f *frame) error {
	if err := m.tick(f.n); err != nil {
		return err
	}
	of := m.shared(s.From)
	k := of.of.Position(m.types[s.To])
	if k < 0 {
		return nil // the type does not implement the interface
	}
	start := of.starts[k]
	end := start + of.tables[k].Ordinals()
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.to)
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if s.back { // the variable of the node type is bound
			out.copyRow(f, i, s.vars)
			out.cols[s.From][out.n] = start + f.cols[s.To][i]
			out.n++
			continue
		}
		ord := f.cols[s.From][i]
		if ord < start || ord >= end || s.both && f.cols[s.To][i] != ord-start {
			continue
		}
		out.copyRow(f, i, s.vars)
		out.cols[s.To][out.n] = ord - start
		out.n++
	}
	return m.flush(p, at, out)
}

// describe implements [described].
func (s *identify) describe(x *explainer) (name, detail string) {
	name = "narrow"
	if s.back {
		name = "widen"
	}
	return name, x.Var(s.From) + " = " + x.Var(s.To)
}
