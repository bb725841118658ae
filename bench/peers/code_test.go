package main

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestStoredQueriesHaveRows loads a small module and runs every stored read on it with drawn
// arguments. Each must return rows, except checks, and those for notes and for functions without
// callers, because the module has neither.
func TestStoredQueriesHaveRows(t *testing.T) {
	dir := t.TempDir()
	for k, v := range map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off"} {
		t.Setenv(k, v) // as in the tests of the indexer, which read the same module
	}
	if err := indexCode(t.Context(), "../../internal/source/gocode/testdata/shop", dir, false); err != nil {
		t.Fatal(err)
	}
	if err := loadCode(t.Context(), "../..", dir); err != nil {
		t.Fatal(err)
	}
	names, err := readNames(codeFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Open(t.Context(), fs.OS(), graphDir(dir), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	small, err := social.New(0.005, 3)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{graph: small}
	for _, q := range code.Catalog().Queries {
		if q.Plan().Read == nil {
			continue
		}
		times, rows, err := b.timeStored(t.Context(), g, q.Plan(), names)
		if err != nil {
			t.Errorf("%s: %v", q.Plan().Name, err)
			continue
		}
		most := 0
		for _, n := range rows {
			most = max(most, n)
		}
		if len(times.times) != leastRuns || len(rows) != leastRuns {
			t.Errorf("%s: %d times, %d counts of rows, want %d", q.Plan().Name, len(times.times), len(rows), leastRuns)
		}
		none := q.Info().MustBeEmpty != "" || q.Plan().Name == "notes_about" || q.Plan().Name == "unused_functions"
		if (most == 0) != none {
			t.Errorf("%s: the largest answer has %d rows", q.Plan().Name, most)
		}
	}
}
