package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

func everyType() *catalog.Schema {
	prop := func(name string, typ value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: typ} }
	opt := func(k value.Kind) value.Type { return value.Of(k).Optional() }
	c := &catalog.Schema{
		Nodes: []*catalog.Node{
			{Name: "P", Key: []string{"k"}, Properties: []*catalog.Property{prop("k", value.Of(value.String)), prop("i", opt(value.I32)), prop("l", opt(value.I64)),
				prop("u", opt(value.U32)), prop("ul", opt(value.U64)), prop("f", opt(value.F32)), prop("d", opt(value.F64)), prop("b", opt(value.Bool)),
				prop("day", opt(value.Date)), prop("t", opt(value.DateTime)), prop("blob", opt(value.Blob)), prop("v", value.Type{Kind: value.Vector, Dim: 2, Nullable: true}),
				prop("list", value.Type{Kind: value.String, List: true, Nullable: true}), prop("dates", value.Type{Kind: value.Date, List: true, Nullable: true}),
				prop("e", value.Type{Kind: value.String, Nullable: true, Enum: []string{"x", "y"}})}},
			{Name: "Named", Key: []string{"id"}, Properties: []*catalog.Property{prop("id", value.Of(value.String)), prop("v", value.Type{Kind: value.Vector, Dim: 3})}},
			{Name: "None", Properties: []*catalog.Property{prop("x", opt(value.String))}},
		},
		Edges: []*catalog.Edge{
			{Name: "Likes", From: "P", To: "P", Properties: []*catalog.Property{prop("w", value.Of(value.F64))}},
			{Name: "To", From: "P", To: "Named"},
		},
	}
	c.Index()
	return c
}

// lines returns a complete graph as Export writes it, ordered by id.
func lines(n int) []string {
	var out []string
	for i := range n {
		line := fmt.Sprintf(`{"type":"P","data":{"k":"p%06d"`, i)
		if i%3 != 0 {
			line += fmt.Sprintf(`,"i":%d,"l":%d,"u":%d,"ul":"%d","f":%d.5,"d":0.25,"b":%t,"day":"2024-02-29","t":"2024-05-01T12:00:00.000Z","blob":"AP8=","v":[%d,2],"list":["a","é%d"],"dates":["2024-01-01"],"e":"x"`,
				-i, int64(i)<<40, i, uint64(1)<<63+uint64(i), i, i%2 == 0, i, i)
		} else if i%2 == 0 {
			line += `,"list":[],"dates":[]`
		}
		out = append(out, line+"}}")
	}
	out = append(out, `{"type":"Named","data":{"id":"one","v":[1,2,3]}}`)
	for i := range n {
		out = append(out, fmt.Sprintf(`{"edge":"Likes","from":"p%06d","to":"p%06d","data":{"id":"e%06d","w":%d.5}}`, (i*7)%n, i, i, i))
	}
	return append(out, `{"edge":"To","from":"p000000","to":"one","data":{"id":"t"}}`)
}

func graph(t *testing.T, text string) engine.Graph { return graphOf(t, everyType(), text) }

