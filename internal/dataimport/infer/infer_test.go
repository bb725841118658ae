package infer

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// propose proposes for the tables of a folder. It checks that the schema is valid, that the map fits it, and that every record
// fits the map.
func propose(t *testing.T, dir string) (schema, mapText string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no tables", err)
	}
	var inputs []Input
	for _, p := range paths {
		inputs = append(inputs, Input{File: record.File{Name: filepath.Base(p), Path: p}, Source: filepath.Base(p)})
	}
	p, err := Propose(context.Background(), inputs, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.Format(gq.Source{Name: "schema.pg", Text: p.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err, p.Schema)
	}
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if len(faults) > 0 {
		t.Fatal(faults, schema)
	}
	m, found := dataimport.Parse("import.yaml", []byte(p.Map))
	if len(found) > 0 {
		t.Fatal(found, p.Map)
	}
	plan, found := dataimport.NewPlan(m, compiled, dataimport.Options{NewNodes: p.Keyless})
	if len(found) > 0 {
		t.Fatal(found, p.Map)
	}
	list, err := m.Files(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, dataimport.New(plan, list, nil).Stream(context.Background())); err != nil {
		t.Errorf("%v\n%s", err, p.Map)
	}
	return schema, p.Map
}

// TestColumns checks what is proposed for a column next to the key of a table t.
func TestColumns(t *testing.T) {
	repeat := func(values string, n int) string { return strings.TrimSuffix(strings.Repeat(values+"|", n), "|") }
	tests := []struct{ name, values, property, set string }{
		{"whole numbers of floats", "1.0|2.0||12.0", "x: I64? // 1 of 4 have no value", "x: x"},
		{"codes", "007|008|120", "x: String", "x: x"},
		{"codes that are too long", "12345678901234567890|2", "x: String", "x: x"},
		{"floats", "1|2.5", "x: F64", "x: x"},
		{"German numbers", "1.234,5|7,25", "x: F64", `x: { column: x, number: "1.234,56" }`},
		{"numbers in doubt", "1,234|2,345", `x: String`, "x: x"},
		{"booleans", "True|False|", "x: Bool? // 1 of 3 have no value", "x: x"},
		{"ISO days", "2024-05-01|1999-12-31", "x: Date", "x: x"},
		{"American days", "5/31/2024|12/1/1999", "x: Date", `x: { column: x, date: "1/2/2006" }`},
		{"days in doubt", "5/4/2024|12/1/1999", "x: String", "x: x"},
		{"times", "2024-05-01T10:00:00Z|2024-05-01T10:00:00.5+02:00", "x: DateTime", "x: x"},
		{"fine times", "2024-05-01T10:00:00.1234567Z", "x: DateTime", "x: { column: x, round: microsecond }"},
		{"times without a zone", "2024-05-01 10:00:00", "x: DateTime", "x: { column: x, zone: UTC }"},
		{"texts for null", "1|N/A|3|-", "x: I64? // 2 of 4 have no value", `x: { column: x, null: ["-", "N/A"] }`},
		{"texts that look like null", "a|-|b", "x: String", "x: x"},
		{"enum", repeat("red|dark-blue", 5), "x: enum(dark-blue, red) // 2 texts in 10 values", "x: x"},
		{"no enum", repeat("light red|blue", 5), "x: String", "x: x"},
		{"nothing", "||", "x: String?", "x: x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			text := "t_id;x\n"
			for i, v := range strings.Split(tt.values, "|") {
				text += "k" + string(rune('a'+i)) + ";" + v + "\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			schema, mapText := propose(t, dir)
			if !strings.Contains(schema, "\n  "+tt.property+"\n") || !strings.Contains(mapText, "\n        "+tt.set+"\n") {
				t.Errorf("expected %s and %s, found\n%s\n%s", tt.property, tt.set, schema, mapText)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for file, want := range map[string]string{"ports.csv": "Port", "a/order_details.csv.gz": "OrderDetail", "companies.csv": "Company", "addresses.tsv": "Address", "2024.csv": "T2024", "Größen.csv": "Groen", "people.csv": "Person", "series.csv": "Series", "movies.csv": "Movie"} {
		if got := typeName(file); got != want {
			t.Errorf("%s: found %s, expected %s", file, got, want)
		}
	}
	for column, want := range map[string]string{"HomePort": "home_port", "IMO": "imo", "URLPath": "url_path", "2nd": "c_2nd", "Prénom": "prenom", "%": "c_", "port-id": "port_id"} {
		if got := propertyName(column); got != want {
			t.Errorf("%s: found %s, expected %s", column, got, want)
		}
	}
}

// write writes files to a folder of the test.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDangling checks the note on a column whose values almost all occur as a key: that of the table with the most of them.
func TestDangling(t *testing.T) {
	schema, _ := propose(t, write(t, map[string]string{"ports.csv": "code\nNL\nDE\nFR\nIT\n", "river_ports.csv": "code\nNL\nDE\nFR\n", "calls.csv": "no,port\n1,NL\n2,DE\n3,FR\n4,IT\n5,XX\n"}))
	if want := "// port: no edge, because 1 of 5 values do not occur in ports.csv.code\n  port: String\n"; !strings.Contains(schema, want) {
		t.Errorf("expected %s in\n%s", want, schema)
	}
}

// TestNamesOfSeveralLines proposes for columns whose names have several lines.
func TestNamesOfSeveralLines(t *testing.T) {
	authors := "id,name\n1,a\n2,b\n3,c\n"
	books := strings.ReplaceAll(authors, "id", "\"book\nid\"")
	for name, tables := range map[string]map[string]string{
		"a join table":  {"authors.csv": authors, "books.csv": books, "wrote.csv": "\"author\nid\",\"book\nid\"\n1,1\n1,2\n2,2\n3,3\n"},
		"a key of two":  {"authors.csv": authors, "prints.csv": "\"author\nid\",no\n1,1\n1,2\n2,1\n3,1\n"},
		"an edge":       {"authors.csv": authors, "books.csv": "isbn,\"author\nid\"\n10,1\n11,1\n12,2\n13,3\n"},
		"without a key": {"authors.csv": authors, "notes.csv": "\"author\nid\",text\n1,x\n1,x\n2,y\n3,y\n"},
	} {
		t.Run(name, func(t *testing.T) { propose(t, write(t, tables)) })
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	text := `{"page": 1, "data": {"items": [
		{"id": 7, "name": "Ann", "home": {"city": "Lyon", "zip": "01"}, "tags": ["a"], "orders": [{"n": 1}], "a.b": true},
		{"id": 8, "name": "Bo", "home": {"city": "Nice"}, "tags": [], "orders": []},
		{"id": 9, "name": "Cy", "home": {"city": "Nice"}, "tags": [], "orders": [], "born": "2001-02-03"}]}}`
	path := filepath.Join(dir, "people.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := record.File{Name: "people.json", Path: path}
	p, err := Propose(t.Context(), []Input{{File: f, Source: "people.json", Records: "data.items"}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantSchema := `// people.json: 3 rows.
node Person {
  id: I64 @key // 3 of 3 distinct
  name: String
  home_city: String
  home_zip: String? // 2 of 3 have no value
  tags: [String]
  // orders: no property, because its values fit no type of a schema
  a_b: Bool? // 2 of 3 have no value
  born: Date? // 2 of 3 have no value
}
`
	if got, faults := gq.Format(gq.Source{Name: "schema.pg", Text: p.Schema}); faults.HasErrors() || got != wantSchema {
		t.Errorf("found %v\n%s\nexpected\n%s", faults, got, wantSchema)
	}
	wantMap := `  people.json:
    read: { records: data.items }
    maps:
      - node: Person # key: 3 of 3 distinct
        set:
          id: id
          name: name
          home_city: home.city
          home_zip: home.zip
          tags: tags
          a_b: a.b
          born: born
`
	if !strings.HasSuffix(p.Map, wantMap) {
		t.Errorf("found\n%s\nexpected\n%s", p.Map, wantMap)
	}
	if _, err := Propose(t.Context(), []Input{{File: f, Source: "people.json", Records: "page"}}, "", nil); err == nil || !strings.Contains(err.Error(), "people.json, line 1, row 1") && !strings.Contains(err.Error(), "the record is not an object; name the path to the records with --records") {
		t.Errorf("found %v, expected that the record is no object", err)
	}
}

func TestGraphML(t *testing.T) {
	f := record.File{Name: "people.graphml", Path: "../record/testdata/networkx.graphml"}
	p, err := Propose(t.Context(), []Input{{File: f, Source: "people.graphml"}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.Format(gq.Source{Name: "schema.pg", Text: p.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/graphml.golden", []byte(schema+p.Map))
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if len(faults) > 0 {
		t.Fatal(faults, schema)
	}
	m, faults := dataimport.Parse("import.yaml", []byte(p.Map))
	if len(faults) > 0 {
		t.Fatal(faults, p.Map)
	}
	plan, faults := dataimport.NewPlan(m, compiled, dataimport.Options{})
	if len(faults) > 0 {
		t.Fatal(faults, p.Map)
	}
	text, err := io.ReadAll(dataimport.New(plan, [][]record.File{{f}}, nil).Stream(t.Context()))
	if err != nil || !strings.Contains(string(text), `{"edge":"PersonEdge","from":"a","to":"b","data":{"weight":2,"since":"2024-05-01"}}`) {
		t.Errorf("found %v\n%s", err, text)
	}
}
