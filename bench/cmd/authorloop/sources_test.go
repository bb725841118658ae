package main

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// TestEdits compiles the queries of a table before and after each edit and checks that they
// changed.
func TestEdits(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schemaText()})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	before := queryText(7)
	compile := func(text string) int {
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: queryFile(7), Text: text})
		if err := faults.Err(); err != nil {
			t.Error(err)
		}
		return len(queries)
	}
	if n := compile(before); n != len(shapes) {
		t.Errorf("a table has %d queries, wanted %d", n, len(shapes))
	}
	for _, e := range edits {
		after := e.apply(before, "x1")
		if after == before {
			t.Errorf("%s: the edit changes nothing", e.name)
		}
		compile(after)
	}
}