func graphOf(t *testing.T, schema *catalog.Schema, text string) engine.Graph {
	t.Helper()
	g, err := embedded.Create(t.Context(), fs.NewMem(), "g", "// all", schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := g.Load(t.Context(), strings.NewReader(text), engine.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	return g
}

// memFile is an in-memory file that counts how often it was closed.
type memFile struct {
	bytes.Buffer
	closed int
	fail   error
}

func (f *memFile) Write(p []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Buffer.Write(p)
}

func (f *memFile) Close() error { f.closed++; return nil }

func TestExport(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	n := 5000
	g := graph(t, strings.Join(lines(n), "\n"))
	files := map[string]*memFile{}
	commit, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(e plan.Entity, name string) (io.WriteCloser, error) {
		f := &memFile{}
		files[parquet.FileName(e, name)] = f
		return f, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if head, err := g.Snapshot(t.Context(), engine.Target{}); err != nil || head.Commit.ID != commit.ID {
		t.Errorf("commit %s, want %s (%v)", commit.ID, head.Commit.ID, err)
	}
	var got []string
	for _, name := range []string{"nodes/P.parquet", "nodes/Named.parquet", "nodes/None.parquet", "edges/Likes.parquet", "edges/To.parquet"} {
		f := files[name]
		if f == nil || f.closed != 1 {
			t.Fatalf("%s does not exist, or was not closed exactly once", name)
		}
		got = append(got, readBack(t, name, f.Bytes())...)
	}
	if len(files) != 5 {
		t.Errorf("%d files, want 5", len(files))
	}

	// The lines that were read back, loaded into an empty graph, must export as the original graph
	// does.
	again := graph(t, strings.Join(got, "\n"))
	var want, have bytes.Buffer
	for to, from := range map[*bytes.Buffer]engine.Graph{&want: g, &have: again} {
		if _, err := from.Export(t.Context(), to, engine.Target{}, engine.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if want.Len() < 100*n || have.String() != want.String() {
		t.Errorf("the graph that was read back exports %d bytes, want %d", have.Len(), want.Len())
	}
	if got[0] != `{"type":"P","data":{"k":"p000000","list":[],"dates":[]}}` {
		t.Errorf("the first line is %s", got[0])
	}
}

// readBack turns a Parquet file into lines that a load accepts, in the order of the file.
func readBack(t *testing.T, name string, data []byte) []string {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer r.Close()
	pr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 777}, memory.DefaultAllocator)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	tbl, err := pr.ReadTable(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer tbl.Release()
	kind, typ, _ := strings.Cut(strings.TrimSuffix(name, ".parquet"), "/")
	rows := array.NewTableReader(tbl, 777)
	defer rows.Release()
	var out []string
	last := ""
	for rows.Next() {
		b := rows.RecordBatch()
		for i := range int(b.NumRows()) {
			var props []string
			head := fmt.Sprintf(`{"type":%q`, typ)
			if kind == "edges" {
				head = fmt.Sprintf(`{"edge":%q`, typ)
			}
			for c, col := range b.Columns() {
				field := b.Schema().Field(c)
				if col.IsNull(i) {
					if !field.Nullable {
						t.Errorf("%s: a null in %s, which is required", name, field.Name)
					}
					continue
				}
				switch field.Name {
				case "id":
					if id := col.(*array.String).Value(i); id <= last {
						t.Errorf("%s: %s comes after %s", name, id, last)
					} else {
						last = id
					}
				case "from", "to":
					head += fmt.Sprintf(`,%q:%q`, field.Name, col.(*array.String).Value(i))
					continue
				}
				if typ == "P" && field.Name == "id" {
					continue
				}
				props = append(props, fmt.Sprintf("%q:%s", field.Name, jsonOf(t, col, i)))
			}
			out = append(out, head+`,"data":{`+strings.Join(props, ",")+`}}`)
		}
	}
	return out
}

func jsonOf(t *testing.T, a arrow.Array, i int) string {
	t.Helper()
	switch a := a.(type) {
	case *array.String:
		return fmt.Sprintf("%q", a.Value(i))
	case *array.List:
		from, to := a.ValueOffsets(i)
		return elements(t, a.ListValues(), from, to)
	case *array.FixedSizeList:
		from, to := a.ValueOffsets(i)
		return elements(t, a.ListValues(), from, to)
	case *array.Uint64:
		return fmt.Sprintf(`"%d"`, a.Value(i))
	case *array.Binary, *array.Date32:
		return fmt.Sprintf("%q", a.ValueStr(i))
	case *array.Timestamp:
		return fmt.Sprint(int64(a.Value(i)))
	}
	return a.ValueStr(i)
}

func elements(t *testing.T, a arrow.Array, from, to int64) string {
	t.Helper()
	var out []string
	for i := from; i < to; i++ {
		out = append(out, jsonOf(t, a, int(i)))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func TestExportSome(t *testing.T) {
	g := graph(t, strings.Join(lines(3), "\n"))
	var made []string
	create := func(e plan.Entity, name string) (io.WriteCloser, error) {
		made = append(made, parquet.FileName(e, name))
		return &memFile{}, nil
	}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"To", "Named"}}, create); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(made, " "); got != "nodes/Named.parquet edges/To.parquet" {
		t.Errorf("files %s", got)
	}
	_, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"Nobody"}}, create)
	if !errors.As(err, new(*engine.BadArgument)) {
		t.Errorf("a type that does not exist: %v", err)
	}
	_, err = parquet.Export(t.Context(), g, engine.Target{Branch: "nowhere"}, parquet.Options{}, create)
	if !errors.As(err, new(*engine.NotFound)) {
		t.Errorf("a branch that does not exist: %v", err)
	}
}

