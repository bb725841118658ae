package engine

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ArrowColumns returns the columns of record batches with a schema from [ArrowSchema]. Arrow does
// not store which values an enum has, so the column of an enum becomes a String.
func ArrowColumns(schema *arrow.Schema) ([]plan.Column, error) {
	columns := make([]plan.Column, schema.NumFields())
	for i, f := range schema.Fields() {
		c, err := fieldOfArrow(f)
		if err != nil {
			return nil, fmt.Errorf("column %w", err)
		}
		columns[i] = plan.Column{Name: c.Name, Type: c.Type, Fields: c.Fields}
	}
	return columns, nil
}

// fieldOfArrow returns the column, or the field of a record, that an Arrow field describes. Its
// error starts with the name of the field.
func fieldOfArrow(f arrow.Field) (out plan.Field, err error) {
	out = plan.Field{Name: f.Name, Type: value.Type{Nullable: f.Nullable}}
	t := f.Type
	if list, ok := t.(*arrow.ListType); ok {
		if s, ok := list.Elem().(*arrow.StructType); ok {
			t, out.Type.List = s, true
		}
	}
	s, ok := t.(*arrow.StructType)
	if !ok {
		if out.Type, err = typeOfArrow(t, f.Nullable); err != nil {
			return out, fmt.Errorf("%s: %w", f.Name, err)
		}
		return out, nil
	}
	for _, m := range s.Fields() {
		member, err := fieldOfArrow(m)
		if err != nil {
			return out, fmt.Errorf("%s.%w", f.Name, err)
		}
		out.Fields = append(out.Fields, member)
	}
	return out, nil
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
		return value.Type{Kind: elem.Kind, List: true, Nullable: nullable, Dim: elem.Dim}, nil
	case *arrow.Decimal128Type:
		if p, s := int(t.Precision), int(t.Scale); value.IsDecimal(p, s) {
			out := value.DecimalOf(p, s)
			out.Nullable = nullable
			return out, nil
		}
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
		if out.Columns[i], err = readColumn(b.Column(i), c.Type, c.Fields); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return out, nil
}

// readColumn returns an Arrow array as a column of type t. If `fields` is not nil, the column holds
// records with these fields.
func readColumn(a arrow.Array, t value.Type, fields []plan.Field) (Column, error) {
	if fields == nil {
		return readArrow(a, t)
	}
	out := Column{Type: t, Valid: validOf(a), Fields: make([]Column, len(fields))}
	records := a
	if list, ok := a.(*array.List); ok && t.List {
		first, last := int64(0), int64(0) // the range of the records of all rows
		out.Offsets = append(out.Offsets, 0)
		for i := range a.Len() {
			from, to := list.ValueOffsets(i)
			if i == 0 {
				first = from
			}
			last = to
			out.Offsets = append(out.Offsets, int32(to-first))
		}
		records = array.NewSlice(list.ListValues(), first, last)
		defer records.Release()
	}
	s, ok := records.(*array.Struct)
	if !ok || s.NumField() != len(fields) || t.List != (out.Offsets != nil) {
		return Column{}, fmt.Errorf("found %s, expected structs with %d fields", a.DataType(), len(fields))
	}
	for k, f := range fields {
		var err error
		if out.Fields[k], err = readColumn(s.Field(k), f.Type, f.Fields); err != nil {
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

// holds reports whether an array of an Arrow type has the values of a column of type t. Whether the numbers of a vector may be null
// does not matter.
func holds(a arrow.DataType, t value.Type) bool {
	if t.Kind == value.Vector && !t.List {
		vector, ok := a.(*arrow.FixedSizeListType)
		return ok && int(vector.Len()) == t.Dim && vector.Elem().ID() == arrow.FLOAT32
	}
	return arrow.TypeEqual(a, arrowType(t))
}

// readArrow returns an Arrow array as a column of type t.
func readArrow(a arrow.Array, t value.Type) (Column, error) {
	if !holds(a.DataType(), t) {
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
	case *array.Decimal128:
		for i := range a.Len() {
			v, ok := value.OfDecimal(a.Value(i).BigInt(), t.Scale())
			if !ok {
				return Column{}, fmt.Errorf("row %d has more than %d digits", i, value.MaxDigits)
			}
			c.Strings = append(c.Strings, v.Raw())
		}
	case *array.FixedSizeList:
		floats := a.ListValues().(*array.Float32)
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
