package engine

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ArrowColumns returns the columns of record batches whose schema [ArrowSchema] made. Arrow does not
// have the values of an enum, so the column of an enum is a String.
func ArrowColumns(schema *arrow.Schema) ([]plan.Column, error) {
	columns := make([]plan.Column, schema.NumFields())
	for i, f := range schema.Fields() {
		c := plan.Column{Name: f.Name, Type: value.Type{Nullable: f.Nullable}}
		var err error
		if s, ok := f.Type.(*arrow.StructType); ok {
			for _, m := range s.Fields() {
				member := plan.Field{Name: m.Name}
				if member.Type, err = typeOfArrow(m.Type, m.Nullable); err != nil {
					return nil, fmt.Errorf("column %s.%s: %w", f.Name, m.Name, err)
				}
				c.Fields = append(c.Fields, member)
			}
		} else if c.Type, err = typeOfArrow(f.Type, f.Nullable); err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		columns[i] = c
	}
	return columns, nil
}

// typeOfArrow returns the type of the language for an Arrow type.
func typeOfArrow(t arrow.DataType, nullable bool) (value.Type, error) {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		if arrow.TypeEqual(t.Elem(), arrow.PrimitiveTypes.Float32) {
			return value.Type{Kind: value.Vector, Dim: int(t.Len()), Nullable: nullable}, nil
		}
	case *arrow.ListType:
		elem, err := typeOfArrow(t.Elem(), false)
		if err != nil || elem.List || elem.Kind == value.Vector {
			return value.Type{}, fmt.Errorf("no list of this graph has the Arrow type %s", t)
		}
		return value.Type{Kind: elem.Kind, List: true, Nullable: nullable}, nil
	default:
		for _, k := range value.Kinds() {
			if a := arrowTypes[k]; a != nil && arrow.TypeEqual(a, t) {
				return value.Type{Kind: k, Nullable: nullable}, nil
			}
		}
	}
	return value.Type{}, fmt.Errorf("no kind has the Arrow type %s", t)
}

// BatchOfArrow returns a record batch as a batch with the given columns. It is the inverse of
// [ArrowBatch]. The batch shares the memory of the record batch, so it is valid until the record
// batch is released.
func BatchOfArrow(columns []plan.Column, b arrow.RecordBatch) (*Batch, error) {
	if int(b.NumCols()) != len(columns) {
		return nil, fmt.Errorf("the record batch has %d columns, expected %d", b.NumCols(), len(columns))
	}
	out := &Batch{Len: int(b.NumRows()), Columns: make([]Column, len(columns))}
	for i, c := range columns {
		var err error
		if b.ColumnName(i) != c.Name {
			return nil, fmt.Errorf("column %d of the record batch is %s, expected %s", i, b.ColumnName(i), c.Name)
		}
		if out.Columns[i], err = readColumn(b.Column(i), c); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return out, nil
}

// readColumn returns an Arrow array as a column.
func readColumn(a arrow.Array, c plan.Column) (Column, error) {
	if c.Fields == nil {
		return readArrow(a, c.Type)
	}
	s, ok := a.(*array.Struct)
	if !ok || s.NumField() != len(c.Fields) {
		return Column{}, fmt.Errorf("found %s, expected a struct with %d fields", a.DataType(), len(c.Fields))
	}
	out := Column{Type: c.Type, Valid: validOf(a), Fields: make([]Column, len(c.Fields))}
	for k, f := range c.Fields {
		var err error
		if out.Fields[k], err = readArrow(s.Field(k), f.Type); err != nil {
			return Column{}, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return out, nil
}

// validOf returns the rows of an array that are not null, or nil if no row is null.
func validOf(a arrow.Array) Bitmap {
	if a.NullN() == 0 {
		return nil
	}
	valid := NewBitmap(a.Len())
	for i := range a.Len() {
		if a.IsValid(i) {
			valid.Set(i)
		}
	}
	return valid
}

// readArrow returns an Arrow array as a column of type t.
func readArrow(a arrow.Array, t value.Type) (Column, error) {
	if vector, ok := a.DataType().(*arrow.FixedSizeListType); ok && t.Kind == value.Vector && int(vector.Len()) != t.Dim || !ok && !arrow.TypeEqual(a.DataType(), arrowType(t)) {
		return Column{}, fmt.Errorf("found the Arrow type %s, expected %s", a.DataType(), arrowType(t))
	}
	c := Column{Type: t, Valid: validOf(a)}
	switch a := a.(type) {
	case *array.Boolean:
		c.Ints = cells(a.Len(), func(i int) int64 {
			if a.Value(i) {
				return 1
			}
			return 0
		})
	case *array.Int32:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Int64:
		c.Ints = cells(a.Len(), a.Value)
	case *array.Uint32:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Uint64:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Date32:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Timestamp:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Duration:
		c.Ints = cells(a.Len(), func(i int) int64 { return int64(a.Value(i)) })
	case *array.Float32:
		c.Floats = cells(a.Len(), func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		c.Floats = cells(a.Len(), a.Value)
	case *array.String:
		c.Strings = cells(a.Len(), a.Value)
	case *array.Binary:
		c.Strings = cells(a.Len(), func(i int) string { return string(a.Value(i)) })
	case *array.FixedSizeList:
		floats, ok := a.ListValues().(*array.Float32)
		if !ok {
			return Column{}, fmt.Errorf("found the Arrow type %s, expected %s", a.DataType(), arrowType(t))
		}
		c.Vectors = cells(a.Len(), func(i int) []float32 {
			from, to := a.ValueOffsets(i)
			return floats.Float32Values()[from:to]
		})
	case *array.List:
		elems, err := readArrow(a.ListValues(), t.Elem())
		if err != nil {
			return Column{}, err
		}
		c.Lists = cells(a.Len(), func(i int) value.Value {
			if a.IsNull(i) {
				return value.Null
			}
			from, to := a.ValueOffsets(i)
			return value.OfList(t.Kind, cells(int(to-from), func(j int) value.Value { return elems.Value(int(from) + j) }))
		})
	default:
		return Column{}, fmt.Errorf("no column has the Arrow type %s", a.DataType())
	}
	return c, nil
}

// cells returns the n values of a column.
func cells[T any](n int, value func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}
