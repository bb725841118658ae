package encoding

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// columns is a result made of the given batches.
type columns struct {
	cols    []plan.Column
	batches []*engine.Batch
	next    int
	more    bool
}

func (r *columns) Columns() []plan.Column { return r.cols }
func (r *columns) Commit() string         { return "c1" }
func (r *columns) More() bool             { return r.more }
func (r *columns) Close() error           { return nil }

func (r *columns) Next(context.Context) (*engine.Batch, error) {
	if r.next == len(r.batches) {
		return nil, nil
	}
	r.next++
	return r.batches[r.next-1], nil
}

func TestCells(t *testing.T) {
	null := engine.NewBitmap(1)
	strings := func(elems ...value.Value) []value.Value {
		return []value.Value{value.OfList(value.String, elems)}
	}
	list := func(k value.Kind) value.Type { return value.Type{Kind: k, List: true} }
	tests := []struct {
		name string
		col  engine.Column
		safe bool
		want string
	}{
		{"null", engine.Column{Type: value.Of(value.I64), Valid: null, Ints: []int64{5}}, false, `null`},
		{"null node", engine.Column{Valid: null, Fields: []engine.Column{{}, {}}}, false, `null`},
		{"list of records", engine.Column{Type: value.Type{List: true}, Offsets: []int32{0, 2}, Fields: []engine.Column{
			{Type: value.Of(value.I32), Ints: []int64{1, 2}}, {Type: value.Of(value.String).Optional(), Valid: engine.Bitmap{1}, Strings: []string{"a", ""}}}},
			false, `[{"id":1,"x":"a"},{"id":2,"x":null}]`},
		{"no records", engine.Column{Type: value.Type{List: true}, Offsets: []int32{0, 0}, Fields: []engine.Column{{}, {}}}, false, `[]`},
		{"true", engine.Column{Type: value.Of(value.Bool), Ints: []int64{1}}, false, `true`},
		{"I32", engine.Column{Type: value.Of(value.I32), Ints: []int64{math.MinInt32}}, true, `-2147483648`},
		{"I64", engine.Column{Type: value.Of(value.I64), Ints: []int64{math.MinInt64}}, false, `-9223372036854775808`},
		{"I64 beyond", engine.Column{Type: value.Of(value.I64), Ints: []int64{math.MinInt64}}, true, `"-9223372036854775808"`},
		{"I64 at the bound", engine.Column{Type: value.Of(value.I64), Ints: []int64{-(1<<53 - 1)}}, true, `-9007199254740991`},
		{"I64 past the bound", engine.Column{Type: value.Of(value.I64), Ints: []int64{-(1 << 53)}}, true, `"-9007199254740992"`},
		{"U64", engine.Column{Type: value.Of(value.U64), Ints: []int64{-1}}, false, `18446744073709551615`},
		{"U64 beyond", engine.Column{Type: value.Of(value.U64), Ints: []int64{-1}}, true, `"18446744073709551615"`},
		{"U64 at the bound", engine.Column{Type: value.Of(value.U64), Ints: []int64{1<<53 - 1}}, true, `9007199254740991`},
		{"F64", engine.Column{Type: value.Of(value.F64), Floats: []float64{0.1}}, false, `0.1`},
		{"F64 tiny", engine.Column{Type: value.Of(value.F64), Floats: []float64{1e-7}}, false, `1e-07`},
		{"F32", engine.Column{Type: value.Of(value.F32), Floats: []float64{float64(float32(0.1))}}, false, `0.1`},
		{"NaN", engine.Column{Type: value.Of(value.F64), Floats: []float64{math.NaN()}}, false, `"NaN"`},
		{"infinite", engine.Column{Type: value.Of(value.F32), Floats: []float64{math.Inf(1)}}, false, `"Infinity"`},
		{"minus infinite", engine.Column{Type: value.Of(value.F64), Floats: []float64{math.Inf(-1)}}, false, `"-Infinity"`},
		{"minus zero", engine.Column{Type: value.Of(value.F64), Floats: []float64{math.Copysign(0, -1)}}, false, `0`},
		{"Date", engine.Column{Type: value.Of(value.Date), Ints: []int64{-1}}, false, `"1969-12-31"`},
		{"DateTime", engine.Column{Type: value.Of(value.DateTime), Ints: []int64{-1}}, false, `"1969-12-31T23:59:59.999999Z"`},
		{"String", engine.Column{Type: value.Of(value.String), Strings: []string{"a\"\\\n\x01é<"}}, false, `"a\"\\\n\u0001é<"`},
		{"Blob", engine.Column{Type: value.Of(value.Blob), Strings: []string{"\x01\xff"}}, false, `"Af8="`},
		{"Vector", engine.Column{Type: value.Type{Kind: value.Vector, Dim: 2}, Vectors: [][]float32{{0.1, -1}}}, false, `[0.1,-1]`},
		{"list", engine.Column{Type: list(value.String), Lists: strings(value.OfString("a"), value.Null)}, false, `["a",null]`},
		{"empty list", engine.Column{Type: list(value.String), Lists: strings()}, false, `[]`},
		{"wide list", engine.Column{Type: list(value.I64), Lists: []value.Value{value.OfList(value.I64, []value.Value{value.OfI64(1), value.OfI64(1 << 60)})}}, true, `[1,"1152921504606846976"]`},
		{"blob list", engine.Column{Type: list(value.Blob), Lists: []value.Value{value.OfList(value.Blob, []value.Value{value.OfBlob([]byte{1})})}}, true, `["AQ=="]`},
		{"date list", engine.Column{Type: list(value.Date), Lists: []value.Value{value.OfList(value.Date, []value.Value{value.OfDate(0)})}}, true, `["1970-01-01"]`},
		{"instants", engine.Column{Type: list(value.DateTime), Lists: []value.Value{value.OfList(value.DateTime, []value.Value{value.OfDateTime(0)})}}, true, `["1970-01-01T00:00:00.000Z"]`},
		{"numbers", engine.Column{Type: list(value.F32), Lists: []value.Value{value.OfList(value.F32, []value.Value{value.OfF32(0.1), value.OfF32(float32(math.Inf(1)))})}}, true, `[0.1,"Infinity"]`},
		{"bools", engine.Column{Type: list(value.Bool), Lists: []value.Value{value.OfList(value.Bool, []value.Value{value.OfBool(true)})}}, true, `[true]`},
		{"U64 list", engine.Column{Type: list(value.U64), Lists: []value.Value{value.OfList(value.U64, []value.Value{value.OfU64(math.MaxUint64)})}}, false, `[18446744073709551615]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			col := plan.Column{Name: `c"`, Type: tt.col.Type}
			if tt.col.Fields != nil {
				col.Fields = []plan.Field{{Name: "id"}, {Name: "x"}}
			}
			e := &Writer{enc: Options{SafeIntegers: tt.safe}}
			n, _, err := e.rowsOf(context.Background(), &columns{cols: []plan.Column{col}, batches: []*engine.Batch{{Len: 1, Columns: []engine.Column{tt.col}}}}, 0, 0)
			want := `[{"c\"":` + tt.want + `}]`
			if err != nil || n != 1 || string(e.buf) != want || !json.Valid(e.buf) {
				t.Errorf("got %s, %d, %v, want %s", e.buf, n, err, want)
			}
		})
	}
}

