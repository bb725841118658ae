package gq_test

import (
	"context"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// FuzzNearest checks that no text makes the search for the nearest query panic, and that the query which an
// error offers compiles.
func FuzzNearest(f *testing.F) {
	schema, faults := gq.CompileSchema(readFile(f, "testdata/corpus/shop/schema.pg"))
	if schema == nil {
		f.Fatal(faults)
	}
	for _, pattern := range []string{"testdata/foreign/*.txt", "testdata/foreign/blind/*.txt", "testdata/foreign/blind2/*.txt", "testdata/foreign/blind3/*.txt",
		"testdata/foreign/shop/*.txt", "testdata/foreign/incidents/*.txt", "testdata/foreign/sql/*/*.txt", "testdata/foreign/graphql/*/*.txt",
		"testdata/foreign/cygql/*/*.txt"} {
		for _, text := range foreignTexts(f, pattern) {
			f.Add([]byte(text.text))
		}
	}
	f.Add([]byte("query { match { $c: Customer where exists ($c)"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, faults, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, schema, gq.Source{Name: "query", Text: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range faults {
			_, query, ok := strings.Cut(fault.Help, "nearest query: ")
			several := false
			if !ok {
				_, query, several = strings.Cut(fault.Help, "nearest queries: ")
			}
			if !ok && !several || strings.Contains(string(text), "nearest quer") {
				continue
			}
			queries, more, err := gq.CompileQueriesWithin(context.Background(), gq.Limits{}, schema, gq.Source{Name: "query", Text: query})
			if err != nil || (len(queries) > 1) != several || len(queries) == 0 || more.HasErrors() || strings.Contains(query, "\n") {
				t.Errorf("%q\noffers %q, which is not one query on one line: %v %v", text, query, more, err)
			}
		}
	})
}