func TestExportFails(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	g := graph(t, strings.Join(lines(2000), "\n"))
	full := errors.New("the disk is full")
	f := &memFile{fail: full}
	_, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(plan.Entity, string) (io.WriteCloser, error) { return f, nil })
	if !errors.Is(err, full) || f.closed != 1 {
		t.Errorf("a full disk: %v, closed %d times", err, f.closed)
	}
	_, err = parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(plan.Entity, string) (io.WriteCloser, error) { return nil, full })
	if !errors.Is(err, full) {
		t.Errorf("a file that cannot be made: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = parquet.Export(ctx, g, engine.Target{}, parquet.Options{Memory: mem}, func(plan.Entity, string) (io.WriteCloser, error) { cancel(); return &memFile{}, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an export that is cancelled: %v", err)
	}
}

func TestRowGroups(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	var b strings.Builder
	for i := range 2100 {
		fmt.Fprintf(&b, `{"type":"None","data":{"id":"n%05d","x":"%s %d"}}`+"\n", i, long, i)
	}
	f := &memFile{}
	g := graph(t, b.String())
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"None"}}, func(plan.Entity, string) (io.WriteCloser, error) { return f, nil }); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(f.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRowGroups() != 2 || r.NumRows() != 2100 {
		t.Errorf("%d rows in %d row groups, want 2100 in 2", r.NumRows(), r.NumRowGroups())
	}
}

// TestKinds writes and reads a property of every kind, and a list of every kind that can have one.
func TestKinds(t *testing.T) {
	node := &catalog.Node{Name: "Each"}
	var members []string
	for _, k := range value.Kinds() {
		typ, json := value.Of(k).Optional(), k.Example()
		if k == value.Vector {
			typ.Dim, json = 2, "[1,2]"
		}
		name := strings.ToLower(k.String())
		node.Properties = append(node.Properties, &catalog.Property{Name: name, Type: typ})
		members = append(members, fmt.Sprintf("%q:%s", name, json))
		if k != value.Vector {
			typ.List = true
			node.Properties = append(node.Properties, &catalog.Property{Name: name + "s", Type: typ})
			members = append(members, fmt.Sprintf("%q:[%s]", name+"s", json))
		}
	}
	schema := &catalog.Schema{Nodes: []*catalog.Node{node}}
	schema.Index()
	g := graphOf(t, schema, `{"type":"Each","data":{`+strings.Join(members, ",")+"}}")
	var f memFile
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{}, func(plan.Entity, string) (io.WriteCloser, error) { return &f, nil }); err != nil {
		t.Fatal(err)
	}
	tbl, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(f.Bytes()), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer tbl.Release()
	if int(tbl.NumCols()) != 1+len(node.Properties) {
		t.Errorf("%d columns, want an id and %d", tbl.NumCols(), len(node.Properties))
	}
	for i := range int(tbl.NumCols()) {
		if c := tbl.Column(i); c.Len() != 1 || c.NullN() != 0 {
			t.Errorf("column %s has %d values, %d nulls", c.Name(), c.Len(), c.NullN())
		}
	}
}
