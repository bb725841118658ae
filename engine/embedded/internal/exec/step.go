package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// step processes the rows of a frame and pushes the resulting rows on. A frame belongs to
// the step that it is pushed to: that step may remove rows from it.
type step interface {
	run(m *matcher, p *pipe, at int, f *eval.Frame) error
	// describe returns the name of the operator for the step, and the things that the step works on.
	describe(x *explainer) (name, detail string)
}

// counter is a step that can count the rows that it would push, without making them. The
// frame must not belong to a `not` block.
type counter interface {
	step
	count(m *matcher, f *eval.Frame) (int, error)
}

// scan binds a variable to each entity of its type.
type scan struct {
	v    plan.VarID   // the variable that it binds
	vars []plan.VarID // already bound
	id   int          // position in matcher.frames of the frame for the result
}

// addScan adds a step that binds v to every entity of its type.
func (pl *planner) addScan(s *scope, v plan.VarID) {
	s.pipe.steps = append(s.pipe.steps, &scan{v: v, id: pl.frame(), vars: slices.Clip(s.vars)})
	s.bind(v)
}

// run implements step.
func (s *scan) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	table := m.Table(s.v)
	out := m.frame(s.id, s.vars)
	m.column(out, s.v)
	if p.splits {
		return s.inUnits(m, p, at, out)
	}
	for i := range f.N {
		for next := uint32(0); next < table.Ordinals() && !f.IsDone(i); {
			if err := m.Tick(int(min(eval.FrameSize, table.Ordinals()-next))); err != nil {
				return err
			}
			n, more := table.Scan(next, out.Cols[s.v][out.N:eval.FrameSize])
			next = more
			if len(s.vars) == 0 && f.Found == nil {
				out.N += n
			} else {
				out.Repeat(f, i, s.vars, n)
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
func (s *scan) inUnits(m *matcher, p *pipe, at int, out *eval.Frame) error {
	table := m.Table(s.v)
	take := m.shareOf(p).take
	for from, to := range units(table) {
		if !take() {
			continue
		}
		for next := from; next < to; {
			if err := m.Tick(eval.FrameSize); err != nil {
				return err
			}
			out.N, next = table.ScanTo(next, to, out.Cols[s.v][:eval.FrameSize])
			if err := m.flush(p, at, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// filter keeps the rows for which every condition is true.
type filter struct {
	conds []*ir.Cond   // all of them must be true
	vars  []plan.VarID // variables that are already bound
}

// run implements step.
func (s *filter) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if !s.keep(m, f) {
		return nil
	}
	return m.push(p, at+1, f)
}

// keep removes from a frame the rows that fail a condition. It reports whether any row is left.
func (s *filter) keep(m *matcher, f *eval.Frame) bool {
	for _, c := range s.conds {
		if c.Unless >= 0 && m.Args[c.Unless].IsNull() {
			continue
		}
		if m.Chosen = m.Test(c, f, m.Chosen[:0]); len(m.Chosen) == 0 {
			return false
		}
		f.Choose(m.Chosen, s.vars)
	}
	return true
}

// idFilter keeps the rows in which the entity has a given id or, if the field `not` is set, a
// different id. It looks the id up once, instead of reading the id of each row.
type idFilter struct {
	v    plan.VarID   // the variable of the entity
	id   *ir.Expr     // constant during a run
	not  bool         // keep the rows with a different id
	cond *ir.Cond     // the condition that it replaces
	vars []plan.VarID // variables that are already bound
}

// idCond returns the filter for a condition on an id. It returns nil for other conditions.
func (pl *planner) idCond(c *ir.Cond) *idFilter {
	if !c.Compares() || c.Unless != plan.NoParam || c.Op != plan.Eq && c.Op != plan.Ne || c.Left.Optional || c.Right.Optional {
		return nil
	}
	left, right := c.Left, c.Right
	if left.Kind == ir.ExprConst {
		left, right = right, left
	}
	if right.Kind != ir.ExprConst || right.Type.Kind != value.String || right.Type.List || !pl.IsID(left) {
		return nil
	}
	return &idFilter{v: left.Var, id: right, not: c.Op == plan.Ne, cond: c}
}

// run implements step.
func (s *idFilter) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	id := m.Constant(s.id)
	if id.IsNull() {
		return nil // no comparison with null is true
	}
	ord, ok := m.Table(s.v).Lookup(id.Str())
	if !ok {
		if s.not {
			return m.push(p, at+1, f)
		}
		return nil
	}
	rows := m.Chosen[:0]
	for i, o := range f.Cols[s.v][:f.N] {
		if (o == ord) != s.not {
			rows = append(rows, uint32(i))
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.vars)
	return m.push(p, at+1, f)
}
