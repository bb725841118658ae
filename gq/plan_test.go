package gq_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// claims are the claims that the queries of the tests use.
var claims = plan.Claims{
	"region": {Kind: value.String, Nullable: true}, "teams": {Kind: value.String, List: true, Nullable: true}, "level": {Kind: value.I32, Nullable: true},
}

func TestPlans(t *testing.T) {
	s := graph(t)
	for _, path := range glob(t, "testdata/plan/*.gq") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			qs, faults := gq.Options{Claims: claims}.CompileQueries(s, readFile(t, path))
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
