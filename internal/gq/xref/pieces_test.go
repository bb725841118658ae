package xref_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// sameSource compares all fields of two sources.
var sameSource = gocmp.Options{gocmp.AllowUnexported(xref.Source{}), cmpopts.EquateEmpty()}

// TestPieces compares the tokens and comments of Read, which reads a file query by query, with those of one scan
// of the whole text.
func TestPieces(t *testing.T) {
	texts := map[string]string{
		"comment around a query": "query a() { match { $p: Person } return { $p } }\n/*\nquery b() {}\nquery c() {}\n*/\nquery d() { }\n",
		"comment without an end": "query a() { }\n/*\nquery b() {}\nquery c() {}\n",
		"text before":            "\uFEFF// A comment.\n\n/* and */\nquery a() {}\r\nquery\tb() {}\nquery\n  c() {}\n  query d() {}\n",
		"a hash":                 "query a() {} # /* \nquery b() {}\nquery c() {} */\nquery d() {}\n",
		"nothing":                "",
	}
	for _, dir := range corpora(t) {
		files, err := filepath.Glob(dir + "/*.gq")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			texts[path] = read(t, path).Text
		}
	}
	for name, text := range texts {
		src := xref.Read(nil, "x.gq", text)
		tokens, comments := syntax.Scan("x.gq", text)
		if diff := gocmp.Diff(tokens, src.Tokens, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: one scan (-), query by query (+)\n%s", name, diff)
		}
		if diff := gocmp.Diff(comments, src.Comments, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: one scan (-), query by query (+)\n%s", name, diff)
		}
	}
}

// TestOpenString checks that a quote without an end hides nothing in the next query.
func TestOpenString(t *testing.T) {
	src := xref.Read(nil, "x.gq", "query a() { match { $p: Person { name: \"x } } }\nquery b($n: String @description(\"The n.\")) { }\n")
	var queries []string
	for _, n := range src.Names {
		if n.Kind == xref.Query || n.Kind == xref.Parameter {
			queries = append(queries, n.Value)
		}
	}
	if diff := gocmp.Diff([]string{"a", "b", "$n"}, queries); diff != "" {
		t.Error(diff)
	}
}

// manyQueries returns a file of n queries with comments between them.
func manyQueries(n int) string {
	var b strings.Builder
	b.WriteString("// People.\n\n")
	for i := range n {
		fmt.Fprintf(&b, "// Number %d.\nquery q%d($n: String) @description(\"Of %d.\") {\n  match { $p: Person { name: $n } $p knows $q not { $q knows $z } }\n  return { $q.name as name, count($q) as n }\n  limit 3\n}\n\n", i, i, i)
	}
	return b.String()
}

// TestUpdate edits a file at random places. After each edit, Update must have made the source that Read
// returns for the new text.
func TestUpdate(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node Person { name: String @key }\nedge Knows: Person -> Person\n"})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	pieces := []string{
		"x", "$p.", "}", "{", "(", "\"", "/*", "*/", "//", "#", "\n", "\nquery ", "query ", " ", "😀", "\x00", "\nquery new() { match { $a: Person } return { $a } }\n", "@", "$z", "|",
	}
	draw := rand.New(rand.NewPCG(3, 4))
	full := manyQueries(12)
	text := full
	src := xref.Read(schema, "x.gq", text)
	edits := 400
	if testing.Short() {
		edits = 200
	}
	for n := range edits {
		from := draw.IntN(len(text) + 1)
		if draw.IntN(4) == 0 { // right at the start of a query
			if i := strings.Index(text[from:], "\nquery"); i >= 0 {
				from += min(i+draw.IntN(9), len(text)-from)
			}
		}
		to := min(from+draw.IntN(2)*draw.IntN(30), len(text))
		before := text
		text = text[:from] + pieces[draw.IntN(len(pieces))] + text[to:]
		if n%40 == 39 { // a fresh start, in one edit
			text = full
		}
		src.Update(schema, "x.gq", text)
		if diff := gocmp.Diff(xref.Read(schema, "x.gq", text), src, sameSource); diff != "" {
			t.Fatalf("edit %d changed\n%s\nto\n%s\nread (-), updated (+)\n%s", n, before, text, diff)
		}
	}
}

// TestUpdateOfSchema updates a schema, which is read as a whole.
func TestUpdateOfSchema(t *testing.T) {
	src := xref.Read(nil, "x.pg", "node A { a: String }\n")
	src.Update(nil, "x.pg", "node A { b: String }\n")
	if diff := gocmp.Diff(xref.Read(nil, "x.pg", "node A { b: String }\n"), src, sameSource); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkUpdate changes one character in a file of 1,000 queries.
func BenchmarkUpdate(b *testing.B) {
	schema, _ := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node Person { name: String @key }\nedge Knows: Person -> Person\n"})
	text := manyQueries(1000)
	at := strings.Index(text, "query q500(") + strings.Index(text[strings.Index(text, "query q500("):], "knows")
	texts := []string{text, text[:at] + "x" + text[at:]}
	src := xref.Read(schema, "x.gq", text)
	n := 0
	for b.Loop() {
		n++
		src.Update(schema, "x.gq", texts[n%2])
	}
}
