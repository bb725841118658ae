package engine_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// canned is a result that returns the given batches and then the given error.
type canned struct {
	columns []plan.Column
	batches []*engine.Batch
	err     error
}

func (c *canned) Columns() []plan.Column { return c.columns }
func (c *canned) Commit() string         { return "" }
func (c *canned) More() bool             { return false }
func (c *canned) Close() error           { return nil }
func (c *canned) Next(context.Context) (*engine.Batch, error) {
	if len(c.batches) == 0 {
		return nil, c.err
	}
	b := c.batches[0]
	c.batches = c.batches[1:]
	return b, nil
}

// everything is a result with a column of every type and two rows. The second row is null in every
// column whose type can be null.
func everything() *canned {
	valid := engine.Bitmap{1}
	ints := func(k value.Kind, a, b int64) engine.Column {
		return engine.Column{Type: value.Of(k).Optional(), Valid: valid, Ints: []int64{a, b}}
	}
	list := value.OfList(value.I32, []value.Value{value.OfI32(1), value.OfI32(-2)})
	cols := []engine.Column{
		{Type: value.Of(value.String), Strings: []string{"ä", ""}},
		ints(value.Bool, 1, 0), ints(value.I32, -5, 0), ints(value.I64, -1<<63, 0), ints(value.U32, 1<<32-1, 0), ints(value.U64, -1, 0),
		{Type: value.Of(value.F32), Floats: []float64{1.5, -2}},
		{Type: value.Of(value.F64).Optional(), Valid: valid, Floats: []float64{0.1, 0}},
		ints(value.Date, -1, 0), ints(value.DateTime, 1714566600123456, 0),
		{Type: value.Of(value.Blob), Strings: []string{"\x00\xff", ""}},
		{Type: value.Type{Kind: value.Vector, Dim: 2, Nullable: true}, Valid: valid, Vectors: [][]float32{{1, 2}, nil}},
		{Type: value.Type{Kind: value.I32, List: true, Nullable: true}, Valid: valid, Lists: []value.Value{list, value.Null}},
		{Fields: []engine.Column{
			{Type: value.Of(value.String), Strings: []string{"n1", "n2"}},
			ints(value.I32, 7, 0),
		}},
		{Type: value.Type{Nullable: true}, Valid: engine.Bitmap{2}, Fields: []engine.Column{
			{Type: value.Of(value.String), Valid: engine.Bitmap{2}, Strings: []string{"", "n4"}},
			{Type: value.Of(value.I32).Optional(), Valid: engine.Bitmap{2}, Ints: []int64{0, 9}},
		}},
	}
	c := &canned{batches: []*engine.Batch{{Len: 2, Columns: cols}}}
	for i := range cols {
		col := plan.Column{Name: string(rune('a' + i)), Type: cols[i].Type}
		if cols[i].Fields != nil {
			col.Fields = []plan.Field{{Name: "id", Type: value.Of(value.String)}, {Name: "age", Type: value.Of(value.I32).Optional()}}
		}
		c.columns = append(c.columns, col)
	}
	return c
}

func TestArrow(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	batches, err := engine.Arrow(context.Background(), everything(), mem)
	if err != nil {
		t.Fatal(err)
	}
	if len(batches) != 1 {
		t.Fatalf("got %d batches, want 1", len(batches))
	}
	defer batches[0].Release()
	got, err := batches[0].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"a":"ä","b":true,"c":-5,"d":-9223372036854775808,"e":4294967295,"f":18446744073709551615,"g":1.5,"h":0.1,` +
		`"i":"1969-12-31","j":"2024-05-01T12:30:00.123456Z","k":"AP8=","l":[1,2],"m":[1,-2],"n":{"age":7,"id":"n1"},"o":null}