// TestNestedRecords writes rows with more nested records than one answer may have. If the answer
// has pages, the page must end before the row that exceeds the limit. If it has none, the answer
// must be refused.
func TestNestedRecords(t *testing.T) {
	const each, rows = plan.MaxNested / 4, 6
	fields := []plan.Field{{Name: "n", Type: value.Of(value.I32)}}
	result := func() *columns {
		c := engine.Column{Type: value.Type{List: true}, Offsets: []int32{0}, Fields: []engine.Column{{Type: fields[0].Type, Ints: make([]int64, rows*each)}}}
		for i := range rows {
			c.Offsets = append(c.Offsets, int32((i+1)*each))
		}
		return &columns{cols: []plan.Column{{Name: "l", Type: c.Type, Fields: fields}}, batches: []*engine.Batch{{Len: rows, Columns: []engine.Column{c}}}}
	}
	for _, tt := range []struct {
		opts   Options
		rows   int
		why    cut
		refuse bool
	}{
		{Options{MaxRows: 100}, 4, byRows, false},
		{Options{MaxRows: 3}, 3, byRows, false},
		{Options{MaxBytes: 1 << 30}, 4, byRows, false},
		{Options{}, 0, whole, true},
		{Options{MaxRows: 100, Refuse: true}, 0, whole, true},
	} {
		n, why, err := (&Writer{enc: tt.opts}).rowsOf(t.Context(), result(), 0, 0)
		var large *engine.TooLarge
		if refused := errors.As(err, &large); refused != tt.refuse || !refused && (err != nil || n != tt.rows || why != tt.why) {
			t.Errorf("%+v: %d rows, cut by %q, %v", tt.opts, n, why, err)
		}
	}
}

