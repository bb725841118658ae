package engine_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestBatchOfArrow sends a batch with a column of every type through an Arrow IPC stream, reads it
// back, and compares the cells and the types of the columns.
func TestBatchOfArrow(t *testing.T) {
	r := everything()
	want := r.batches[0]
	batches, err := engine.Arrow(context.Background(), r, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(batches[0].Schema()))
	if err := w.Write(batches[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := ipc.NewReader(&stream)
	if err != nil || !in.Next() {
		t.Fatal(err, in.Err())
	}
	columns, err := engine.ArrowColumns(in.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range columns {
		if from := r.columns[i]; c.Name != from.Name || c.Type.Required().String() != from.Type.Required().String() || len(c.Fields) != len(from.Fields) {
			t.Errorf("column %d is %s %s, expected %s %s", i, c.Name, c.TypeText(), from.Name, from.TypeText())
		}
	}
	got, err := engine.BatchOfArrow(r.columns, in.RecordBatch())
	if err != nil {
		t.Fatal(err)
	}
	if got.Len != want.Len {
		t.Fatalf("found %d rows, expected %d", got.Len, want.Len)
	}
	compare := func(name string, a, b *engine.Column) {
		for row := range want.Len {
			if a.IsNull(row) != b.IsNull(row) || !a.IsNull(row) && !value.Equal(a.Value(row), b.Value(row)) {
				t.Errorf("column %s, row %d: found %v, expected %v", name, row, a, b)
			}
		}
	}
	for i := range want.Columns {
		if want.Columns[i].Fields == nil {
			compare(r.columns[i].Name, &got.Columns[i], &want.Columns[i])
		}
		for k := range want.Columns[i].Fields {
			compare(r.columns[i].Name+"."+r.columns[i].Fields[k].Name, &got.Columns[i].Fields[k], &want.Columns[i].Fields[k])
		}
	}
}

// TestBatchOfArrowRefuses reads record batches that do not fit the columns.
func TestBatchOfArrowRefuses(t *testing.T) {
	columns := []plan.Column{{Name: "n", Type: value.Of(value.I64)}}
	batch := func(name string, typ arrow.DataType) arrow.RecordBatch {
		schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: typ, Nullable: true}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).AppendNull()
		return b.NewRecordBatch()
	}
	for _, tt := range []struct {
		batch arrow.RecordBatch
		want  string
	}{
		{batch("m", arrow.PrimitiveTypes.Int64), "column 0 of the record batch is m, expected n"},
		{batch("n", arrow.PrimitiveTypes.Int32), "column n: found the Arrow type int32, expected int64"},
		{batch("n", arrow.BinaryTypes.String), "column n: found the Arrow type utf8, expected int64"},
		{batch("n", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)), "column n: found the Arrow type fixed_size_list<item: float32, nullable>[2], expected int64"},
	} {
		if _, err := engine.BatchOfArrow(columns, tt.batch); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("found %v, expected %s", err, tt.want)
		}
	}
	if _, err := engine.ArrowColumns(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int8}}, nil)); err == nil {
		t.Error("a column of 8-bit integers was accepted")
	}
}
