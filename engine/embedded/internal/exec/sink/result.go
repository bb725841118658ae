package sink

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// single makes the batch of a row from the copy of the row, for a program whose field
// exec.FirstLookup.Single is set. It reports false if the copy lacks a value.
func (o *Output) single(row uint32) bool {
	v := o.lone
	copies, at := o.Tables[v].Copied(o.from.Rows.Cols[v][row])
	if copies == nil {
		return false
	}
	for i := range o.columns {
		c, vec := &o.columns[i], &o.vecs[i]
		// The last batch may have been made without copies, from other memory.
		c.Valid, c.Strings, c.Ints, c.Floats = nil, vec.Strings, vec.Ints, vec.Floats
		if !copies.One(o.Query.Columns[i].Value.Prop, at, c) {
			return false
		}
	}
	o.batch = engine.Batch{Len: 1, Columns: o.columns}
	return true
}

// Output makes batches of the collected rows.
type Output struct {
	*eval.Evaluator
	from *Collector // holds the collected rows
	// lone is the variable of the lookup, if the field exec.FirstLookup.Single of the program is set; else NoVar.
	lone    plan.VarID
	rows    eval.Frame      // rows of the batch
	batch   engine.Batch    // the current batch; its memory is reused
	columns []engine.Column // the columns of the batch
	vecs    []column.Vec    // for the columns that have no vector in the evaluator
	charged int             // bytes that the run was charged for the lists of nodes in the batch
}

// NewOutput returns an output of the rows in `from`; for `lone` see Output.lone.
func NewOutput(ev *eval.Evaluator, from *Collector, lone plan.VarID) Output {
	o := Output{Evaluator: ev, from: from, lone: lone, columns: make([]engine.Column, len(ev.Columns)), vecs: make([]column.Vec, len(ev.Columns))}
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

// Clear clears references that a pooled output must not keep alive. If vecs is true, it clears the
// values too.
func (o *Output) Clear(vecs bool) {
	o.charged = 0
	if vecs {
		for i := range o.vecs {
			o.vecs[i].Forget()
		}
	}
}

// BatchOf returns the batch of the given collected rows. It is valid until the next call.
func (o *Output) BatchOf(rows []uint32) (*engine.Batch, error) {
	n := len(rows)
	if n == 1 && o.lone != plan.NoVar && o.single(rows[0]) {
		return &o.batch, nil
	}
	for _, v := range o.Keep {
		if cap(o.rows.Cols[v]) < n {
			o.rows.Cols[v] = make([]uint32, n, max(n, 16))
		}
		out, from := o.rows.Cols[v][:n], o.from.Rows.Cols[v]
		if len(from) == 0 {
			continue // the single row of aggregates over no rows
		}
		for i, row := range rows {
			out[i] = from[row]
		}
		o.rows.Cols[v] = out
	}
	o.rows.N, o.rows.Groups = n, rows
	o.from.Runner.StartBatch()
	o.Spent -= int64(o.charged)
	o.charged = 0
	for i := range o.Query.Columns {
		c, vec := &o.Query.Columns[i], &o.vecs[i]
		switch {
		case c.Rows >= 0:
			var err error
			if o.columns[i], err = o.from.Runner.RecordsColumn(c, &o.rows); err != nil {
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
			o.from.Result(c.Agg, rows, vec)
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
func (o *Output) constantColumn(t value.Type, e *ir.Expr, n int, vec *column.Vec) {
	if e.Type.Kind != value.Invalid {
		t = e.Type
	}
	vec.Reset(t, n)
	v := o.Constant(e)
	for i := range n {
		vec.Set(i, v)
	}
}
