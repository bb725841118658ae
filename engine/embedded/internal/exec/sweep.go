package exec

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// sweep binds the first variable of a read to entities of its type. It binds only entities with
// properties that satisfy comparisons with constants. sweep works on the columns block by block.
type sweep struct {
	v     plan.VarID  // the variable that it binds
	id    int         // position in matcher.frames of the frame for the result
	tests []sweepTest // all of them must be true
	slow  filter      // the same conditions, for entities that are in no block
}

// sweepTest is a comparison of a property with a constant.
type sweepTest struct {
	cond     *ir.Cond // the condition that consists of the comparison
	prop     int      // position in the properties of the type
	op       plan.Op
	constant *ir.Expr // the constant operand
}

// sweeper holds the working memory of a run's sweeps.
type sweeper struct {
	block   version.Block   // reused by Table.Sweep for each block of rows
	kernels []column.Kernel // by test: evaluates the comparison on a block
	order   []int           // order of the kernels, cheap ones first
	rest    []uint32        // memory for the ordinals that Table.Sweep passes outside of blocks
}

// If a filter follows a scan, sweeps replaces the scan with a sweep. If the first step is a sorted
// step, the sweep becomes its fallback.
func (pl *planner) sweeps(p *pipe) {
	if len(p.steps) < 2 || p.inner {
		return
	}
	var v plan.VarID
	var id int
	var bounded *sorted
	switch first := p.steps[0].(type) {
	case *scan:
		v, id = first.v, first.id
		if len(first.vars) > 0 {
			return
		}
	case *sorted:
		v, id, bounded = first.v, first.id, first
		if len(first.vars) > 0 {
			return
		}
	default:
		return
	}
	f, ok := p.steps[1].(*filter)
	if !ok {
		return
	}
	s := &sweep{v: v, id: id, slow: filter{vars: f.vars}}
	var left []*ir.Cond
	for _, c := range f.conds {
		if t, ok := newSweepTest(c, v); ok {
			s.tests = append(s.tests, t)
			s.slow.conds = append(s.slow.conds, c)
		} else {
			left = append(left, c)
		}
	}
	if len(s.tests) == 0 {
		return
	}
	if bounded != nil {
		// The entities that the index finds must still be filtered.
		bounded.instead = s
		return
	}
	p.steps[0] = s
	if left == nil {
		p.steps = append(p.steps[:1], p.steps[2:]...)
		p.estimates = p.estimates[1:]
	} else {
		p.estimates[0] = p.estimates[1]
		p.steps[1] = &filter{conds: left, vars: f.vars}
	}
}

// newSweepTest returns the test for a condition. It reports false if the columns cannot be
// compared block by block.
func newSweepTest(c *ir.Cond, v plan.VarID) (sweepTest, bool) {
	t := sweepTest{cond: c, op: c.Op}
	if !c.Compares() {
		return t, false
	}
	left, right := c.Left, c.Right
	if left.Kind == ir.ExprConst {
		var ok bool
		if t.op, ok = scalar.Flip(c.Op); !ok {
			return t, false
		}
		left, right = right, left
	}
	if left.Kind != ir.ExprProp || left.Var != v || right.Kind != ir.ExprConst || !column.HasKernel(t.op, left.Type, right.Type) {
		return t, false
	}
	t.prop, t.constant = left.Prop, right
	return t, true
}

// run implements step.
func (s *sweep) run(m *matcher, p *pipe, at int, _ *eval.Frame) error {
	table := m.Table(s.v)
	out := m.frame(s.id, nil)
	m.makeColumns(out, s.v)
	w := &m.sweeper
	if len(w.kernels) < len(s.tests) {
		w.kernels = make([]column.Kernel, len(s.tests))
	}
	if w.rest == nil {
		w.rest = make([]uint32, eval.FrameSize)
	}
	for _, t := range s.tests {
		if t.applies(m.Evaluator) && m.Constant(t.constant).IsNull() {
			return nil
		}
	}
	var segment *version.Segment
	err := table.Sweep(&w.block, w.rest, m.shareOf(p).take, func(b *version.Block) error {
		if err := m.Tick(column.KernelRows / 4); err != nil {
			return err
		}
		if b.Segment != segment {
			segment = b.Segment
			s.prepare(m, segment)
		}
		for _, k := range w.order {
			w.kernels[k].Narrow(b.First, b.Live)
		}
		for i, word := range b.Live {
			for ; word != 0; word &= word - 1 {
				out.Cols[s.v][out.N] = b.Ord + uint32(i*64+bits.TrailingZeros64(word))
				if out.N++; out.N < eval.FrameSize {
					continue
				}
				if err := m.flush(p, at, out); err != nil {
					return err
				}
				m.makeColumns(out, s.v)
			}
		}
		return nil
	}, func(ords []uint32) error {
		if err := m.Tick(eval.FrameSize); err != nil {
			return err
		}
		if err := m.flush(p, at, out); err != nil {
			return err
		}
		m.makeColumns(out, s.v)
		out.N = copy(out.Cols[s.v], ords)
		if !s.slow.keep(m, out) {
			out.N = 0
		}
		return nil
	})
	// Clear the references, so that the pooled memory keeps no segment alive.
	w.block.Segment = nil
	for i := range w.kernels {
		w.kernels[i].Forget()
	}
	if err != nil {
		return err
	}
	return m.flush(p, at, out)
}

// applies reports whether a condition is enabled in this run.
func (t *sweepTest) applies(ev *eval.Evaluator) bool {
	return t.cond.Unless < 0 || !ev.Args[t.cond.Unless].IsNull()
}

// prepare makes the kernels for a segment.
func (s *sweep) prepare(m *matcher, segment *version.Segment) {
	w := &m.sweeper
	w.order = w.order[:0]
	for i := range s.tests {
		t := &s.tests[i]
		if !t.applies(m.Evaluator) {
			continue
		}
		w.kernels[i].Prepare(segment.Props[t.prop], t.op, m.Constant(t.constant))
		w.order = append(w.order, i)
		for k := len(w.order) - 1; k > 0 && w.kernels[i].Cost() < w.kernels[w.order[k-1]].Cost(); k-- {
			w.order[k], w.order[k-1] = w.order[k-1], w.order[k]
		}
	}
}
