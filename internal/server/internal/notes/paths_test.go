package notes_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/notes"
)

// TestWholePaths checks which ends of paths a stored read of source code takes for paths.
func TestWholePaths(t *testing.T) {
	const (
		ofCode  = "node Module { path: String @key not_covered: [String]? }\nnode Symbol { path: String @key }\n"
		ofOther = "node Module { path: String @key }\nnode Symbol { path: String @key }\n"
		query   = "query symbol($path: String) { match { $s: Symbol { path: $path } } return { $s.path } limit 9 }"
	)
	lines := ""
	for _, path := range []string{"example.com/shop/stock.Shelf.Find", "example.com/shop/stock.Find", "example.com/shop/stock.Shelf", "Shelf"} {
		lines += `{"type":"Symbol","data":{"path":"` + path + `"}}` + "\n"
	}
	for _, tt := range []struct{ schema, short, long string }{ // long is "" if the argument stays as it is
		{ofCode, "Shelf.Find", "example.com/shop/stock.Shelf.Find"},
		{ofCode, "stock.Find", "example.com/shop/stock.Find"},
		{ofCode, "/stock.Shelf", "example.com/shop/stock.Shelf"},
		{ofCode, "Find", ""},       // of two symbols
		{ofCode, "Shelf", ""},      // is itself a path
		{ofCode, "elf.Find", ""},   // within a word
		{ofCode, "shelf.Find", ""}, // in another case
		{ofCode, ".*", ""},         // no pattern
		{ofCode, "", ""},
		{ofCode, strings.Repeat("x", 300), ""},
		{ofOther, "Shelf.Find", ""}, // not a graph of source code
	} {
		schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: tt.schema})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: query})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		g, err := embedded.OpenMemory(t.Context(), tt.schema, schema, embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append}); err != nil {
			t.Fatal(err)
		}
		given := engine.Args{value.OfString(tt.short)}
		args, said := notes.WholePaths(t.Context(), g, queries[0].Plan, given, engine.Target{})
		want := tt.long
		if want == "" {
			want = tt.short
		}
		if args[0].Str() != want || (len(said) == 1) != (tt.long != "") || given[0].Str() != tt.short {
			t.Errorf("%q: %q, %q", tt.short, args[0].Str(), said)
		}
		if tt.long != "" && !strings.Contains(strings.Join(said, ""), `path "`+tt.short+`" was read as "`+tt.long) {
			t.Errorf("%q: %q", tt.short, said)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
