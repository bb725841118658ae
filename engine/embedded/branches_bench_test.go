package embedded

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// benchSizes are numbers of edges. A graph has a tenth as many persons.
var benchSizes = []int{10_000, 100_000, 1_000_000}

func benchEdges(b *testing.B, edges int) *Graph {
	b.Helper()
	g := create(b, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, benchText(edges/10)); err != nil {
		b.Fatal(err)
	}
	return g
}

// branched is a graph from which the benchmarks make branches.
type branched struct {
	*Graph
	made int
}

// fork makes one more branch. If the parameter `commit` is true, fork also adds a node and an edge
// to the branch in one commit.
func (g *branched) fork(t testing.TB, commit bool) (name string) {
	name = fmt.Sprint("b", g.made)
	g.made++
	if _, err := g.CreateBranch(t.Context(), name, engine.Target{}); err != nil {
		t.Fatal(err)
	}
	if commit {
		g.commit(t, name)
	}
	return name
}

// addTwo adds a node and an edge in one commit.
var addTwo = &plan.Query{Params: connect.Params, Mutation: &plan.Mutation{Statements: []plan.Statement{
	plan.Insert{Type: "Person", Set: []plan.Assign{{Name: "name", Type: nameOf.Type, Value: plan.ParamRef{Index: 0}}}},
	connect.Mutation.Statements[0],
}}}

func (g *branched) commit(t testing.TB, branch string) {
	if _, err := g.Mutate(t.Context(), addTwo, engine.Args{str("ann"), str("p000001"), str("k")}, engine.WriteOptions{Branch: branch}); err != nil {
		t.Fatal(err)
	}
}

// walk reads the persons within two hops of the person that the commit added: the new row and
// rows that are shared.
func (g *branched) walk(t testing.TB, branch string) {
	r, err := g.Query(t.Context(), twoHops, engine.Args{str("ann")}, engine.Target{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := drain(t.Context(), r); n == 0 || err != nil {
		t.Fatalf("%d rows, error %v", n, err)
	}
}

var twoHops = walkFrom(2)

// BenchmarkBranch makes a branch, commits a node and an edge to it, and reads it once. Time and
// memory must depend on that change and not on the size of the graph.
func BenchmarkBranch(b *testing.B) {
	for _, edges := range benchSizes {
		g := &branched{Graph: benchEdges(b, edges)}
		// There is one branch at a time, so that each iteration finds the same graph.
		bench := func(name string, committed bool, op func(b *testing.B, branch string)) {
			b.Run(fmt.Sprint(edges, "/", name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					branch := g.fork(b, committed)
					b.StartTimer()
					op(b, branch)
					b.StopTimer()
					if err := g.DeleteBranch(b.Context(), branch); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
		b.Run(fmt.Sprint(edges, "/create"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				branch := g.fork(b, false)
				b.StopTimer()
				if err := g.DeleteBranch(b.Context(), branch); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
		bench("first-commit", false, func(b *testing.B, branch string) { g.commit(b, branch) })
		bench("first-read", true, func(b *testing.B, branch string) { g.walk(b, branch) })
		b.Run(fmt.Sprint(edges, "/kept"), func(b *testing.B) { g.reportKept(b) })
	}
}

// reportKept reports the heap bytes that each branch with one commit retains.
func (g *branched) reportKept(b *testing.B) {
	n := 0
	before := heapInUse()
	for b.Loop() {
		g.fork(b, true)
		n++
	}
	b.ReportMetric(float64(heapInUse()-before)/float64(n), "kept-B/branch")
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBranchCostsWhatItChanges compares the allocations of a branch, a commit and a read on a
// small graph with those on a large graph.
func TestBranchCostsWhatItChanges(t *testing.T) {
	var bytes [2]uint64
	for i, persons := range []int{100, 4000} {
		g := &branched{Graph: create(t, fs.NewMem(), Options{quiet: true})}
		if err := loadText(g.Graph, engine.Merge, benchText(persons)); err != nil {
			t.Fatal(err)
		}
		op := func() { g.walk(t, g.fork(t, true)) }
		op()
		// The first lookups make the graph copy rows and edges in the background, once. Take the
		// least of several rounds, because a round may contain this work.
		const rounds, times = 5, 20
		bytes[i] = math.MaxUint64
		for range rounds {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range times {
				op()
			}
			runtime.ReadMemStats(&after)
			bytes[i] = min(bytes[i], (after.TotalAlloc-before.TotalAlloc)/times)
		}
	}
	t.Logf("%d bytes with 1,000 edges, %d with 40,000", bytes[0], bytes[1])
	if bytes[1] > 2*bytes[0] {
		t.Errorf("a branch, a commit and a read allocate %d bytes on a graph of 1,000 edges and %d on one of 40,000", bytes[0], bytes[1])
	}
}

// BenchmarkMerge merges a branch in which one node has changed.
func BenchmarkMerge(b *testing.B) {
	ctx := context.Background()
	for _, edges := range benchSizes {
		b.Run(fmt.Sprint(edges), func(b *testing.B) {
			g := benchEdges(b, edges)
			if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(i)}, engine.WriteOptions{Branch: "side"}); err != nil {
					b.Fatal(err)
				}
				if _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
