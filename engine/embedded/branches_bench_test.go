package embedded

import (
	"context"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// benchSizes are numbers of edges: there are a tenth as many persons.
var benchSizes = []int{10_000, 100_000, 1_000_000}

func benchEdges(b *testing.B, edges int) *Graph {
	b.Helper()
	g := create(b, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, benchText(edges/10)); err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkBranch makes a branch and its first commit, of a node and an edge: time and
// memory are those of what they change, whatever the size of the graph.
func BenchmarkBranch(b *testing.B) {
	ctx := context.Background()
	for _, edges := range benchSizes {
		b.Run(fmt.Sprint(edges), func(b *testing.B) {
			g := benchEdges(b, edges)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				opts := engine.WriteOptions{Branch: fmt.Sprint("b", i)}
				if _, err := g.CreateBranch(ctx, opts.Branch, engine.Target{}); err != nil {
					b.Fatal(err)
				}
				if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, opts); err != nil {
					b.Fatal(err)
				}
				if _, err := g.Mutate(ctx, connect, engine.Args{str("ann"), str("p000001"), str("k")}, opts); err != nil {
					b.Fatal(err)
				}
				if err := g.DeleteBranch(ctx, opts.Branch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMerge merges a branch on which one node has changed.
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
