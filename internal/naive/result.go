package naive

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// batchRows is the number of rows in a batch. It is small, so that readers get several batches.
const batchRows = 7

// result returns rows in batches.
type result struct {
	columns []plan.Column            // of the rows
	commit  string                   // id of the commit that was read
	rows    func() ([][]cell, error) // called once
	ev      *evaluation              // the evaluation of the read
	rest    [][]cell                 // the rows that have not been returned yet
	begun   bool                     // the rows are evaluated, or the result is closed
}

// Columns implements [engine.Result].
func (r *result) Columns() []plan.Column { return r.columns }

// Commit implements [engine.Result].
func (r *result) Commit() string { return r.commit }

// More implements [engine.Result].
func (r *result) More() bool { return r.ev.more }

// Close implements [engine.Result].
func (r *result) Close() error { r.begun, r.rest = true, nil; return nil }

// Next implements [engine.Result].
func (r *result) Next(ctx context.Context) (*engine.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !r.begun {
		rows, err := r.rows()
		if err != nil {
			return nil, err
		}
		r.begun, r.rest = true, rows
	}
	if len(r.rest) == 0 {
		return nil, nil
	}
	n := min(batchRows, len(r.rest))
	b := &engine.Batch{Len: n}
	for c, col := range r.columns {
		cells := make([]cell, n)
		for i := range cells {
			cells[i] = r.rest[i][c]
		}
		b.Columns = append(b.Columns, records(col.Type, col.Fields, cells))
	}
	r.rest = r.rest[n:]
	return b, nil
}

// column makes a column of n rows.
func column(t value.Type, n int, at func(int) value.Value) engine.Column {
	c := engine.Column{Type: t}
	for i := range n {
		if at(i).IsNull() && c.Valid == nil {
			c.Valid = engine.NewBitmap(n)
		}
	}
	for i := range n {
		v := at(i)
		if c.Valid != nil && !v.IsNull() {
			c.Valid.Set(i)
		}
		switch {
		case t.List:
			c.Lists = append(c.Lists, v)
		case t.Kind == value.String:
			c.Strings = append(c.Strings, or(v, "", value.Value.Str))
		case t.Kind == value.Blob || t.Kind == value.Decimal:
			c.Strings = append(c.Strings, or(v, "", value.Value.Raw))
		case t.Kind.IsFloat():
			c.Floats = append(c.Floats, or(v, 0, value.Value.Float))
		case t.Kind == value.Vector:
			c.Vectors = append(c.Vectors, or(v, nil, value.Value.Vector))
		default:
			c.Ints = append(c.Ints, int64(v.Bits()))
		}
	}
	return c
}

// or returns get(v). If v is null, it returns `zero`, the value that a null row contains.
func or[T any](v value.Value, zero T, get func(value.Value) T) T {
	if v.IsNull() {
		return zero
	}
	return get(v)
}
