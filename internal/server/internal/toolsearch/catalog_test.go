package toolsearch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// catalog compiles the stored queries of testdata/catalog: the knowledge graph of a company. Many
// of its queries have similar meanings. If a file has a fault, the test fails.
func catalog(t testing.TB) []*gq.Query {
	t.Helper()
	schema, faults := gq.CompileSchema(source(t, "testdata/catalog/schema.pg"))
	if faults != nil {
		t.Fatal(faults)
	}
	var sources []gq.Source
	for _, path := range files(t, "testdata/catalog/*.gq") {
		sources = append(sources, source(t, path))
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if faults != nil {
		t.Fatal(faults)
	}
	return queries
}

func source(t testing.TB, path string) gq.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return gq.Source{Name: path, Text: string(text)}
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestCatalog checks the properties that make the catalog a fair test of a search. It must be
// large, and the descriptions must tell each query from all others.
func TestCatalog(t *testing.T) {
	queries := catalog(t)
	if len(queries) < 200 {
		t.Errorf("the catalog holds %d queries, want at least 200", len(queries))
	}
	described := map[string]string{} // the name of the query with each description
	for _, q := range queries {
		if q.Description == "" {
			t.Errorf("%s has no description", q.Plan.Name)
		} else if other, ok := described[q.Description]; ok {
			t.Errorf("%s and %s have the same description", other, q.Plan.Name)
		}
		described[q.Description] = q.Plan.Name
	}
}

func TestCatalogIsFormatted(t *testing.T) {
	for _, path := range append(files(t, "testdata/catalog/*.gq"), "testdata/catalog/schema.pg") {
		src := source(t, path)
		text, faults := gq.Format(src)
		if faults != nil {
			t.Fatal(faults)
		}
		if text != src.Text {
			t.Errorf("%s is not formatted; run gq fmt -w on it", path)
		}
	}
}

// catalogEntries returns the queries of the catalog in the form that the meta tools search.
func catalogEntries(t testing.TB) []Entry {
	t.Helper()
	var entries []Entry
	for _, q := range catalog(t) {
		e := Entry{Name: q.Plan.Name, Description: q.Description, ParamDocs: q.ParamDocs, Mutation: q.Plan.Mutation != nil}
		for _, p := range q.Plan.Params {
			e.Params = append(e.Params, p.Name)
		}
		if q.Plan.Read != nil {
			for _, c := range q.Plan.Read.Columns {
				e.Columns = append(e.Columns, c.Name)
			}
		}
		entries = append(entries, e)
	}
	return entries
}
