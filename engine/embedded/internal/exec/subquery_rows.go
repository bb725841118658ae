package exec

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// gathered is the rows that a `first` or `collect` block yields.
type gathered struct {
	rows    eval.Frame // the rows that the block yields for the present frame
	markers []uint32   // by row: its marker
	perm    []uint32   // numbers of rows, in order
	keys    []sink.SortKey
	kept    eval.Frame // the rows that become records, in order
	offsets []int32    // by outer row: its first record in `kept`; then the number of records
	window  eval.Frame // a part of the outer frame
	charged int        // bytes that the run was charged for `kept`
	once    eval.Frame // the single row of a block that uses no outer variable
	shared  eval.Frame // of such a block: the rows that become the records of each outer row, in order
}

// newGathered returns the memory for the rows of a block.
func newGathered(q *ir.Query) gathered {
	return gathered{rows: eval.Frame{Cols: make([][]uint32, q.Width())}, kept: eval.Frame{Cols: make([][]uint32, q.Width())}, shared: eval.Frame{Cols: make([][]uint32, q.Width())}}
}

// gather collects rows that a block yields. From time to time it drops the rows past the limit.
func (m *matcher) gather(s *ArrangedSubquery, run *subqueryRun, f *eval.Frame, markers []uint32) error {
	if err := m.Spend(s.RowBytes() * f.N); err != nil {
		return err
	}
	for _, v := range s.Keep {
		run.rows.Cols[v] = append(run.rows.Cols[v], f.Cols[v][:f.N]...)
	}
	run.markers = append(run.markers, markers...)
	if run.rows.N += f.N; run.rows.N < sink.PruneAt || run.rows.N/4 < s.Limit*run.window.N {
		return nil
	}
	if err := m.sortGathered(s, run); err != nil {
		return err
	}
	n := len(run.perm)
	for _, v := range s.Keep {
		run.rows.Cols[v] = permuted(run.rows.Cols[v], run.perm)
	}
	run.markers = permuted(run.markers, run.perm)
	m.Spent -= int64(s.RowBytes() * (run.rows.N - n))
	run.rows.N = n
	return nil
}

// permuted returns the elements of a list at the given positions, in new memory.
func permuted(list, at []uint32) []uint32 {
	out := make([]uint32, len(at))
	for i, p := range at {
		out[i] = list[p]
	}
	return out
}

