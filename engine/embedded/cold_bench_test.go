package embedded_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	coldTurn  = 100       // timed runs between two evictions
	coldArgs  = 500       // different arguments
	coldWarm  = 20_000    // runs before the first turn, so that the engine has read the stored data whole
	coldEvict = 128 << 20 // bytes that are read to evict the processor's caches and its TLB
)

// BenchmarkCold measures short reads like `make bench-peers` does, where other databases fill the
// processor's caches between turns. Each iteration is a turn: it evicts the caches, makes a run
// that is not timed, and times each of coldTurn runs alone. The metrics are quantiles of those
// times. The time per iteration includes the eviction and has no meaning.
func BenchmarkCold(b *testing.B) {
	ctx := context.Background()
	schema, queries := beginSocial(b)
	dir := filepath.Join(b.TempDir(), "graph")
	g, made := createSocial(ctx, b, schema, 1, dir)
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	g, err := embedded.Open(ctx, fs.OS(), dir, embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	other := make([]byte, coldEvict)
	for i := range other {
		other[i] = byte(i)
	}
	for _, name := range []string{"w1", "w2", "w3", "w4", "w5"} {
		b.Run(name, func(b *testing.B) {
			q := queries[name]
			rng := rand.New(rand.NewPCG(42, 7))
			args := make([]engine.Args, coldArgs)
			for i := range args {
				args[i] = aPerson(made, rng)
			}
			for range coldWarm {
				readAll(ctx, b, g, q, aPerson(made, rng))
			}
			var times []time.Duration
			rows := 0
			for b.Loop() {
				for i := 0; i < len(other); i += 64 {
					batchSink += int64(other[i])
				}
				rows += readAll(ctx, b, g, q, args[rng.IntN(len(args))])
				for range coldTurn {
					a := args[len(times)%len(args)]
					start := clock.Now()
					rows += readAll(ctx, b, g, q, a)
					times = append(times, clock.Since(start))
				}
			}
			if rows == 0 {
				b.Fatal("no query found a row")
			}
			slices.Sort(times)
			b.ReportMetric(float64(measure.Quantile(times, 0.5)), "p50-ns")
			b.ReportMetric(float64(measure.Quantile(times, 0.99)), "p99-ns")
		})
	}
}
