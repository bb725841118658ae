package engine

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ArrowSchema returns the schema of the record batches of a result with these columns:
//
//	String, enum  Utf8                  Date      Date32
//	Bool          Boolean               DateTime  Timestamp(us, UTC)
//	I32 … F64     Int32 … Float64       Blob      Binary
//	Vector(n)     FixedSizeList(n, Float32)
//	Decimal(p, s) Decimal128(p, s)
//	[T]           List(T)               a record      Struct of its fields
//
// A list of records is a List of Structs.
func ArrowSchema(columns []plan.Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: recordType(c.Type, c.Fields), Nullable: c.Fields == nil || c.Type.Nullable}
	}
	return arrow.NewSchema(fields, nil)
}

// recordType returns the Arrow type for a type of the language. A type with fields is a record or a
// list of records.
func recordType(t value.Type, fields []plan.Field) arrow.DataType {
	if fields == nil {
		return arrowType(t)
	}
	members := make([]arrow.Field, len(fields))
	for i, f := range fields {
		members[i] = arrow.Field{Name: f.Name, Type: recordType(f.Type, f.Fields), Nullable: true}
	}
	record := arrow.StructOf(members...)
	if t.List {
		return arrow.ListOf(record)
	}
	return record
}

// Arrow reads a result to its end and copies it into record batches, which share no memory with the
// engine. The caller releases the batches and closes the result. If Arrow returns an error, it
// returns no batches.
func Arrow(ctx context.Context, r Result, mem memory.Allocator) (batches []arrow.RecordBatch, err error) {
	defer func() {
		if err != nil {
			for _, b := range batches {
				b.Release()
			}
			batches = nil
		}
	}()
	schema := ArrowSchema(r.Columns())
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return batches, err
		}
		if b == nil {
			return batches, nil
		}
		batch, err := ArrowBatch(schema, b, mem)
		if err != nil {
			return batches, err
		}
		batches = append(batches, batch)
	}
}

// ArrowBatch copies one batch of a result into a record batch with the given schema. The types of
// the schema must be those of [ArrowSchema], except that a Vector may also be a List(Float32). The
// caller releases the record batch.
func ArrowBatch(schema *arrow.Schema, b *Batch, mem memory.Allocator) (arrow.RecordBatch, error) {
	rb := array.NewRecordBuilder(mem, schema)
	defer rb.Release()
	rb.Reserve(b.Len)
	for i := range b.Columns {
		if err := appendColumn(rb.Field(i), &b.Columns[i], b.Len); err != nil {
			return nil, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
	}
	return rb.NewRecordBatch(), nil
}

// appendColumn appends the first n values of a column to an Arrow array.
func appendColumn(to array.Builder, c *Column, n int) error {
	if s, ok := to.(*array.StructBuilder); ok {
		// Append(false) would also append a null to each field.
		valid := make([]bool, n)
		for i := range valid {
			valid[i] = !c.IsNull(i)
		}
		s.AppendValues(valid)
		return appendFields(s, c, n)
	}
	if l, ok := to.(*array.ListBuilder); ok && c.Offsets != nil {
		// The call of Append stores the current length of the values as the offset at which the
		// next list begins.
		s := l.ValueBuilder().(*array.StructBuilder)
		for i := range n {
			l.Append(!c.IsNull(i))
			for range c.Offsets[i+1] - c.Offsets[i] {
				s.Append(true)
			}
		}
		return appendFields(s, c, int(c.Offsets[n]))
	}
	for i := range n {
		if err := appendArrow(to, c.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

// appendFields appends the first n values of each field of a column with records.
func appendFields(to *array.StructBuilder, c *Column, n int) error {
	for k := range c.Fields {
		if err := appendColumn(to.FieldBuilder(k), &c.Fields[k], n); err != nil {
			return err
		}
	}
	return nil
}

// appendArrow appends one value to an Arrow array.
func appendArrow(to array.Builder, v value.Value) error {
	if v.IsNull() {
		to.AppendNull()
		return nil
	}
	fits := true
	switch b := to.(type) {
	case *array.ListBuilder:
		floats, ok := b.ValueBuilder().(*array.Float32Builder)
		if ok && v.Kind() == value.Vector {
			b.Append(true)
			floats.AppendValues(v.Vector(), nil)
			return nil
		}
		if fits = v.IsList(); fits {
			b.Append(true)
			for _, e := range v.Elems() {
				if err := appendArrow(b.ValueBuilder(), e); err != nil {
					return err
				}
			}
		}
	case *array.FixedSizeListBuilder:
		want := int(b.Type().(*arrow.FixedSizeListType).Len())
		if fits = v.Kind() == value.Vector && len(v.Vector()) == want; fits {
			b.Append(true)
			b.ValueBuilder().(*array.Float32Builder).AppendValues(v.Vector(), nil)
		}
	case *array.StringBuilder:
		b.Append(v.Str())
	case *array.BinaryBuilder:
		b.Append(v.Bytes())
	case *array.Decimal128Builder:
		if fits = v.Kind() == value.Decimal && v.Scale() == int(b.Type().(*arrow.Decimal128Type).Scale); fits {
			b.Append(decimal128.FromBigInt(v.Unscaled()))
		}
	case *array.BooleanBuilder:
		b.Append(v.Bool())
	case *array.Int32Builder:
		b.Append(int32(v.Int()))
	case *array.Int64Builder:
		b.Append(v.Int())
	case *array.Uint32Builder:
		b.Append(uint32(v.Uint()))
	case *array.Uint64Builder:
		b.Append(v.Uint())
	case *array.Float32Builder:
		b.Append(float32(v.Float()))
	case *array.Float64Builder:
		b.Append(v.Float())
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.Int()))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(v.Int()))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.Int()))
	default:
		fits = false
	}
	if !fits {
		return fmt.Errorf("a value of type %s does not fit %s", v.Type(), to.Type())
	}
	return nil
}

// arrowType returns the Arrow type for a type of the language.
func arrowType(t value.Type) arrow.DataType {
	if t.List {
		return arrow.ListOf(arrowType(t.Elem()))
	}
	switch t.Kind {
	case value.Vector:
		return arrow.FixedSizeListOf(int32(t.Dim), arrow.PrimitiveTypes.Float32)
	case value.Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())}
	}
	if typ := arrowTypes[t.Kind]; typ != nil {
		return typ
	}
	return arrow.Null
}

// arrowTypes maps every kind except Vector and Decimal, whose Arrow types have numbers.
var arrowTypes = [256]arrow.DataType{
	value.String:   arrow.BinaryTypes.String,
	value.Bool:     arrow.FixedWidthTypes.Boolean,
	value.I32:      arrow.PrimitiveTypes.Int32,
	value.I64:      arrow.PrimitiveTypes.Int64,
	value.U32:      arrow.PrimitiveTypes.Uint32,
	value.U64:      arrow.PrimitiveTypes.Uint64,
	value.F32:      arrow.PrimitiveTypes.Float32,
	value.F64:      arrow.PrimitiveTypes.Float64,
	value.Date:     arrow.FixedWidthTypes.Date32,
	value.DateTime: arrow.FixedWidthTypes.Timestamp_us,
	value.Blob:     arrow.BinaryTypes.Binary,
	value.Duration: arrow.FixedWidthTypes.Duration_ns,
}
