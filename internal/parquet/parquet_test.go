package parquet_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
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
	// An export must not need memory for a query over a whole type.
	g, err := embedded.Create(t.Context(), fs.NewMem(), "g", "// all", schema, embedded.Options{QueryMemory: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := g.Load(t.Context(), strings.NewReader(text), engine.LoadOptions{Mode: engine.Append}); err != nil {
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

// folder is an in-memory folder of files.
type folder map[string]*memFile

func (f folder) create(path string) (io.WriteCloser, error) {
	if f[path] != nil {
		return nil, fmt.Errorf("%s was created twice", path)
	}
	f[path] = &memFile{}
	return f[path], nil
}

// paths returns the sorted paths of the files, separated by spaces.
func (f folder) paths() string { return strings.Join(slices.Sorted(maps.Keys(f)), " ") }

// manifest returns the manifest of the folder after comparing it with the files: their sizes, hashes
// and rows, and the sums of the rows. Every file must be in it and must have been closed once.
func (f folder) manifest(t *testing.T) parquet.Manifest {
	t.Helper()
	var m parquet.Manifest
	dec := json.NewDecoder(bytes.NewReader(f[parquet.ManifestName].Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	listed := 1 // the manifest
	for _, typ := range m.Types {
		rows := int64(0)
		for i, file := range typ.Files {
			listed++
			if want := fmt.Sprintf("%s/part-%05d.parquet", typ.Folder, i); file.Path != want {
				t.Errorf("file %d of %s is %s, want %s", i, typ.TypeName, file.Path, want)
			}
			data := f[file.Path].Bytes()
			sum := sha256.Sum256(data)
			if file.SizeBytes != int64(len(data)) || file.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%s has %d bytes with another hash or size than in the manifest: %+v", file.Path, len(data), file)
			}
			if n := reader(t, data).NumRows(); n != file.RowCount {
				t.Errorf("%s has %d rows, %d in the manifest", file.Path, n, file.RowCount)
			}
			rows += file.RowCount
		}
		if rows != typ.RowCount || len(typ.Files) == 0 {
			t.Errorf("%s has %d rows in %d files, %d in the manifest", typ.TypeName, rows, len(typ.Files), typ.RowCount)
		}
	}
	if listed != len(f) {
		t.Errorf("the manifest lists %d of the files %s", listed-1, f.paths())
	}
	for path, file := range f {
		if file.closed != 1 {
			t.Errorf("%s was closed %d times", path, file.closed)
		}
	}
	return m
}

func reader(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestExport(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	n := 5000
	g := graph(t, strings.Join(lines(n), "\n"))
	files := folder{}
	commit, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{PartRows: 1500, Memory: mem}, files.create)
	if err != nil {
		t.Fatal(err)
	}
	head, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil || head.Commit.ID != commit.ID {
		t.Errorf("commit %s, want %s (%v)", commit.ID, head.Commit.ID, err)
	}
	m := files.manifest(t)
	if want := (parquet.ManifestCommit{GraphCommitID: head.Commit.ID, CreatedAt: head.Commit.Time.UnixMicro()}); m.FormatVersion != 1 || m.Commit != want || m.SchemaDigest != head.Commit.Schema {
		t.Errorf("the manifest begins with %d, %+v, %q, want commit %+v", m.FormatVersion, m.Commit, m.SchemaDigest, head.Commit)
	}
	var got, parts []string
	for _, typ := range m.Types {
		last := ""
		for _, file := range typ.Files {
			parts = append(parts, fmt.Sprintf("%s %d", file.Path, file.RowCount))
			got = append(got, readBack(t, typ, files[file.Path].Bytes(), &last)...)
		}
	}
	want := []string{"nodes/P/part-00000.parquet 1500", "nodes/P/part-00001.parquet 1500", "nodes/P/part-00002.parquet 1500", "nodes/P/part-00003.parquet 500",
		"nodes/Named/part-00000.parquet 1", "nodes/None/part-00000.parquet 0",
		"edges/Likes/part-00000.parquet 1500", "edges/Likes/part-00001.parquet 1500", "edges/Likes/part-00002.parquet 1500", "edges/Likes/part-00003.parquet 500",
		"edges/To/part-00000.parquet 1"}
	if !slices.Equal(parts, want) {
		t.Errorf("the files are\n%s\nwant\n%s", strings.Join(parts, "\n"), strings.Join(want, "\n"))
	}

	// The lines that were read back, loaded into an empty graph, must export as the original graph
	// does.
	again := graph(t, strings.Join(got, "\n"))
	var whole, have bytes.Buffer
	for to, from := range map[*bytes.Buffer]engine.Graph{&whole: g, &have: again} {
		if _, err := from.Export(t.Context(), to, engine.Target{}, engine.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if whole.Len() < 100*n || have.String() != whole.String() {
		t.Errorf("the graph that was read back exports %d bytes, want %d", have.Len(), whole.Len())
	}
	if got[0] != `{"type":"P","data":{"k":"p000000","list":[],"dates":[]}}` {
		t.Errorf("the first line is %s", got[0])
	}
}

// readBack turns a file of a type into lines that a load accepts, in the order of the file. The ids
// must be greater than `last`. readBack then sets `last` to the last id of the file.
func readBack(t *testing.T, of parquet.ManifestType, data []byte, last *string) []string {
	t.Helper()
	name, typ := of.Folder, of.TypeName
	pr, err := pqarrow.NewFileReader(reader(t, data), pqarrow.ArrowReadProperties{BatchSize: 777}, memory.DefaultAllocator)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	tbl, err := pr.ReadTable(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer tbl.Release()
	rows := array.NewTableReader(tbl, 777)
	defer rows.Release()
	var out []string
	for rows.Next() {
		b := rows.RecordBatch()
		for i := range int(b.NumRows()) {
			var props []string
			head := fmt.Sprintf(`{"type":%q`, typ)
			if of.EntityKind == "edge" {
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
					if id := col.(*array.String).Value(i); id <= *last {
						t.Errorf("%s: %s comes after %s", name, id, *last)
					} else {
						*last = strings.Clone(id)
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
		return a.Value(i).ToTime(arrow.Microsecond).Format(`"` + time.RFC3339Nano + `"`)
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
	files := folder{}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"To", "Named"}}, files.create); err != nil {
		t.Fatal(err)
	}
	files.manifest(t)
	if got := files.paths(); got != "edges/To/part-00000.parquet manifest.json nodes/Named/part-00000.parquet" {
		t.Errorf("files %s", got)
	}
	none := func(path string) (io.WriteCloser, error) {
		t.Errorf("%s was created", path)
		return &memFile{}, nil
	}
	for _, name := range []string{"Nobody", "named"} {
		_, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"P", name}}, none)
		if !errors.As(err, new(*engine.BadArgument)) {
			t.Errorf("the type %s, which does not exist: %v", name, err)
		}
	}
	_, err := parquet.Export(t.Context(), g, engine.Target{Branch: "nowhere"}, parquet.Options{}, none)
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
	_, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(string) (io.WriteCloser, error) { return f, nil })
	if !errors.Is(err, full) || f.closed != 1 {
		t.Errorf("a full disk: %v, closed %d times", err, f.closed)
	}
	_, err = parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(string) (io.WriteCloser, error) { return nil, full })
	if !errors.Is(err, full) {
		t.Errorf("a file that cannot be made: %v", err)
	}
	files := folder{}
	_, err = parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Memory: mem}, func(path string) (io.WriteCloser, error) {
		f, err := files.create(path)
		if path == parquet.ManifestName {
			f.(*memFile).fail = full
		}
		return f, err
	})
	if !errors.Is(err, full) || files[parquet.ManifestName].closed != 1 {
		t.Errorf("a disk that is full before the manifest: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = parquet.Export(ctx, g, engine.Target{}, parquet.Options{Memory: mem}, func(string) (io.WriteCloser, error) { cancel(); return &memFile{}, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an export that is cancelled: %v", err)
	}
}

// TestWriteBadExport writes exports that end early or do not fit the schema. Each must return the
// right error, and no manifest may be written.
func TestWriteBadExport(t *testing.T) {
	const first = `{"type":"P","data":{"id":"a","k":"a"}}` + "\n"
	broken := errors.New("the connection broke")
	for _, tt := range []struct {
		name string
		in   io.Reader
		want string
	}{
		{"broken connection", io.MultiReader(strings.NewReader(first), iotest.ErrReader(broken)), "the connection broke"},
		{"broken in a line", io.MultiReader(strings.NewReader(first[:15]), iotest.ErrReader(broken)), "the connection broke"},
		{"cut in a line", strings.NewReader(first + first[:15]), "line 2 of the export: node P: "},
		{"another order", strings.NewReader(`{"type":"None","data":{"id":"n"}}` + first), "the export has node P after node None"},
		{"unknown type", strings.NewReader(`{"type":"Q","data":{}}`), `line 1 of the export: the schema has no node type "Q"`},
		{"unknown property", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","z":1}}`), `line 1 of the export: node P: found "z"`},
		{"required property", strings.NewReader(`{"type":"P","data":{"id":"a","i":1}}`), "node P: it has no k, which is required"},
		{"property twice", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","k":"a"}}`), "node P: it has k twice"},
		{"wrong kind", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","i":"1"}}`), "node P: i: found"},
		{"out of range", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","i":3000000000}}`), "node P: i: found 3000000000"},
		{"null in a list", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","list":["a",null]}}`), "node P: list: element 1: found null"},
		{"short vector", strings.NewReader(`{"type":"P","data":{"id":"a","k":"a","v":[1]}}`), "node P: v: found 1 numbers, expected 2"},
		{"no entity", strings.NewReader(`[]`), "line 1 of the export: found ["},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			files := folder{}
			err := parquet.Write(t.Context(), tt.in, engine.Commit{}, everyType(), parquet.Options{Types: []string{"P", "None"}, Memory: mem}, files.create)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found the error %v, want %s", err, tt.want)
			}
			if strings.HasPrefix(tt.name, "broken") && !errors.Is(err, broken) {
				t.Errorf("the error %v is not that of the reader", err)
			}
			if files[parquet.ManifestName] != nil {
				t.Error("a manifest was written")
			}
		})
	}
}

func TestRowGroups(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, `{"type":"None","data":{"id":"n%05d","x":"%s %d"}}`+"\n", i, long, i)
	}
	files := folder{}
	g := graph(t, b.String())
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"None"}}, files.create); err != nil {
		t.Fatal(err)
	}
	files.manifest(t)
	r := reader(t, files["nodes/None/part-00000.parquet"].Bytes())
	if r.NumRowGroups() != 2 || r.NumRows() != 3000 {
		t.Errorf("%d rows in %d row groups, want 3000 in 2", r.NumRows(), r.NumRowGroups())
	}

	// A file ends when its first row group has exceeded the limit.
	files = folder{}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{PartBytes: 1000}, files.create); err != nil {
		t.Fatal(err)
	}
	for _, typ := range files.manifest(t).Types {
		if want := map[string]int{"None": 2}[typ.TypeName]; len(typ.Files) != max(1, want) {
			t.Errorf("%s has %d files, want %d", typ.TypeName, len(typ.Files), max(1, want))
		}
	}
}

