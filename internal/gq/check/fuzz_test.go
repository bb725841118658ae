package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// FuzzCheck checks queries that parse. Each must either be reported or be lowered to a plan that
// can be printed. A second check of the query must return the same result.
func FuzzCheck(f *testing.F) {
	b, err := os.ReadFile("../../../gq/testdata/graph.pg")
	if err != nil {
		f.Fatal(err)
	}
	tree, faults := syntax.ParseSchema("graph.pg", string(b))
	s, more := resolve.Schema(tree)
	if faults != nil || more != nil {
		f.Fatal(faults, more)
	}
	paths, err := filepath.Glob("../../../gq/testdata/*/*.gq")
	if err != nil || len(paths) == 0 {
		f.Fatal(len(paths), err)
	}
	f.Add("query q() { match { $p: Person not { $p <knows>{2,3} $_ } } return { count($p), $p.mood as m, } order { m desc } limit 3 }")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		file, _ := syntax.ParseQueries(path, string(b))
		for _, q := range file.Queries {
			at := q.Span()
			f.Add(string(b[at.Start.Offset:at.End.Offset]))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, _ := syntax.ParseQueries("x", text)
		for _, q := range file.Queries {
			p, info, faults := check.Query(s, q)
			again, _, faultsAgain := check.Query(s, q)
			if (p == nil) != faults.HasErrors() || faults.Error() != faultsAgain.Error() {
				t.Fatalf("plan %v, faults %v and %v", p != nil, faults, faultsAgain)
			}
			if p == nil {
				continue
			}
			if plan.Format(p) != plan.Format(again) {
				t.Error("two checks, two plans")
			}
			if len(info.Params) != len(p.Params) || p.Read != nil && len(info.Vars) != len(p.Read.Vars) {
				t.Error("Info and the plan differ in the number of parameters or variables")
			}
		}
	})
}
