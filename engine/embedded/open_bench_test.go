package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// BenchmarkOpenFirst opens the benchmark graph and runs one query, at two sizes. Before, the graph
// was only loaded, not queried. The time should not depend on the size. It does not include closing
// the graph.
func BenchmarkOpenFirst(b *testing.B) {
	ctx := context.Background()
	schema, queries := beginSocial(b)
	for _, size := range []float64{0.05, 1} {
		dir := filepath.Join(b.TempDir(), "graph")
		g, _ := createSocial(ctx, b, schema, size, dir)
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
		for _, name := range []string{"w1", "w2", "w3"} {
			b.Run(fmt.Sprintf("%s/%.0f persons", name, 100_000*size), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(42, 7))
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					g, err := embedded.Open(ctx, fs.OS(), dir, embedded.Options{})
					if err != nil {
						b.Fatal(err)
					}
					person := fmt.Sprintf("p%07d", rng.IntN(int(100_000*size)))
					rows += readAll(ctx, b, g, queries[name], engine.Args{value.OfString(person)})
					b.StopTimer()
					if err := g.Close(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				if rows == 0 {
					b.Fatal("no query found a row")
				}
			})
		}
	}
}

// loadMade loads a generated graph.
func loadMade(ctx context.Context, b *testing.B, g *embedded.Graph, made *social.Graph) {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "graph.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := made.WriteNDJSON(file); err != nil {
		b.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		b.Fatal(err)
	}
	if _, err := g.Load(ctx, file, engine.LoadOptions{Mode: engine.Append}); err != nil {
		b.Fatal(err)
	}
}
