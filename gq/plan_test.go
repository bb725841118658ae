package gq_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

func TestPlans(t *testing.T) {
	s := graph(t)
	for _, path := range glob(t, "testdata/plan/*.gq") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			qs, faults := gq.CompileQueries(s, readFile(t, path))
			if faults != nil {
				t.Fatal(faults)
			}
			var b strings.Builder
			for _, q := range qs {
				b.WriteString(plan.Format(q.Plan))
				b.WriteByte('\n')
			}
			golden.Check(t, strings.TrimSuffix(path, ".gq")+".plan", []byte(b.String()))
		})
	}
}
