package parquet

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The limits of a batch. The line that exceeds maxBatchBytes is the last line of its batch.
const (
	maxBatchRows  = 1024
	maxBatchBytes = 4 << 20 // of lines
)

// rows is a batch of entities of one type while it is filled.
type rows struct {
	table    *table         // the type of the entities
	batch    engine.Batch   // the columns so far
	position map[string]int // of the columns, by name
	filled   []bool         // the columns that the current row has
}

// newRows returns an empty batch of a type.
func newRows(t *table) *rows {
	r := &rows{table: t, position: map[string]int{}, filled: make([]bool, len(t.columns))}
	r.batch.Columns = make([]engine.Column, len(t.columns))
	for i, c := range t.columns {
		r.position[c.Name] = i
		r.batch.Columns[i] = engine.Column{Type: c.Type, Valid: engine.NewBitmap(maxBatchRows)}
	}
	return r
}

// reset removes the rows and keeps the memory.
func (r *rows) reset() {
	r.batch.Len = 0
	for i := range r.batch.Columns {
		c := &r.batch.Columns[i]
		clear(c.Valid)
		c.Ints, c.Floats, c.Strings = c.Ints[:0], c.Floats[:0], c.Strings[:0]
		c.Vectors, c.Lists = c.Vectors[:0], c.Lists[:0]
	}
}

// set sets a column of the current row. The error says that the row has the column twice, or that
// the value is null and the column is not nullable.
func (r *rows) set(i int, v value.Value) error {
	c := &r.batch.Columns[i]
	if r.filled[i] {
		return fmt.Errorf("it has %s twice", r.table.columns[i].Name)
	}
	r.filled[i] = true
	if v.IsNull() {
		if !c.Type.Nullable {
			return fmt.Errorf("it has no %s, which is required", r.table.columns[i].Name)
		}
	} else {
		c.Valid.Set(r.batch.Len)
	}
	appendTo(c, v)
	return nil
}

// end completes the current row: a column without a value is null.
func (r *rows) end() error {
	for i, filled := range r.filled {
		if !filled {
			if err := r.set(i, value.Null); err != nil {
				return err
			}
		}
	}
	clear(r.filled)
	r.batch.Len++
	return nil
}

// appendTo appends a value of the column's type to the slice that the type uses. It appends an
// element for a null too.
func appendTo(c *engine.Column, v value.Value) {
	if c.Type.List {
		c.Lists = append(c.Lists, v)
		return
	}
	null := v.IsNull()
	switch c.Type.Kind.Storage() {
	case value.InText:
		text := ""
		if !null {
			text = v.Str()
		}
		c.Strings = append(c.Strings, text)
	case value.InBytes:
		text := ""
		if !null {
			text = v.Raw()
		}
		c.Strings = append(c.Strings, text)
	case value.InBits, value.InInt32, value.InUint32, value.InInt64, value.InUint64:
		c.Ints = append(c.Ints, int64(v.Bits()))
	case value.InFloat32, value.InFloat64:
		f := 0.0
		if !null {
			f = v.Float()
		}
		c.Floats = append(c.Floats, f)
	case value.InVector:
		var vec []float32
		if !null {
			vec = v.Vector()
		}
		c.Vectors = append(c.Vectors, vec)
	case value.InNone:
		panic("parquet: column of type " + c.Type.String())
	}
}