// TestStatistics checks that scalar columns have statistics and lists have none. The library makes
// wrong statistics for lists without elements.
func TestStatistics(t *testing.T) {
	g := graph(t, `{"type":"P","data":{"k":"a","t":"2024-05-01T12:00:00.000Z","dates":[]}}`)
	files := folder{}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: []string{"P"}}, files.create); err != nil {
		t.Fatal(err)
	}
	group := reader(t, files["nodes/P/part-00000.parquet"].Bytes()).MetaData().RowGroup(0)
	for i := range group.NumColumns() {
		chunk, err := group.ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		set, err := chunk.StatsSet()
		path := chunk.PathInSchema().String()
		if want := !strings.Contains(path, "."); err != nil || set != want {
			t.Errorf("column %s has statistics: %t, want %t (%v)", path, set, want, err)
		}
	}
}

// TestFolders exports types with names that differ only in case, all of them or some. The names of
// their folders must differ in more than case.
func TestFolders(t *testing.T) {
	schema := &catalog.Schema{Nodes: []*catalog.Node{{Name: "File"}, {Name: "FILE"}, {Name: "FiLE"}}, Edges: []*catalog.Edge{{Name: "File", From: "File", To: "FILE"}}}
	schema.Index()
	const text = `{"type":"File","data":{"id":"a"}}
{"type":"FILE","data":{"id":"b"}}
{"edge":"File","from":"a","to":"b","data":{"id":"e"}}`
	g := graphOf(t, schema, text)
	for _, tt := range []struct {
		types []string
		want  string
	}{
		{nil, "nodes/File node File 1, nodes/FILE.2 node FILE 1, nodes/FiLE.3 node FiLE 0, edges/File edge File 1"},
		{[]string{"FILE"}, "nodes/FILE.2 node FILE 1, edges/File edge File 1"},
		{[]string{"FiLE"}, "nodes/FiLE.3 node FiLE 0, edges/File edge File 1"},
		{[]string{"File"}, "nodes/File node File 1, edges/File edge File 1"},
	} {
		files := folder{}
		if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{Types: tt.types}, files.create); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, typ := range files.manifest(t).Types {
			got = append(got, fmt.Sprint(typ.Folder, " ", typ.EntityKind, " ", typ.TypeName, " ", typ.RowCount))
		}
		if list := strings.Join(got, ", "); list != tt.want {
			t.Errorf("%v: found %s, want %s", tt.types, list, tt.want)
		}
	}
}