,{"a":"","b":null,"c":null,"d":null,"e":null,"f":null,"g":-2,"h":null,"i":null,"j":null,"k":"","l":null,"m":null,"n":{"age":null,"id":"n2"},"o":{"age":9,"id":"n4"}}
]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestArrowRecords copies a list of records to Arrow. The records have a field with a record, which
// is null once, and a field with a list of records.
func TestArrowRecords(t *testing.T) {
	text := value.Of(value.String)
	one := []plan.Field{{Name: "x", Type: text}}
	fields := []plan.Field{{Name: "name", Type: text}, {Name: "one", Type: value.Type{Nullable: true}, Fields: one}, {Name: "all", Type: value.Type{List: true}, Fields: one}}
	column := engine.Column{Offsets: []int32{0, 2, 2, 3}, Fields: []engine.Column{
		{Type: text, Strings: []string{"a", "b", "c"}},
		{Valid: engine.Bitmap{0b101}, Fields: []engine.Column{{Type: text.Optional(), Valid: engine.Bitmap{0b101}, Strings: []string{"p", "", "q"}}}},
		{Offsets: []int32{0, 0, 2, 3}, Fields: []engine.Column{{Type: text, Strings: []string{"r", "s", "t"}}}},
	}}
	c := &canned{columns: []plan.Column{{Name: "l", Type: value.Type{List: true}, Fields: fields}}, batches: []*engine.Batch{{Len: 3, Columns: []engine.Column{column}}}}
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	batches, err := engine.Arrow(context.Background(), c, mem)
	if err != nil {
		t.Fatal(err)
	}
	defer batches[0].Release()
	got, err := batches[0].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	columns, err := engine.ArrowColumns(batches[0].Schema())
	if err != nil {
		t.Fatal(err)
	}
	again, err := engine.BatchOfArrow(columns, batches[0])
	if err != nil || len(columns) != 1 || columns[0].TypeText() != "[{ name: String?, one: { x: String? }?, all: [{ x: String? }]? }]" || !reflect.DeepEqual(again.Columns[0].Offsets, column.Offsets) ||
		!reflect.DeepEqual(again.Columns[0].Fields[2].Offsets, column.Fields[2].Offsets) || again.Columns[0].Fields[1].IsNull(2) || !again.Columns[0].Fields[1].IsNull(1) {
		t.Errorf("read back: %v, columns %v, %+v", err, columns, again)
	}
	const want = `[{"l":[{"all":[],"name":"a","one":{"x":"p"}},{"all":[{"x":"r"},{"x":"s"}],"name":"b","one":null}]}
,{"l":[]}
,{"l":[{"all":[{"x":"t"}],"name":"c","one":{"x":"q"}}]}
]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestArrowReleasesAfterAnError(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r := everything()
	r.err = errors.New("cut off")
	if batches, err := engine.Arrow(context.Background(), r, mem); err != r.err || batches != nil {
		t.Errorf("got %d batches and the error %v, want none and %v", len(batches), err, r.err)
	}
	r = everything()
	r.batches[0].Columns[11].Vectors[0] = []float32{1}
	if batches, err := engine.Arrow(context.Background(), r, mem); err == nil || batches != nil {
		t.Errorf("a vector of the wrong length: got %d batches and the error %v", len(batches), err)
	}
}

// TestArrowTypes checks that every kind has an Arrow type, and that an array of that type accepts a
// value of the kind.
func TestArrowTypes(t *testing.T) {
	for _, k := range value.Kinds() {
		typ := value.Of(k)
		if k == value.Vector {
			typ.Dim = 2
		}
		text := "a"
		if k == value.Decimal {
			typ = value.DecimalOf(5, 2)
			v, err := value.ParseDecimal("-12.5", typ)
			if err != nil {
				t.Fatal(err)
			}
			text = v.Raw()
		}
		schema := engine.ArrowSchema([]plan.Column{{Name: "c", Type: typ}})
		column := engine.Column{Type: typ, Ints: []int64{1}, Floats: []float64{1}, Strings: []string{text}, Vectors: [][]float32{{1, 2}}}
		batch, err := engine.ArrowBatch(schema, &engine.Batch{Len: 1, Columns: []engine.Column{column}}, memory.DefaultAllocator)
		if err != nil || schema.Field(0).Type == arrow.Null || batch.Column(0).NullN() != 0 {
			t.Errorf("%s in Arrow is %s: %v", k, schema.Field(0).Type, err)
			continue
		}
		batch.Release()
	}
}
