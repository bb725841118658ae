package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// manyBranches makes n branches of main. If `write` is true, each branch gets one commit. If
// `apart` is true, main gets one commit before each branch, so that no two branches begin at the
// same commit.
func manyBranches(t testing.TB, g *Graph, n int, write, apart bool) {
	t.Helper()
	ctx := t.Context()
	person := func(i int, branch string) {
		if _, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint(branch, i)), num(i)}, engine.WriteOptions{Branch: branch}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		name := fmt.Sprintf("b%05d", i)
		if apart {
			person(i, engine.MainBranch)
		}
		if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
		if write {
			person(i, name)
		}
	}
}

// BenchmarkBranches measures a graph on disk with 10,000 persons and 10,000 branches: the median
// time of single operations in microseconds, the memory that the branches add to that of the graph,
// a checkpoint, and opening it after a checkpoint and from the log.
func BenchmarkBranches(b *testing.B) {
	const n = 10_000
	for _, c := range []struct {
		name         string
		write, apart bool
	}{{"bare", false, false}, {"written", true, false}, {"apart", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				home := filepath.Join(b.TempDir(), fmt.Sprint("graph", b.N))
				// The case `apart` also makes checkpoints while it makes the branches.
				opts := Options{quiet: !c.apart, MaxBranches: -1}
				ctx := context.Background()
				g, err := Create(ctx, fs.OS(), home, "", people(), opts)
				if err != nil {
					b.Fatal(err)
				}
				if err := loadText(g, engine.Merge, manyPeople(0, 10_000)); err != nil {
					b.Fatal(err)
				}
				if err := g.checkpoints.make(ctx); err != nil {
					b.Fatal(err)
				}
				empty := heapInUse()
				manyBranches(b, g, n, c.write, c.apart)
				report := func(what string, v float64, unit string) { b.ReportMetric(v, what+"-"+unit) }
				report("heap-in-log", float64(heapInUse()-empty)/1e6, "MB")
				reopen := func(what string) {
					if err := g.store.Close(); err != nil {
						b.Fatal(err)
					}
					g.stop()
					g.background.Wait()
					g = nil
					runtime.GC()
					start := clock.Now()
					if g, err = Open(ctx, fs.OS(), home, opts); err != nil {
						b.Fatal(err)
					}
					report("open-"+what, float64(clock.Since(start).Microseconds())/1e3, "ms")
				}
				reopen("log")
				start := clock.Now()
				if err := g.checkpoints.make(ctx); err != nil {
					b.Fatal(err)
				}
				report("checkpoint-all", float64(clock.Since(start).Microseconds())/1e3, "ms")
				report("heap-stored", float64(heapInUse()-empty)/1e6, "MB")
				reopen("stored")
				report("heap-opened", float64(heapInUse()-empty)/1e6, "MB")
				medians(b, g)
				start = clock.Now()
				if err := g.checkpoints.make(ctx); err != nil {
					b.Fatal(err)
				}
				report("checkpoint-few", float64(clock.Since(start).Microseconds())/1e3, "ms")
				if err := g.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// medians measures single operations on a graph with many branches.
func medians(b *testing.B, g *Graph) {
	ctx := b.Context()
	past, err := g.Commits(ctx, "", engine.CommitRange{Limit: 2})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"sync", func() error {
			_, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint("x", i)), num(i)}, engine.WriteOptions{})
			return err
		}},
		{"create", func() error { _, err := g.CreateBranch(ctx, fmt.Sprint("new", i), engine.Target{}); return err }},
		{"commit", func() error {
			_, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint("y", i)), num(i)}, engine.WriteOptions{Branch: fmt.Sprint("new", i)})
			return err
		}},
		{"merge", func() error {
			_, err := g.Merge(ctx, fmt.Sprint("new", i), "main", engine.MergeOptions{})
			return err
		}},
		{"merge-old", func() error {
			_, err := g.Merge(ctx, "main", fmt.Sprintf("b%05d", 7*i), engine.MergeOptions{})
			return err
		}},
		{"delete", func() error { return g.DeleteBranch(ctx, fmt.Sprint("new", i)) }},
		{"create-past", func() error {
			_, err := g.CreateBranch(ctx, fmt.Sprint("old", i), engine.Target{Commit: past[1].ID})
			return err
		}},
		{"list", func() error { _, err := g.Branches(ctx); return err }},
	} {
		var times []time.Duration
		for i = range 101 {
			start := clock.Now()
			if err := op.do(); err != nil {
				b.Fatal(op.name, err)
			}
			times = append(times, clock.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, op.name+"-µs")
	}
}
