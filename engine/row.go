package engine

import (
	"context"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// RowOf returns the row that a mutation returned as a result with one row. The columns are those of
// Mutation.Returns.
func RowOf(columns []plan.Column, c *Change) Result {
	r := &rowResult{columns: columns, commit: c.Head.ID, batch: &Batch{Len: 1}}
	at := 0
	for _, col := range columns {
		if col.Fields == nil {
			r.batch.Columns = append(r.batch.Columns, cellOf(col.Type, c.Row[at]))
			at++
			continue
		}
		whole := Column{Type: col.Type}
		for _, f := range col.Fields {
			whole.Fields = append(whole.Fields, cellOf(f.Type, c.Row[at]))
			at++
		}
		whole.Valid = whole.Fields[0].Valid // the id of a node is null only if there is no node
		r.batch.Columns = append(r.batch.Columns, whole)
	}
	return r
}

// cellOf returns a column with one value. If the value is null, t is the type of the column.
func cellOf(t value.Type, v value.Value) Column {
	if !v.IsNull() {
		t = v.Type()
	}
	c := Column{Type: t}
	if v.IsNull() {
		c.Valid = NewBitmap(1)
	}
	if t.List {
		c.Lists = []value.Value{v}
		return c
	}
	switch t.Kind.Storage() {
	case value.InText:
		c.Strings = []string{""}
	case value.InBytes:
		c.Strings = []string{""}
	case value.InVector:
		c.Vectors = make([][]float32, 1)
	case value.InFloat32, value.InFloat64:
		c.Floats = []float64{0}
	default:
		c.Ints = []int64{0}
	}
	if v.IsNull() {
		return c
	}
	switch t.Kind.Storage() {
	case value.InText:
		c.Strings[0] = v.Str()
	case value.InBytes:
		c.Strings[0] = v.Raw()
	case value.InVector:
		c.Vectors[0] = v.Vector()
	case value.InFloat32, value.InFloat64:
		c.Floats[0] = v.Float()
	default:
		c.Ints[0] = int64(v.Bits())
	}
	return c
}

// rowResult is a result with one row.
type rowResult struct {
	columns []plan.Column
	commit  string // id of the head after the mutation
	batch   *Batch // the row; nil once it has been read
}

// Columns implements [Result].
func (r *rowResult) Columns() []plan.Column { return r.columns }

// Commit implements [Result].
func (r *rowResult) Commit() string { return r.commit }

// Next implements [Result].
func (r *rowResult) Next(context.Context) (*Batch, error) {
	b := r.batch
	r.batch = nil
	return b, nil
}

// More implements [Result].
func (r *rowResult) More() bool { return false }

// Close implements [Result].
func (r *rowResult) Close() error { return nil }
