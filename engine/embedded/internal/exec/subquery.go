package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ArrangedSubquery is a subquery whose block is arranged into steps.
type ArrangedSubquery struct {
	*ir.Subquery
	Inner *Pipe        // the steps of the block
	Needs []plan.VarID // optional variables from outside the block; if one of them is null, the block has no match
	Row   plan.VarID   // additional variable of the block; its value is the marker of a row
	In    int          // position of the block's input in matcher.frames
	ID    int          // position in matcher.subqueries
}

// subqueryRun is the memory of a subquery in one run.
type subqueryRun struct {
	sum    sink.Accumulator // of a BlockAgg: its value, by marker
	known  bool             // `value` or `shared` is set
	value  value.Value      // of a BlockAgg that uses no outer variable
	chosen []uint32         // the memory for rows that the steps choose
	part   eval.Frame       // see eval.Evaluator.window
	gathered
}

// visit prepares the evaluation of subquery number i, and returns a function that ends the
// evaluation. Until then, the steps of the block use the memory of the subquery, not the memory of
// the step that evaluates the subquery.
func (m *matcher) visit(i int) (done func()) {
	run := &m.subqueries[i]
	chosen, part, visiting := m.Chosen, m.Part, m.Visiting
	m.Chosen, m.Part, m.Visiting = run.chosen, &run.part, m.Query.Subqueries[i]
	return func() {
		run.chosen = m.Chosen
		m.Chosen, m.Part, m.Visiting = chosen, part, visiting
	}
}

// runBlock runs the block of a subquery for the rows of a frame, which has at most eval.FrameSize rows. It calls
// m.yielded for the rows that the block yields.
func (m *matcher) runBlock(s *ArrangedSubquery, f *eval.Frame) error {
	if err := m.Tick(1 + f.N); err != nil {
		return err
	}
	in := m.frame(s.In, s.Outer)
	m.column(in, s.Row)
	for i := range f.N {
		if f.IsNull(s.Needs, i) || fault.On(fault.RowDropped) && i > 0 && i == f.N-1 {
			continue
		}
		for _, v := range s.Outer {
			in.Cols[v][in.N] = f.Cols[v][i]
		}
		in.Cols[s.Row][in.N] = uint32(i)
		in.N++
	}
	return m.push(s.Inner, 0, in)
}

// yielded adds the rows that the block of a subquery yields to the subquery's aggregate or to its
// gathered rows.
func (m *matcher) yielded(s *ArrangedSubquery, f *eval.Frame) error {
	run := &m.subqueries[s.ID]
	markers := f.Cols[s.Row][:f.N]
	if s.BlockRows == nil {
		return run.sum.Accumulate(m.Evaluator, &s.Agg, f, markers)
	}
	return m.gather(s, run, f, markers)
}

// EvalBlockAgg writes the values of an aggregate over a block for the rows of a frame into vec, beginning at
// position `at`.
func (m *matcher) EvalBlockAgg(i int, f *eval.Frame, vec *column.Vec, at int) error {
	defer m.visit(i)()
	s, run := m.Arranged[i], &m.subqueries[i]
	if len(s.Outer) > 0 {
		return m.totals(s, f, vec, at)
	}
	if !run.known {
		var once column.Vec
		once.Reset(s.Agg.Type, 1)
		if err := m.totals(s, &eval.Frame{N: 1}, &once, 0); err != nil {
			return err
		}
		run.value, run.known = once.Value(0), true
	}
	for k := range f.N {
		vec.Set(at+k, run.value)
	}
	return nil
}

// totals runs the block of an aggregate, and writes the values for the rows of a frame into vec, beginning at
// position `at`.
func (m *matcher) totals(s *ArrangedSubquery, f *eval.Frame, vec *column.Vec, at int) error {
	sum := &m.subqueries[s.ID].sum
	sum.Reset()
	for range f.N {
		sum.Grow()
	}
	if err := m.runBlock(s, f); err != nil {
		return err
	}
	for i := range f.N {
		m.FailOn(sum.Put(vec, at+i, uint32(i)))
	}
	m.Spent -= int64(sum.Spent())
	sum.Reset()
	return m.TextErr
}

// newSubqueryRuns returns the memory for the subqueries of a query.
func newSubqueryRuns(q *ir.Query) []subqueryRun {
	runs := make([]subqueryRun, len(q.Subqueries))
	for i, s := range q.Subqueries {
		if s.BlockRows == nil {
			runs[i].sum = sink.NewAccumulator(&s.Agg, q.KeepsText(s.Agg.Expr))
		} else {
			runs[i].gathered = newGathered(q)
		}
	}
	return runs
}

// begin prepares the memory of a subquery for a new run.
func (r *subqueryRun) begin() {
	r.charged = 0
	if !fault.On(fault.ValueKept) {
		r.known = false
	}
}

// end drops the values that a pooled run must not keep alive.
func (r *subqueryRun) end() {
	r.value = value.Null
	clear(r.keys)
	if r.sum.Counts != nil {
		r.sum.Reset()
	}
}

// explainSubquery returns the operator of a subquery. The parameter `rows` is the estimated number of rows for
// which the run evaluates it.
func (x *explainer) explainSubquery(i int, rows float64) *engine.Operator {
	s := x.Arranged[i]
	if len(s.Outer) == 0 {
		rows = 1
	}
	name := "collect"
	switch e := s.Src.(type) {
	case plan.BlockAgg:
		name = e.Func.String()
	case plan.BlockRows:
		if e.First {
			name = "first"
		}
	}
	op := &engine.Operator{Name: name + " block", Estimate: rows}
	if inner, _ := x.pipe(s.Inner, nil); inner != nil {
		op.Children = append(op.Children, inner)
	}
	var parts []*ir.Expr
	if s.Agg.Expr != nil {
		parts = append(parts, s.Agg.Expr)
	}
	if s.BlockRows != nil {
		for i := range s.Columns {
			op.Children = append(op.Children, x.explainColumn(&s.Columns[i], rows)...)
		}
		for _, o := range s.Order {
			parts = append(parts, o.Expr)
		}
	}
	for _, e := range parts {
		op.Children = append(op.Children, x.explainHoldings(e, rows)...)
	}
	if x.prof != nil {
		x.measure(op, x.prof.of(s.Inner, len(s.Inner.Steps)).rows, 0)
	}
	return op
}

// explainColumn returns the operators of the blocks within a column.
func (x *explainer) explainColumn(c *ir.Projection, rows float64) []*engine.Operator {
	if c.Rows >= 0 {
		return []*engine.Operator{x.explainSubquery(c.Rows, rows)}
	}
	return x.explainHoldings(c.Value, rows)
}
