package embedded

import (
	"context"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// benchSorted makes a graph of 100,000 persons, with ages indexed or not.
func benchSorted(t testing.TB, indexed bool) *Graph {
	t.Helper()
	s := &catalog.Schema{Nodes: []*catalog.Node{people().Nodes[0]}, Edges: people().Edges[:1]}
	if indexed {
		s.Nodes[0].Index = [][]string{{"age"}}
	}
	s.Index()
	g, err := Create(context.Background(), fs.NewMem(), dir, "// people", s, Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := loadText(g, engine.Merge, benchText(benchPeople)); err != nil {
		t.Fatal(err)
	}
	return g
}

// byAge returns two queries. The first returns the names of the persons of at least 89 years, the
// second the first ten names in the order of age.
func byAge() (ranged, first *plan.Query) {
	name := allPeople.Read.Columns
	ranged = &plan.Query{Read: &plan.Read{
		Vars: allPeople.Read.Vars, Columns: name, Ties: []plan.VarID{0}, Limit: -1,
		Match: []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: ageOf, Right: plan.Lit{Value: value.OfI32(89)}, Unless: plan.NoParam}}},
	}}
	first = &plan.Query{Read: &plan.Read{
		Vars: allPeople.Read.Vars, Columns: name, Ties: []plan.VarID{0}, Limit: 10,
		Match: []plan.Clause{plan.Bind{Var: 0}}, Order: []plan.Order{{Expr: ageOf}},
	}}
	return ranged, first
}

func BenchmarkSorted(b *testing.B) {
	ranged, first := byAge()
	for name, indexed := range map[string]bool{"indexed": true, "scanned": false} {
		b.Run(name, func(b *testing.B) {
			g := benchSorted(b, indexed)
			for what, q := range map[string]*plan.Query{"range": ranged, "order": first} {
				b.Run(what, func(b *testing.B) {
					b.ReportAllocs()
					run := func() {
						r, err := g.Query(context.Background(), q, nil, engine.Target{})
						if err != nil {
							b.Fatal(err)
						}
						if n, err := drain(context.Background(), r); err != nil || n == 0 {
							b.Fatalf("%d rows, error %v", n, err)
						}
					}
					run() // the first run builds the index
					for b.Loop() {
						run()
					}
				})
			}
		})
	}
}

// asked is a context that counts the calls of Err. A query checks it once per some thousands of
// entities that it visits.
type asked struct {
	context.Context
	n int
}

func (a *asked) Err() error {
	a.n++
	return a.Context.Err()
}

// TestSortedLooksAtFew reads the first and last rows by an indexed property of 100,000 entities.
// With the index the query must visit only the rows that it returns. Without the index it visits
// more.
func TestSortedLooksAtFew(t *testing.T) {
	slow.Test(t)
	var times [2][2]int
	for i, indexed := range []bool{false, true} {
		g := benchSorted(t, indexed)
		ranged, first := byAge()
		for k, q := range []*plan.Query{ranged, first} {
			for range 2 { // the first run builds the index
				ctx := &asked{Context: context.Background()}
				r, err := g.Query(ctx, q, nil, engine.Target{})
				if err != nil {
					t.Fatal(err)
				}
				n, err := drain(context.Background(), r)
				if want := []int{benchPeople / 90, 10}[k]; err != nil || n != want {
					t.Fatalf("%d rows, error %v; expected %d", n, err, want)
				}
				times[i][k] = ctx.n
			}
		}
	}
	for k, what := range []string{"range", "order"} {
		if scan, sorted := times[0][k], times[1][k]; sorted*3 > scan {
			t.Errorf("%s: it asked %d times with the index, %d times without", what, sorted, scan)
		}
	}
	t.Logf("asked without and with an index, range and order: %v", times)
}
