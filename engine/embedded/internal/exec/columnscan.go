package exec

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// ColumnScan binds the first variable of a read to entities of its type. It binds only entities with
// properties that satisfy comparisons with constants. It works on the columns block by block.
type ColumnScan struct {
	Var   plan.VarID   // the variable that it binds
	ID    int          // position in matcher.frames of the frame for the result
	Tests []columnTest // all of them must be true
	Slow  Filter       // the same conditions, for entities that are in no block
}

// columnTest is a comparison of a property with a constant.
type columnTest struct {
	cond     *ir.Cond // the condition that consists of the comparison
	prop     int      // position in the properties of the type
	op       plan.Op
	constant *ir.Expr // the constant operand
}

// columnScanner holds the working memory for the column scans of a run.
type columnScanner struct {
	block   version.Block   // reused by Table.ScanBlocks for each block of rows
	kernels []column.Kernel // by test: evaluates the comparison on a block
	order   []int           // order of the kernels, cheap ones first
	rest    []uint32        // memory for the ordinals that Table.ScanBlocks passes outside of blocks
}

// NewColumnTest returns the test for a condition. It reports false if the columns cannot be
// compared block by block.
func NewColumnTest(c *ir.Cond, v plan.VarID) (columnTest, bool) {
	t := columnTest{cond: c, op: c.Op}
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

// run implements [Step].
func (s *ColumnScan) run(m *matcher, p *Pipe, at int, _ *eval.Frame) error {
	table := m.Table(s.Var)
	w := &m.columnScanner
	r := &columnRun{s: s, m: m, p: p, at: at, out: m.frame(s.ID, nil)}
	m.makeColumns(r.out, s.Var)
	if len(w.kernels) < len(s.Tests) {
		w.kernels = make([]column.Kernel, len(s.Tests))
	}
	if w.rest == nil {
		w.rest = make([]uint32, eval.FrameSize)
	}
	for _, t := range s.Tests {
		if t.applies(m.Evaluator) && m.Constant(t.constant).IsNull() {
			return nil // a comparison with null is true for no row
		}
	}
	err := table.ScanBlocks(&w.block, w.rest, m.shareOf(p).take, r.addBlock, r.addRest)
	// Clear the references, so that the pooled memory keeps no segment alive.
	w.block.Segment = nil
	for i := range w.kernels {
		w.kernels[i].Forget()
	}
	if err != nil {
		return err
	}
	return m.flush(p, at, r.out)
}

// columnRun is a run of a ColumnScan.
type columnRun struct {
	s    *ColumnScan
	m    *matcher
	p    *Pipe
	at   int              // position of the step in the pipe
	out  *eval.Frame      // rows that are not flushed yet
	last *segment.Segment // the segment of the kernels; nil before the first block
}

// addBlock adds the rows of a block that pass the tests. The frame has room for a row before and after it.
func (r *columnRun) addBlock(b *version.Block) error {
	m, out := r.m, r.out
	if err := m.Tick(column.KernelRows / 4); err != nil {
		return err
	}
	if b.Segment != r.last {
		r.last = b.Segment
		r.s.prepare(m, r.last)
	}
	w := &m.columnScanner
	for _, k := range w.order {
		w.kernels[k].Narrow(b.First, b.Live)
	}
	for i, word := range b.Live {
		for ; word != 0; word &= word - 1 {
			out.Cols[r.s.Var][out.N] = b.Ord + uint32(i*64+bits.TrailingZeros64(word))
			if out.N++; out.N < eval.FrameSize {
				continue
			}
			if err := m.flush(r.p, r.at, out); err != nil {
				return err
			}
			m.makeColumns(out, r.s.Var)
		}
	}
	return nil
}

// addRest adds those of the entities in no block that pass the tests. It may leave the frame full, so no block may follow: ScanBlocks
// passes all blocks first.
func (r *columnRun) addRest(ords []uint32) error {
	m, out, v := r.m, r.out, r.s.Var
	if err := m.Tick(eval.FrameSize); err != nil {
		return err
	}
	if err := m.flush(r.p, r.at, out); err != nil {
		return err
	}
	m.makeColumns(out, v)
	out.N = copy(out.Cols[v], ords)
	if !r.s.Slow.keep(m, out) {
		out.N = 0
	}
	return nil
}

// applies reports whether a condition is enabled in this run.
func (t *columnTest) applies(ev *eval.Evaluator) bool {
	return t.cond.Unless < 0 || !ev.Args[t.cond.Unless].IsNull()
}

// prepare makes the kernels for a segment.
func (s *ColumnScan) prepare(m *matcher, segment *segment.Segment) {
	w := &m.columnScanner
	w.order = w.order[:0]
	for i := range s.Tests {
		t := &s.Tests[i]
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
