package exec

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Options configure a run of a program.
type Options struct {
	Now    value.Value // the instant of the query, a DateTime
	Memory int64       // bytes that the run may use; 0 for no limit
	Shared *Memory     // limit for all runs together; nil for no limit
	// Embedder computes the vectors of the texts given to nearest; nil for none.
	Embedder Embedder
	// Analyze enables counting the rows and times of the steps, see Result.Explain.
	Analyze bool
}

// Result is the result of a run. It holds the snapshot until it is closed.
type Result struct {
	st   *state // nil once closed
	prog *Program
	id   string
	next int // in st.perm
}

// Run runs the program on a snapshot for which Fits is true. The caller must have checked
// the arguments. The error is the context's, a *engine.TooLarge, a *engine.Busy, a
// *engine.BadArgument, or the error of a text that cannot be embedded.
func (p *Program) Run(ctx context.Context, snap *version.Snapshot, args engine.Args, opts Options) (*Result, error) {
	st := p.pool.Get().(*state)
	st.begin(ctx, snap, args, opts)
	whole := false
	defer func() {
		if !whole { // the stored data is corrupt; drop the state
			st.release()
		}
	}()
	if err := st.match(); err != nil {
		whole = true
		st.end()
		return nil, err
	}
	done := st.prof.phase(sorting)
	if err := st.finish(); err != nil {
		whole = true
		st.end()
		return nil, err
	}
	done()
	whole = true
	if st.prof != nil {
		st.prof.grouped = st.grouped
	}
	st.ctx = nil
	return &Result{st: st, prog: p, id: snap.Commit.ID}, nil
}

// match runs the steps.
func (st *state) match() error {
	if err := st.beginRanking(); err != nil || st.read.Limit == 0 {
		return err
	}
	st.unit = frame{n: 1, cols: st.out.cols}
	if err := st.push(st.body, 0, &st.unit); err != nil {
		return err
	}
	err := st.fuse()
	return cmp.Or(st.textErr, err)
}

// Columns returns the plan's columns.
func (r *Result) Columns() []plan.Column { return r.prog.read.Columns }

// Commit returns the id of the commit that the run reads.
func (r *Result) Commit() string { return r.id }

// Next returns the next batch, or nil at the end; see [engine.Result].
func (r *Result) Next(ctx context.Context) (_ *engine.Batch, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	st := r.st
	if st == nil || r.next == len(st.perm) {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st.ctx = ctx
	defer func() { st.ctx = nil }()
	if st.prof != nil {
		defer st.prof.phase(returning)()
	}
	n := min(frameSize, len(st.perm)-r.next)
	rows := st.perm[r.next : r.next+n]
	r.next += n
	for _, v := range st.keep {
		if cap(st.out.cols[v]) < n {
			st.out.cols[v] = make([]uint32, n, max(n, 16))
		}
		out, from := st.out.cols[v][:n], st.rows.cols[v]
		if len(from) == 0 {
			continue // the single row of aggregates over no rows
		}
		for i, row := range rows {
			out[i] = from[row]
		}
		st.out.cols[v] = out
	}
	st.out.n = n
	for i := range st.Program.columns {
		c, vec := &st.Program.columns[i], &st.outVecs[i]
		switch {
		case c.fields != nil:
			for k, ex := range c.fields {
				st.columns[i].Fields[k] = st.eval(ex, &st.out).Column
			}
			st.columns[i].Type = c.Type
			continue
		case c.agg >= 0:
			st.result(c.agg, rows, vec)
			st.columns[i] = vec.Column
		case c.ex.kind == exprConst:
			st.constantColumn(c.Type, c.ex, n, vec)
			st.columns[i] = vec.Column
		default:
			st.columns[i] = st.eval(c.ex, &st.out).Column
		}
	}
	if st.textErr != nil {
		return nil, st.textErr
	}
	st.batch = engine.Batch{Len: n, Columns: st.columns}
	return &st.batch, nil
}

// Skip skips up to n of the remaining rows without computing them, and returns the number
// of rows skipped.
func (r *Result) Skip(n int) int {
	if r.st == nil || n <= 0 {
		return 0
	}
	n = min(n, len(r.st.perm)-r.next)
	r.next += n
	return n
}

// Close releases the result.
func (r *Result) Close() error {
	if r.st != nil {
		r.st.end()
		r.st = nil
	}
	return nil
}

// constantColumn fills vec with n copies of a constant. A null has no type of its own, so
// it gets the column's type t.
func (st *state) constantColumn(t value.Type, e *expr, n int, vec *column.Vec) {
	if e.typ.Kind != value.Invalid {
		t = e.typ
	}
	vec.Reset(t, n)
	v := st.constant(e)
	for i := range n {
		vec.Set(i, v)
	}
}