// people returns a result of n rows in batches of a thousand.
func people(n int) *columns {
	r := &columns{cols: []plan.Column{
		{Name: "p.name", Type: value.Of(value.String)}, {Name: "p.age", Type: value.Of(value.I32)}, {Name: "p.score", Type: value.Of(value.F64)},
	}}
	for ; n > 0; n -= 1000 {
		b := &engine.Batch{Len: min(n, 1000), Columns: []engine.Column{{Type: r.cols[0].Type}, {Type: r.cols[1].Type}, {Type: r.cols[2].Type}}}
		for i := range b.Len {
			b.Columns[0].Strings = append(b.Columns[0].Strings, "somebody's name")
			b.Columns[1].Ints = append(b.Columns[1].Ints, int64(i))
			b.Columns[2].Floats = append(b.Columns[2].Floats, float64(i)/7)
		}
		r.batches = append(r.batches, b)
	}
	return r
}

func TestEncodingAllocatesNothingPerRow(t *testing.T) {
	r := people(3000)
	e := &Writer{buf: make([]byte, 0, 1<<20)}
	allocs := testing.AllocsPerRun(10, func() {
		r.next, e.buf = 0, e.buf[:0]
		if _, _, err := e.rowsOf(context.Background(), r, 0, 0); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 10 {
		t.Errorf("%v allocations for 3000 rows", allocs)
	}
}

// TestCutsAcrossBatches truncates results at different places. A truncated result must be valid
// JSON and report the truncation.
func TestCutsAcrossBatches(t *testing.T) {
	for _, enc := range []Options{
		{MaxRows: 1}, {MaxRows: 1000}, {MaxRows: 1001}, {MaxBytes: 200}, {MaxBytes: 70_000}, {MaxRows: 1500, MaxBytes: 70_000},
	} {
		e := &Writer{enc: enc}
		if err := e.rowsAnswer(context.Background(), &tool.Env{}, &tool.ReadOutcome{Result: people(2500)}); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Rows        []any
			RowCount    int `json:"row_count"`
			Truncated   bool
			TruncatedBy string `json:"truncated_by"`
		}
		if err := json.Unmarshal(e.buf, &got); err != nil {
			t.Fatalf("%+v: %v", enc, err)
		}
		if !got.Truncated || !e.truncated || len(got.Rows) != got.RowCount || got.RowCount >= 2500 || enc.MaxRows > 0 && got.RowCount > enc.MaxRows {
			t.Errorf("%+v: %d rows, row_count %d, truncated %t", enc, len(got.Rows), got.RowCount, got.Truncated)
		}
		by := "bytes"
		if enc.MaxRows > 0 && got.RowCount == enc.MaxRows {
			by = "rows"
		}
		if got.TruncatedBy != by {
			t.Errorf("%+v: truncated by %s, want %s", enc, got.TruncatedBy, by)
		}
	}
	for _, tt := range []struct {
		enc  Options
		more bool
		want string
	}{
		{Options{MaxRows: 2500}, true, `"row_count":2500,"graph_commit_id":"c1","truncated":true,"truncated_by":"limit"}`},
		{Options{MaxRows: 2500, Refuse: true}, true, `"truncated":true,"truncated_by":"limit"}`},
		{Options{MaxRows: 2500}, false, `"row_count":2500,"graph_commit_id":"c1"}`},
		{Options{}, true, `"row_count":2500,"graph_commit_id":"c1"}`},
		{Options{MaxRows: 2499}, true, `"truncated":true,"truncated_by":"rows"}`},
	} {
		e, r := &Writer{enc: tt.enc}, people(2500)
		r.more = tt.more
		if err := e.rowsAnswer(context.Background(), &tool.Env{}, &tool.ReadOutcome{Result: r}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(e.buf), tt.want) {
			t.Errorf("%+v, rows beyond the query's limit %t: …%s, expected …%s", tt.enc, tt.more, e.buf[len(e.buf)-120:], tt.want)
		}
	}
	e := &Writer{enc: Options{MaxBytes: 70_000, Refuse: true}}
	err := e.rowsAnswer(context.Background(), &tool.Env{}, &tool.ReadOutcome{Result: people(2500)})
	o, ok := err.(*wireerror.Oversize)
	if !ok || o.Rows != 2500 || o.Bytes < 100_000 || o.Bytes > 250_000 {
		t.Errorf("got %v", err)
	}
	e = &Writer{enc: Options{MaxBytes: 1000, Refuse: true}}
	wide := func() *columns {
		c := people(1)
		c.batches[0].Columns[0].Strings[0] = strings.Repeat("x", 5000)
		return c
	}
	if o, ok := e.rowsAnswer(context.Background(), &tool.Env{}, &tool.ReadOutcome{Result: wide()}).(*wireerror.Oversize); !ok || o.Bytes < 5000 || o.Bytes > 5500 {
		t.Errorf("one row that is too large: %v", o)
	}
	if f := wireerror.Explain(err); f.Body.ResourceLimit.Resource != "bytes" {
		t.Errorf("got %+v", f.Body.ResourceLimit)
	}
}

// TestCutsAtEveryByte truncates a result at each number of bytes. The size of its rows is known exactly
// before they are written.
func TestCutsAtEveryByte(t *testing.T) {
	names := func() *columns {
		r := &columns{cols: []plan.Column{{Name: "name", Type: value.Of(value.String)}}}
		r.batches = []*engine.Batch{{Len: 3, Columns: []engine.Column{{Type: r.cols[0].Type, Strings: []string{"a", "bcd", "ef"}}}}}
		return r
	}
	cuts := map[int]bool{}
	for limit := 1; limit < 300; limit++ {
		e := &Writer{enc: Options{MaxBytes: limit}}
		err := e.rowsAnswer(context.Background(), &tool.Env{}, &tool.ReadOutcome{Result: names()})
		if _, ok := err.(*wireerror.Oversize); ok {
			cuts[0] = true
			continue
		}
		var got struct {
			Rows      []struct{ Name string }
			RowCount  int `json:"row_count"`
			Truncated bool
		}
		if err := errors.Join(err, json.Unmarshal(e.buf, &got)); err != nil {
			t.Fatalf("limit %d: %v: %s", limit, err, e.buf)
		}
		if len(got.Rows) == 0 || len(got.Rows) != got.RowCount || got.Truncated != (got.RowCount < 3) {
			t.Errorf("limit %d: %s", limit, e.buf)
		}
		cuts[got.RowCount] = true
	}
	if len(cuts) != 4 {
		t.Errorf("the limits cut after %v rows, expected after 0, 1, 2 and 3", cuts)
	}
}

func BenchmarkEncode(b *testing.B) {
	r := people(5000)
	e := &Writer{buf: make([]byte, 0, 1<<20)}
	b.ReportAllocs()
	for b.Loop() {
		r.next, e.buf = 0, e.buf[:0]
		if _, _, err := e.rowsOf(context.Background(), r, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(e.buf)))
}