// sortGathered puts the numbers of the gathered rows into run.perm: by marker, and then in the order of the
// block. It leaves out the rows past the limit of the block.
func (m *matcher) sortGathered(s *ArrangedSubquery, run *subqueryRun) error {
	n := run.rows.N
	taken := n * (4 + sink.SortKeyBytes*(len(s.Order)+len(s.Ties)))
	if err := m.Spend(taken); err != nil {
		return err
	}
	defer func() { m.Spent -= int64(taken) }()
	keys := run.keys[:0]
	for _, o := range s.Order {
		if o.Expr.Kind != ir.ExprConst {
			keys = append(keys, sink.SortKey{Vec: m.Eval(o.Expr, &run.rows), Desc: o.Desc})
		}
	}
	for _, t := range s.Ties {
		if t.ID != nil {
			keys = append(keys, sink.SortKey{Vec: m.Eval(t.ID, &run.rows)})
			continue
		}
		keys = append(keys, sink.IDKey(m.Evaluator, t.Var, run.rows.Cols[t.Var][:n], false))
	}
	run.keys = keys
	if m.TextErr != nil {
		return m.TextErr
	}
	run.perm = slices.Grow(run.perm[:0], n)[:n]
	for i := range run.perm {
		run.perm[i] = uint32(i)
	}
	var err error
	left := sink.CompareTick
	slices.SortFunc(run.perm, func(a, b uint32) int {
		if c := cmp.Compare(run.markers[a], run.markers[b]); c != 0 {
			return c
		}
		if left--; left < 0 {
			left = sink.CompareTick
			if err == nil {
				err = m.Tick(sink.CompareTick)
			}
		}
		for i := range keys {
			if c := keys[i].Compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	kept, same, last := run.perm[:0], 0, uint32(0)
	for i, p := range run.perm {
		if i > 0 && (run.markers[p] == last || fault.On(fault.LimitShared)) {
			same++
		} else {
			same = 0
		}
		last = run.markers[p]
		if same < s.Limit {
			kept = append(kept, p)
		}
	}
	run.perm = kept
	return err
}

// records runs the block of subquery number i for the rows of a frame, and stores the records in
// `kept` and `offsets` of the subquery's memory. The caller must have called visit.
func (m *matcher) records(i int, f *eval.Frame) error {
	s, run := m.Arranged[i], &m.subqueries[i]
	m.Spent -= int64(run.charged)
	run.charged, run.kept.N = 0, 0
	for _, v := range s.Keep {
		run.kept.Cols[v] = run.kept.Cols[v][:0]
	}
	run.offsets = append(run.offsets[:0], 0)
	if len(s.Outer) == 0 {
		return m.sharedRecords(s, run, f.N)
	}
	for first := 0; first < f.N; first += eval.FrameSize {
		part := &run.window
		part.N = min(eval.FrameSize, f.N-first)
		if part.Cols == nil {
			part.Cols = make([][]uint32, m.Width())
		}
		for _, v := range s.Outer {
			part.Cols[v] = f.Cols[v][first : first+part.N]
		}
		if err := m.recordsOf(s, run, part); err != nil {
			return err
		}
	}
	return nil
}

// sharedRecords makes the records of a block that uses no outer variable. All n outer rows have the
// same records, so the block runs once.
func (m *matcher) sharedRecords(s *ArrangedSubquery, run *subqueryRun, n int) error {
	if n == 0 {
		return nil
	}
	if !run.known {
		run.once.N, run.window.N = 1, 1
		if err := m.recordsOf(s, run, &run.once); err != nil {
			return err
		}
		if err := m.Spend(s.RowBytes() * run.kept.N); err != nil { // for the rest of the run
			return err
		}
		run.shared.N = run.kept.N
		for _, v := range s.Keep {
			run.shared.Cols[v] = append(run.shared.Cols[v][:0], run.kept.Cols[v]...)
		}
		run.known = true
		n--
	}
	for range n {
		if err := m.keepRecords(s, run, run.shared.N, func(v plan.VarID) []uint32 { return run.shared.Cols[v] }); err != nil {
			return err
		}
		run.offsets = append(run.offsets, int32(run.kept.N))
	}
	return nil
}

// recordsOf appends the records of the rows of a frame, which has at most eval.FrameSize rows.
func (m *matcher) recordsOf(s *ArrangedSubquery, run *subqueryRun, f *eval.Frame) error {
	run.rows.N, run.markers = 0, run.markers[:0]
	for _, v := range s.Keep {
		run.rows.Cols[v] = run.rows.Cols[v][:0]
	}
	if err := m.runBlock(s, f); err != nil {
		return err
	}
	if err := cmp.Or(m.sortGathered(s, run), m.TextErr); err != nil {
		return err
	}
	before := run.kept.N
	err := m.keepRecords(s, run, len(run.perm), func(v plan.VarID) []uint32 { return permuted(run.rows.Cols[v], run.perm) })
	m.Spent -= int64(s.RowBytes() * run.rows.N)
	if err != nil {
		return err
	}
	at := 0
	for marker := range f.N {
		for at < len(run.perm) && run.markers[run.perm[at]] == uint32(marker) {
			at++
		}
		run.offsets = append(run.offsets, int32(before+at))
	}
	return nil
}

// keepRecords appends n rows to the records. The function `of` returns the ordinals that a variable
// has in these rows.
func (m *matcher) keepRecords(s *ArrangedSubquery, run *subqueryRun, n int, of func(plan.VarID) []uint32) error {
	if err := m.Nest(n, s.Name); err != nil {
		return err
	}
	bytes := s.RowBytes() * n
	if err := m.Spend(bytes); err != nil {
		return err
	}
	run.charged += bytes
	for _, v := range s.Keep {
		run.kept.Cols[v] = append(run.kept.Cols[v], of(v)...)
	}
	run.kept.N += n
	return nil
}

// Nest counts n nested records of the batch. The argument `of` says for the error where they are.
func (m *matcher) Nest(n int, of string) error {
	if m.nested += n; m.nested > plan.MaxNested {
		return &tooManyRecords{engine.TooLarge{Resource: "nested records in one row, at last of " + of, Limit: plan.MaxNested, Actual: int64(m.nested),
			Hint: "lower the limit of the block, or collect fewer nodes"}}
	}
	return nil
}

// StartBatch forgets the nested records of the batch before.
func (m *matcher) StartBatch() { m.nested = 0 }

// tooManyRecords is the error for a batch whose rows have too many nested records. A batch of fewer
// rows may have few enough.
type tooManyRecords struct{ engine.TooLarge }

// Unwrap returns the error to report if the batch cannot be made smaller.
func (e *tooManyRecords) Unwrap() error { return &e.TooLarge }

// EvalMember writes a field of a block's first row into vec, once for each row of a frame,
// beginning at position `at`.
func (m *matcher) EvalMember(i int, f *eval.Frame, vec *column.Vec, at int) error {
	defer m.visit(i)()
	nested := m.nested
	err := m.records(i, f)
	m.nested = nested // these records are not part of the answer, so they do not count as nested
	if err != nil {
		return err
	}
	s, run := m.Arranged[i], &m.subqueries[i]
	ex := s.Columns[0].Value
	values := m.Eval(ex, &run.kept)
	for k := range f.N {
		if from := run.offsets[k]; from < run.offsets[k+1] {
			vec.Set(at+k, values.Value(int(from)))
		} else {
			vec.SetNull(at + k)
		}
	}
	return m.TextErr
}

// RecordsColumn returns the column of subquery number i for the rows of a frame. The column is valid until the
// subquery runs again.
func (m *matcher) RecordsColumn(c *ir.Projection, f *eval.Frame) (engine.Column, error) {
	defer m.visit(c.Rows)()
	if err := m.records(c.Rows, f); err != nil {
		return engine.Column{}, err
	}
	s, run := m.Arranged[c.Rows], &m.subqueries[c.Rows]
	out := engine.Column{Type: c.Type, Fields: make([]engine.Column, len(s.Columns))}
	for k := range s.Columns {
		var err error
		if out.Fields[k], err = m.field(&s.Columns[k], &run.kept); err != nil {
			return out, err
		}
	}
	if !s.First {
		out.Offsets = run.offsets
		return out, nil
	}
	if run.kept.N == f.N { // each row has a record
		return out, nil
	}
	out.Valid = engine.NewBitmap(f.N)
	at := make([]int32, f.N) // by row: the number of its record, or -1
	for i := range at {
		if at[i] = -1; run.offsets[i] < run.offsets[i+1] {
			at[i] = run.offsets[i]
			out.Valid.Set(i)
		}
	}
	for k := range out.Fields {
		out.Fields[k] = spread(&out.Fields[k], at)
	}
	return out, nil
}

// field returns a field of records as a column.
func (m *matcher) field(c *ir.Projection, f *eval.Frame) (engine.Column, error) {
	switch {
	case c.Rows >= 0:
		return m.RecordsColumn(c, f)
	case c.FieldExprs != nil:
		out := engine.Column{Type: c.Type, Fields: make([]engine.Column, len(c.FieldExprs))}
		for k, ex := range c.FieldExprs {
			out.Fields[k] = m.Eval(ex, f).Column
		}
		if c.FieldExprs[0].Optional {
			out.Valid = out.Fields[0].Valid
		}
		return out, m.TextErr
	}
	out := m.Eval(c.Value, f).Column
	if out.Type.Kind == value.Invalid { // a constant null has no type of its own
		var nulls column.Vec
		nulls.Reset(c.Type, f.N)
		for i := range f.N {
			nulls.SetNull(i)
		}
		out = nulls.Column
	}
	return out, m.TextErr
}

// spread returns a column with the values of c at the positions `at`, and null where a position is -1.
func spread(c *engine.Column, at []int32) engine.Column {
	if c.Fields == nil {
		var out column.Vec
		out.Reset(c.Type, len(at))
		for i, from := range at {
			if from < 0 {
				out.SetNull(i)
			} else {
				out.Set(i, c.Value(int(from)))
			}
		}
		return out.Column
	}
	out := engine.Column{Type: c.Type, Fields: make([]engine.Column, len(c.Fields))}
	inner := at
	if c.Offsets != nil {
		inner = nil
		out.Offsets = []int32{0}
		for _, from := range at {
			if from >= 0 {
				for k := c.Offsets[from]; k < c.Offsets[from+1]; k++ {
					inner = append(inner, k)
				}
			}
			out.Offsets = append(out.Offsets, int32(len(inner)))
		}
	} else {
		out.Valid = engine.NewBitmap(len(at))
		for i, from := range at {
			if from >= 0 && !c.IsNull(int(from)) {
				out.Valid.Set(i)
			}
		}
	}
	for k := range c.Fields {
		out.Fields[k] = spread(&c.Fields[k], inner)
	}
	return out
}
