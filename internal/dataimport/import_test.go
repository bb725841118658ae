package dataimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

const testSchema = `
interface Place { name: String }
node Port implements Place { unlocode: String @key  name: String  opened: Date?  imo: U32? @unique  depth: F64?  @range(depth, 0..40) @check(unlocode, "^[A-Z]+$") }
node Berth implements Place { no: I32  name: String  port: String  @key(port, no) }
node Note { text: String }
edge CallsAt: Note -> Port { cost: F64?  status: enum(planned, done)? }
edge At: Note -> Place
`

func schema(t testing.TB) *catalog.Schema {
	t.Helper()
	s, found := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: testSchema})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// imported prepares an import of files in the format of txtar without a library: names to contents. import.yaml is the map.
func imported(t testing.TB, files map[string]string) (*Import, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, faults := Parse("import.yaml", []byte(files["import.yaml"]))
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	plan, faults := NewPlan(m, schema(t), Options{})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	list, err := m.Files(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range list {
		for i := range source {
			source[i].Name = filepath.Base(source[i].Name)
		}
	}
	return New(plan, list, nil), dir
}

// lines reads the stream of an import.
func lines(t testing.TB, in *Import) string {
	t.Helper()
	s := in.Stream(context.Background())
	b, err := io.ReadAll(s)
	if err != nil {
		return err.Error()
	}
	if s.Err() != nil {
		t.Errorf("the stream ended, and Err says %v", s.Err())
	}
	return string(b)
}

// graph is a Finder with fixed nodes, by the text of the value.
type graph map[string]string

func (g graph) Find(_ context.Context, typ string, props []string, tuples [][]value.Value) ([]string, error) {
	if typ != "Port" || !slices.Equal(props, []string{"imo"}) {
		return nil, errors.New("found another type or property")
	}
	ids := make([]string, len(tuples))
	for i, t := range tuples {
		ids[i] = g[value.Text(t[0])]
	}
	return ids, nil
}

const portMap = `
  ports.csv: { node: Port, set: { unlocode: code, name: name, imo: imo, depth: depth } }
`

func TestStream(t *testing.T) {
	in, _ := imported(t, map[string]string{
		"ports.csv":  "code,name,imo,depth\nNL,Rotterdam \"x\",7,\nDE,Hamburg,8,12.5\n",
		"notes.json": `[{"id":"n1","port":"NL","b":{"no":"1.0","port":"NL"},"imo":7,"s":"planned"},{"id":"n2","port":null,"b":{"no":2,"port":"DE"},"imo":9,"s":"x"},{"id":"n3","imo":8,"s":"done"}]`,
		"import.yaml": "sources:" + portMap + `
  notes.json:
    - { node: Note, set: { id: id, text: { value: "a note" } } }
    - { edge: At, from: { Note: { id: id } }, to: { Port: { unlocode: port } } }
    - { edge: At, from: { Note: { id: id } }, to: { Berth: { no: b.no, port: b.port } } }
    - { edge: CallsAt, from: { Note: { id: id } }, to: { Port: { imo: imo } }, set: { status: s }, where: { s: [planned, done] } }
`})
	if !in.Lookups() {
		t.Error("no end needs a lookup")
	}
	if err := in.Prepare(context.Background(), graph{"8": "XX", "9": "US"}, false); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"Port","data":{"unlocode":"NL","name":"Rotterdam \"x\"","imo":7,"depth":null}}
{"type":"Port","data":{"unlocode":"DE","name":"Hamburg","imo":8,"depth":12.5}}
{"type":"Note","data":{"id":"n1","text":"a note"}}
{"type":"Note","data":{"id":"n2","text":"a note"}}
{"type":"Note","data":{"id":"n3","text":"a note"}}
{"edge":"At","from":"n1","to":{"type":"Port","id":"NL"},"data":{}}
{"edge":"At","from":"n1","to":{"type":"Berth","id":"[\"1\",\"NL\"]"},"data":{}}
{"edge":"CallsAt","from":"n1","to":"NL","data":{"status":"planned"}}
{"edge":"At","from":"n2","to":{"type":"Berth","id":"[\"2\",\"DE\"]"},"data":{}}
{"edge":"CallsAt","from":"n3","to":"DE","data":{"status":"done"}}
`
	if got := lines(t, in); got != want {
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
	// Line 8 is an edge, line 2 a node that occurs before.
	faults, err := in.Explain(context.Background(), []LineFault{{2, "data.depth", errors.New("too deep")}, {8, "to", errors.New("no such port")}, {5, "", errors.New("exists")}}, true)
	wantFaults := "ports.csv, line 3, column depth, value \"12.5\": too deep\nnotes.json, line 1: exists\nnotes.json, line 1, column imo, value \"7\": no such port\n(there are more faults)"
	if err != nil || faults.Error() != wantFaults {
		t.Errorf("found\n%v, %v\nexpected\n%s", faults, err, wantFaults)
	}
}

func TestLookupInGraph(t *testing.T) {
	files := map[string]string{
		"ports.csv": "code,name,imo,depth\nDE,Hamburg,8,\n",
		"calls.csv": "note,imo\nn,7\nn,8\nn,9\n",
		"import.yaml": "sources:" + portMap + `
  calls.csv: { edge: CallsAt, from: { Note: { id: note } }, to: { Port: { imo: imo } } }
`}
	in, _ := imported(t, files)
	if err := in.Prepare(context.Background(), graph{"7": "NL", "9": "DE"}, false); err != nil {
		t.Fatal(err)
	}
	// The graph has DE with 9, but the import gives it 8.
	if got, want := lines(t, in), "calls.csv, line 4, column imo, value \"9\": no Port has this imo"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	in, _ = imported(t, files)
	if err := in.Prepare(context.Background(), graph{"7": "NL"}, true); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, in); !strings.Contains(got, "calls.csv, line 2") {
		t.Errorf("an end was found in a graph that the import replaces: %s", got)
	}
}

func TestFaultsOfRecords(t *testing.T) {
	in, _ := imported(t, map[string]string{
		"ports.csv":   "code,name,imo,depth\nNL,,1,\nde,x,2,\nFR,x,x,\nUS,x,,41\nBE,x\n",
		"import.yaml": "sources:" + portMap})
	want := `ports.csv, line 2, column name: Port.name is required
ports.csv, line 3, column code, value "de": found "de", expected a text that matches ^[A-Z]+$
ports.csv, line 4, column imo, value "x": expected a number
ports.csv, line 5, column depth, value "41": found 41, expected at most 40
ports.csv, line 6, value "BE,x": the record has 2 fields and the header 4; write ragged: fill under read in the map to read absent fields as null`
	if got := lines(t, in); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}

func TestMostFaults(t *testing.T) {
	in, _ := imported(t, map[string]string{
		"ports.csv":   "code,name,imo,depth\n" + strings.Repeat("NL,x,x,\n", 150),
		"import.yaml": "sources:" + portMap})
	got := lines(t, in)
	if n := strings.Count(got, "expected a number"); n != 100 || !strings.HasSuffix(got, "(there are more faults)") {
		t.Errorf("%d faults: %s", n, got)
	}
}

func TestRejects(t *testing.T) {
	in, _ := imported(t, map[string]string{
		"ports.csv":   "code,name,imo,depth\nNL,Rotterdam,,\nDE,Hamburg,x,\nBE\nFR,,,\nUS,NY,3,\n",
		"import.yaml": "sources:" + portMap})
	var w strings.Builder
	in.Reject(&w, 4)
	if err := in.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"Port","data":{"unlocode":"NL","name":"Rotterdam","imo":null,"depth":null}}
{"type":"Port","data":{"unlocode":"US","name":"NY","imo":3,"depth":null}}
`
	if got := lines(t, in); got != want || in.Rejected() != 3 {
		t.Errorf("%d rejected:\n%s", in.Rejected(), got)
	}
	if _, err := in.Explain(context.Background(), []LineFault{{2, "data.imo", errors.New("taken")}}, false); err != nil || in.Over() != nil {
		t.Fatal(err, in.Over())
	}
	wantRejects := `{"source":"ports.csv","file":"ports.csv","line":3,"row":2,"column":"imo","value":"x","error":"expected a number","record":{"code":"DE","name":"Hamburg","imo":"x","depth":null}}
{"source":"ports.csv","file":"ports.csv","line":4,"row":3,"column":"","value":"BE","error":"the record has 1 fields and the header 4; write ragged: fill under read in the map to read absent fields as null","record":{}}
{"source":"ports.csv","file":"ports.csv","line":5,"row":4,"column":"name","value":"","error":"Port.name is required","record":{"code":"FR","name":null,"imo":null,"depth":null}}
{"source":"ports.csv","file":"ports.csv","line":6,"row":5,"column":"imo","value":"3","error":"taken","record":{"code":"US","name":"NY","imo":"3","depth":null}}
`
	if w.String() != wantRejects {
		t.Errorf("found\n%sexpected\n%s", w.String(), wantRejects)
	}
	if got, want := lines(t, in), want[:strings.Index(want, "\n")+1]; got != want {
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
	if _, err := in.Explain(context.Background(), []LineFault{{1, "", errors.New("x")}}, false); err != nil {
		t.Fatal(err)
	}
	var over *TooManyRejects
	if err := in.Over(); !errors.As(err, &over) || over.First.Line != 2 {
		t.Errorf("found %v", err)
	}
}

// TestRejectsAgain reads rejects with the map that the guide shows.
func TestRejectsAgain(t *testing.T) {
	in, _ := imported(t, map[string]string{
		"r.ndjson":    `{"source":"ports.csv","record":{"code":"DE","name":"Hamburg"}}` + "\n",
		"import.yaml": "sources: { r.ndjson: { read: { records: record }, maps: { node: Port, set: { unlocode: code, name: name } } } }"})
	if got, want := lines(t, in), "{\"type\":\"Port\",\"data\":{\"unlocode\":\"DE\",\"name\":\"Hamburg\"}}\n"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

func TestUnknownColumn(t *testing.T) {
	in, _ := imported(t, map[string]string{"ports.csv": "code,nam\n", "import.yaml": "sources:" + portMap})
	if got, want := lines(t, in), "ports.csv: the file has no column name; its columns are code, nam"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

func TestTwiceInOneFile(t *testing.T) {
	in, _ := imported(t, map[string]string{"ports.csv": "code,name,imo,depth\nNL,a,,\nDE,b,,\nNL,c,,\n", "import.yaml": "sources:" + portMap})
	faults, err := in.Explain(context.Background(), []LineFault{{3, "", errors.New("exists already")}, {2, "", errors.New("exists already")}}, false)
	want := "ports.csv, line 3: exists already\nports.csv, line 4: exists already; it is also in ports.csv, line 2"
	if err != nil || faults.Error() != want {
		t.Errorf("found %v, %v", faults, err)
	}
}

// TestMapFaults checks the reports about each map.
func TestMapFaults(t *testing.T) {
	tests := []struct{ name, text string }{
		{"good", "sources:" + portMap},
		{"empty", ""},
		{"no sources", "sources: {}\n"},
		{"unknown key", "source: {}\n"},
		{"neither node nor edge", "sources: { a.csv: { set: { a: b } } }\n"},
		{"node and edge", "sources: { a.csv: { node: Port, edge: At } }\n"},
		{"a node with an end", "sources: { a.csv: { node: Port, from: { Port: { unlocode: a } }, set: { unlocode: a, name: b } } }\n"},
		{"unknown type", "sources: { a.csv: { node: Prot, set: { unlocode: a } } }\n"},
		{"unknown property", "sources: { a.csv: { node: Port, set: { unlocode: a, name: b, nam: c } } }\n"},
		{"id of a type with a key", "sources: { a.csv: { node: Port, set: { unlocode: a, name: b, id: c } } }\n"},
		{"required", "sources: { a.csv: { node: Port, set: { unlocode: a } } }\n"},
		{"no key", "sources: { a.csv: { node: Note, set: { text: a } } }\n"},
		{"wrong end", "sources: { a.csv: { edge: CallsAt, from: { Port: { unlocode: a } }, to: { Port: { unlocode: b } } } }\n"},
		{"no end", "sources: { a.csv: { edge: CallsAt, from: { Note: { id: a } } } }\n"},
		{"two ends", "sources: { a.csv: { edge: At, from: { Note: { id: a } }, to: { Port: { unlocode: b }, Berth: { no: c, port: d } } } }\n"},
		{"not unique", "sources: { a.csv: { edge: CallsAt, from: { Note: { id: a } }, to: { Port: { name: b } } } }\n"},
		{"half a key", "sources: { a.csv: { edge: At, from: { Note: { id: a } }, to: { Berth: { no: b } } } }\n"},
		{"wrong option", "sources: { a.csv: { node: Port, set: { unlocode: a, name: { column: b, date: \"2006-01-02\" } } } }\n"},
		{"column and value", "sources: { a.csv: { node: Note, set: { id: a, text: { column: b, value: c } } } }\n"},
		{"delimiter", "sources: { a.csv: { read: { delimiter: \"::\" }, maps: { node: Note, set: { id: a, text: b } } } }\n"},
		{"read without maps", "sources: { a.csv: { read: { skip: 1 } } }\n"},
		{"nulls", "sources: { a.csv: { node: Note, set: { id: a, text: { column: b, null: [\"\", \"-\"] } } } }\n"},
		{"true and false", "sources: { a.csv: { node: Note, set: { id: a, text: { column: b, true: [t], false: f } } } }\n"},
		{"list of mappings", "sources:\n  a.csv:\n    - node: Note\n      set: { id: a, text: b }\n    - nod: Note\n"},
	}
	var b strings.Builder
	for _, tt := range tests {
		fmt.Fprintf(&b, "== %s\n", tt.name)
		m, faults := Parse("import.yaml", []byte(tt.text))
		if !faults.HasErrors() {
			_, faults = NewPlan(m, schema(t), Options{})
		}
		for _, d := range faults {
			fmt.Fprintf(&b, "%d:%d %s %s: %s; %s\n", d.Span.Start.Line, d.Span.Start.Column, d.Severity, d.Code, d.Message, d.Help)
		}
	}
	golden.Check(t, "testdata/faults.golden", []byte(b.String()))
}

func TestNewNodes(t *testing.T) {
	m, _ := Parse("import.yaml", []byte("sources: { a.csv: { node: Note, set: { text: a } } }\n"))
	if _, faults := NewPlan(m, schema(t), Options{NewNodes: true}); faults.HasErrors() {
		t.Error(faults)
	}
}

func TestPartial(t *testing.T) {
	m, _ := Parse("import.yaml", []byte("sources: { a.csv: { node: Port, set: { unlocode: a } } }\n"))
	if _, faults := NewPlan(m, schema(t), Options{Partial: true}); faults.HasErrors() {
		t.Error(faults)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a1.csv", "a2.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &Map{Sources: []Source{{Name: "a*.csv"}, {Name: "b.csv"}, {Name: "b2.csv"}}}
	two := &Map{Sources: m.Sources[:2]}
	tests := []struct {
		m     *Map
		given []string
		want  string
		err   string
	}{
		{two, nil, "[[a1.csv a2.csv] [b.csv]]", ""},
		{m, nil, "", "no file DIR/b2.csv exists, which the map names as a source; name the files after the map, or mend the map"},
		{two, []string{"x/b.csv", "a9.csv"}, "[[a9.csv] [b.csv]]", ""},
		{two, []string{"c.csv"}, "", "c.csv fits 0 sources of the map, expected one; its sources are a*.csv, b.csv"},
		{&Map{Sources: m.Sources[1:2]}, []string{"-"}, "[[standard input]]", ""},
	}
	for _, tt := range tests {
		files, err := tt.m.Files(dir, tt.given)
		var all [][]string
		for _, list := range files {
			all = append(all, names(list, func(f record.File) string { return filepath.Base(f.Name) }))
		}
		got, fault := fmt.Sprint(all), ""
		if err != nil {
			got, fault = "", strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		if got != tt.want || fault != tt.err {
			t.Errorf("found %s, %s, expected %s, %s", got, fault, tt.want, tt.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sources:" + portMap)
	f.Add("sources: { a.csv: { read: { delimiter: \";\" }, maps: [{ edge: At, from: { Note: { id: a } }, to: { Port: { unlocode: { value: b } } } }] } }")
	s := schema(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, faults := Parse("import.yaml", []byte(text))
		if faults.HasErrors() {
			return
		}
		if _, faults := NewPlan(m, s, Options{}); !faults.HasErrors() && len(m.Sources) == 0 {
			t.Error("a map without sources has no fault")
		}
	})
}
