package gq_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestCorpus compiles schemas and queries of several domains, as people wrote them for Omnigraph
// 0.8 to 0.10. They must compile without diagnostics, and their plans must not change.
func TestCorpus(t *testing.T) {
	queries := 0
	for _, path := range glob(t, "testdata/corpus/*/schema.pg") {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s, faults := gq.CompileSchema(readFile(t, path))
			if faults != nil {
				t.Fatal(faults)
			}
			for _, path := range glob(t, dir+"/*.gq") {
				src := readFile(t, path)
				qs, faults := gq.CompileQueries(s, src)
				if faults != nil {
					t.Error(faults)
				}
				if want := strings.Count("\n"+src.Text, "\nquery "); len(qs) != want {
					t.Errorf("%s: compiled %d queries, expected %d", path, len(qs), want)
				}
				queries += len(qs)
				var b strings.Builder
				for _, q := range qs {
					b.WriteString(plan.Format(q.Plan) + "\n")
				}
				golden.Check(t, strings.TrimSuffix(path, ".gq")+".plan", []byte(b.String()))
			}
		})
	}
	if queries < 200 {
		t.Errorf("the corpus has %d queries, expected at least 200", queries)
	}
}
