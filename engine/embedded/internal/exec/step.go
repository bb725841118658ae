package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Pipe is a sequence of steps. Each step pushes frames of rows to the next one.
type Pipe struct {
	Steps []Step // in the order in which rows pass them
	Inner bool   // belongs to a block inside the match, but not to an `optional` block
	// Optional is the step with the block that the pipe belongs to; nil for other blocks.
	Optional *OptionalStep
	// Subquery is the subquery whose block the pipe runs. It is nil if the block belongs to no
	// subquery.
	Subquery *ArrangedSubquery
	Splits   bool    // the pipe can run on several processors
	Work     float64 // estimated cost of a run, if Splits is set
	Counts   counter // the last step, if the read only counts its rows; else nil
	// Estimates holds the estimated number of rows that each step yields, for Explain.
	Estimates []float64
}

// Step processes the rows of a frame and pushes the resulting rows on. A frame belongs to
// the step that it is pushed to: that step may remove rows from it.
type Step interface {
	run(m *matcher, p *Pipe, at int, f *eval.Frame) error
	// describe returns the name of the operator for the step, and the things that the step works on.
	describe(x *explainer) (name, detail string)
}

// counter is a step that can count the rows that it would push, without making them. The
// frame must not belong to a `not` block.
type counter interface {
	Step
	count(m *matcher, f *eval.Frame) (int, error)
}

// Scan binds a variable to each entity of its type.
type Scan struct {
	Var  plan.VarID   // the variable that it binds
	Vars []plan.VarID // already bound
	ID   int          // position in matcher.frames of the frame for the result
}

// run implements [Step].
func (s *Scan) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	table := m.Table(s.Var)
	out := m.frame(s.ID, s.Vars)
	m.column(out, s.Var)
	if p.Splits {
		return s.inUnits(m, p, at, out)
	}
	for i := range f.N {
		for next := uint32(0); next < table.Ordinals() && !f.IsDone(i); {
			if err := m.Tick(int(min(eval.FrameSize, table.Ordinals()-next))); err != nil {
				return err
			}
			n, more := table.Scan(next, out.Cols[s.Var][out.N:eval.FrameSize])
			next = more
			if len(s.Vars) == 0 && f.Found == nil {
				out.N += n
			} else {
				out.Repeat(f, i, s.Vars, n)
			}
			if out.N == eval.FrameSize {
				if err := m.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return m.flush(p, at, out)
}

// inUnits binds the variable to the entities of the units that the goroutine takes. Before the first step there is a single
// row without variables.
func (s *Scan) inUnits(m *matcher, p *Pipe, at int, out *eval.Frame) error {
	table := m.Table(s.Var)
	take := m.shareOf(p).take
	for from, to := range units(table) {
		if !take() {
			continue
		}
		for next := from; next < to; {
			if err := m.Tick(eval.FrameSize); err != nil {
				return err
			}
			out.N, next = table.ScanTo(next, to, out.Cols[s.Var][:eval.FrameSize])
			if err := m.flush(p, at, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// Filter keeps the rows for which every condition is true.
type Filter struct {
	Conds []*ir.Cond   // all of them must be true
	Vars  []plan.VarID // variables that are already bound
}

// run implements [Step].
func (s *Filter) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if !s.keep(m, f) {
		return nil
	}
	return m.push(p, at+1, f)
}

// keep removes from a frame the rows that fail a condition. It reports whether any row is left.
func (s *Filter) keep(m *matcher, f *eval.Frame) bool {
	for _, c := range s.Conds {
		if c.Unless >= 0 && m.Args[c.Unless].IsNull() {
			continue
		}
		if m.Chosen = m.Test(c, f, m.Chosen[:0]); len(m.Chosen) == 0 {
			return false
		}
		f.Choose(m.Chosen, s.Vars)
	}
	return true
}

// IDFilter keeps the rows in which the entity has a given id or, if the field Not is set, a
// different id. It looks the id up once, instead of reading the id of each row.
type IDFilter struct {
	Var  plan.VarID   // the variable of the entity
	ID   *ir.Expr     // constant during a run
	Not  bool         // keep the rows with a different id
	Cond *ir.Cond     // the condition that it replaces
	Vars []plan.VarID // variables that are already bound
}

// run implements [Step].
func (s *IDFilter) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	id := m.Constant(s.ID)
	if id.IsNull() {
		return nil // no comparison with null is true
	}
	ord, ok := m.Table(s.Var).Lookup(id.Str())
	if !ok {
		if s.Not {
			return m.push(p, at+1, f)
		}
		return nil
	}
	rows := m.Chosen[:0]
	for i, o := range f.Cols[s.Var][:f.N] {
		if (o == ord) != s.Not {
			rows = append(rows, uint32(i))
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.Vars)
	return m.push(p, at+1, f)
}