// TestManifest compares the manifest of a small graph with a golden file, because readers rely on
// the names in a manifest. The sizes and hashes of its files are left out, because they follow from
// the library.
func TestManifest(t *testing.T) {
	schema := everyType()
	commit := engine.Commit{ID: "01HZX", Time: time.UnixMicro(1714566600123456), Schema: "sha256:00"}
	var export bytes.Buffer
	if _, err := graph(t, strings.Join(lines(3), "\n")).Export(t.Context(), &export, engine.Target{}, engine.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	files := folder{}
	if err := parquet.Write(t.Context(), &export, commit, schema, parquet.Options{PartRows: 2}, files.create); err != nil {
		t.Fatal(err)
	}
	files.manifest(t)
	text := regexp.MustCompile(`"size_bytes": \d+`).ReplaceAll(files[parquet.ManifestName].Bytes(), []byte(`"size_bytes": 0`))
	text = regexp.MustCompile(`"sha256": "[0-9a-f]{64}"`).ReplaceAll(text, []byte(`"sha256": ""`))
	golden.Check(t, "testdata/manifest.golden", text)
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
		if k == value.Decimal {
			typ = value.DecimalOf(38, 2).Optional()
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
	files := folder{}
	if _, err := parquet.Export(t.Context(), g, engine.Target{}, parquet.Options{}, files.create); err != nil {
		t.Fatal(err)
	}
	tbl, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(files["nodes/Each/part-00000.parquet"].Bytes()), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
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

// TestReadKinds checks that the schema of make test-parquet has a property of every kind: required,
// nullable, and as a list unless the kind has none.
func TestReadKinds(t *testing.T) {
	schema, err := os.ReadFile("testdata/duckdb/every.pg")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range value.Kinds() {
		forms := []string{k.String(), k.String() + "?", "[" + k.String() + "]?"}
		if k == value.Vector {
			forms = []string{"Vector(3)", "Vector(3)?"}
		}
		if k == value.Decimal {
			forms = []string{"Decimal(38, 4)", "Decimal(38, 4)?", "[Decimal(38, 4)]?"}
		}
		for _, form := range forms {
			if !strings.Contains(string(schema), ": "+form+"\n") {
				t.Errorf("every.pg has no property of the type %s", form)
			}
		}
	}
}
