package exec

import (
	"cmp"
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Result is the result of a run. It holds the snapshot until it is closed.
type Result struct {
	run  *run     // nil once closed
	prog *Program // the program that ran
	id   string   // id of the commit that was read
	next int      // index of the next row in the collector's perm
	more bool     // the limit cut rows off
	size int16    // number of rows to try for the next batch; 0 for eval.FrameSize
}

// Columns returns the plan's columns.
func (r *Result) Columns() []plan.Column { return r.prog.Read.Columns }

// Commit returns the id of the commit that the run reads.
func (r *Result) Commit() string { return r.id }

// Next returns the next batch, or nil at the end; see [engine.Result].
func (r *Result) Next(ctx context.Context) (*engine.Batch, error) {
	if r.run == nil || r.next == len(r.run.collector.perm) {
		return nil, nil // the end of a result costs next to nothing
	}
	return r.nextBatch(ctx)
}

// nextBatch returns the next batch. REQUIRES: there are more rows.
func (r *Result) nextBatch(ctx context.Context) (_ *engine.Batch, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ev := &r.run.evaluator
	ev.Ctx = ctx
	defer func() { ev.Ctx = nil }()
	if prof := r.run.matcher.prof; prof != nil {
		defer prof.phase(returning)()
	}
	size := cmp.Or(int(r.size), eval.FrameSize)
	for n := min(size, len(r.run.collector.perm)-r.next); ; n /= 2 {
		first := r.next
		if fault.On(fault.PageRestarts) {
			first = 0
		}
		batch, err := r.run.output.batchOf(r.run.collector.perm[first : first+n])
		var many *tooManyRecords
		if err != nil {
			many = asTooMany(err)
		}
		switch {
		case many == nil:
			if r.next += n; r.run.matcher.nested < plan.MaxNested/4 {
				size = min(2*size, eval.FrameSize)
			}
			r.size = int16(size)
			return batch, err
		case n == 1:
			return nil, &many.TooLarge
		}
		size = n / 2
	}
}

// asTooMany returns the *tooManyRecords in an error, or nil. It is apart from Next because errors.As takes memory.
func asTooMany(err error) *tooManyRecords {
	var many *tooManyRecords
	errors.As(err, &many)
	return many
}

// Skip skips up to n of the remaining rows without computing them, and returns the number
// of rows skipped.
func (r *Result) Skip(n int) int {
	if r.run == nil || n <= 0 {
		return 0
	}
	n = min(n, len(r.run.collector.perm)-r.next)
	r.next += n - min(n, fault.Count(fault.PageOverlaps))
	return n
}

// More reports whether the read's own limit cut rows off; see [engine.Result].
func (r *Result) More() bool { return r.more }

// Close releases the result.
func (r *Result) Close() error {
	if r.run != nil {
		r.run.end()
		r.run = nil
	}
	return nil
}

// output makes batches of the collected rows.
type output struct {
	*eval.Evaluator
	from *collector // holds the collected rows
	// lone is the variable of the lookup, if the field firstLookup.single of the program is set; else NoVar.
	lone    plan.VarID
	rows    eval.Frame      // rows of the batch
	batch   engine.Batch    // the current batch; its memory is reused
	columns []engine.Column // the columns of the batch
	vecs    []column.Vec    // for the columns that have no vector in the evaluator
	charged int             // bytes that the run was charged for the lists of nodes in the batch
}

// newOutput returns an output of the rows in `from`; for `lone` see output.lone.
func newOutput(ev *eval.Evaluator, from *collector, lone plan.VarID) output {
	o := output{Evaluator: ev, from: from, lone: lone, columns: make([]engine.Column, len(ev.Columns)), vecs: make([]column.Vec, len(ev.Columns))}
	o.rows.Cols = make([][]uint32, ev.Width())
	for i, c := range ev.Columns {
		if c.FieldExprs != nil && c.Agg < 0 {
			o.columns[i].Fields = make([]engine.Column, len(c.FieldExprs))
		}
		if lone != plan.NoVar {
			o.vecs[i].Reset(ev.Types[c.Value.Var].Props[c.Value.Prop].Type, 1)
			o.columns[i] = o.vecs[i].Column
		}
	}
	return o
}

// end clears references that a pooled output must not keep alive. If vecs is true, it clears the
// values too.
func (o *output) end(vecs bool) {
	o.charged = 0
	if vecs {
		for i := range o.vecs {
			o.vecs[i].Forget()
		}
	}
}

// batchOf returns the batch of the given collected rows. It is valid until the next call.
func (o *output) batchOf(rows []uint32) (*engine.Batch, error) {
	n := len(rows)
	if n == 1 && o.lone != plan.NoVar && o.single(rows[0]) {
		return &o.batch, nil
	}
	for _, v := range o.Keep {
		if cap(o.rows.Cols[v]) < n {
			o.rows.Cols[v] = make([]uint32, n, max(n, 16))
		}
		out, from := o.rows.Cols[v][:n], o.from.rows.Cols[v]
		if len(from) == 0 {
			continue // the single row of aggregates over no rows
		}
		for i, row := range rows {
			out[i] = from[row]
		}
		o.rows.Cols[v] = out
	}
	o.rows.N, o.rows.Groups = n, rows
	o.from.blocks.startBatch()
	o.Spent -= int64(o.charged)
	o.charged = 0
	for i := range o.Query.Columns {
		c, vec := &o.Query.Columns[i], &o.vecs[i]
		switch {
		case c.Rows >= 0:
			var err error
			if o.columns[i], err = o.from.blocks.recordsColumn(c, &o.rows); err != nil {
				return nil, err
			}
		case c.FieldExprs != nil && c.Agg >= 0:
			var err error
			if o.columns[i], err = o.nodesColumn(c, rows); err != nil {
				return nil, err
			}
		case c.FieldExprs != nil:
			for k, ex := range c.FieldExprs {
				o.columns[i].Fields[k] = o.Eval(ex, &o.rows).Column
			}
			o.columns[i].Type = c.Type
			if c.FieldExprs[0].Optional {
				o.columns[i].Valid = o.columns[i].Fields[0].Valid
			}
			continue
		case c.Agg >= 0:
			o.from.result(c.Agg, rows, vec)
			o.columns[i] = vec.Column
		case c.Value.Kind == ir.ExprConst:
			o.constantColumn(c.Type, c.Value, n, vec)
			o.columns[i] = vec.Column
		default:
			o.columns[i] = o.Eval(c.Value, &o.rows).Column
		}
	}
	if o.TextErr != nil {
		return nil, o.TextErr
	}
	o.batch = engine.Batch{Len: n, Columns: o.columns}
	return &o.batch, nil
}

// constantColumn fills vec with n copies of a constant. A null has no type of its own, so
// it gets the column's type t.
func (o *output) constantColumn(t value.Type, e *ir.Expr, n int, vec *column.Vec) {
	if e.Type.Kind != value.Invalid {
		t = e.Type
	}
	vec.Reset(t, n)
	v := o.Constant(e)
	for i := range n {
		vec.Set(i, v)
	}
}
