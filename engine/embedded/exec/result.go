package exec

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Options say how to run a program.
type Options struct {
	Now    value.Value // the instant of the query, a DateTime
	Pool   *Pool       // of memory that all queries share; nil for no bound
	Memory int64       // bytes that the collected rows may take; 0 for no limit
	// Embedder computes the vectors of texts that nearest is given; nil for none.
	Embedder Embedder
	// Analyze counts the rows and times of the steps, see Result.Explain.
	Analyze bool
}

// Result is the outcome of a run. It holds the snapshot until it is closed.
type Result struct {
	st   *state // nil once closed
	prog *Program
	id   string
	next int // in st.perm
}

// Run runs the program on a snapshot that it fits. The arguments have been checked.
// The error is the context's,
// a *engine.TooLarge, a *engine.BadArgument, or of a text that cannot be embedded.
func (p *Program) Run(ctx context.Context, snap *version.Snapshot, args engine.Args, opts Options) (*Result, error) {
	st := p.pool.Get().(*state)
	st.begin(ctx, snap, args, opts)
	if err := st.match(); err != nil {
		st.end()
		return nil, err
	}
	done := st.prof.phase(sorting)
	if err := st.finish(); err != nil {
		st.end()
		return nil, err
	}
	done()
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

// Columns are the plan's columns.
func (r *Result) Columns() []plan.Column { return r.prog.read.Columns }

// Commit is the id of the commit that was read.
func (r *Result) Commit() string { return r.id }

// Next returns the next batch, or nil at the end; see [engine.Result].
func (r *Result) Next(ctx context.Context) (_ *engine.Batch, err error) {
	defer damage.Catch(damage.Watch(), &err)
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
			continue // the one row of aggregates over nothing
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

// Skip passes over up to n rows of those that are left without computing them, and
// returns how many they were.
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

// constantColumn repeats a constant, in the column's type: a null has none of its own.
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
