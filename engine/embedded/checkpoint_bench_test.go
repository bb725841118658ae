package embedded

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// checkpointSizes are numbers of edges. A graph has a tenth as many persons.
var checkpointSizes = []int{100_000, 1_000_000, 10_000_000, 100_000_000}

// BenchmarkCheckpoint measures checkpoints on the disk, for graphs of several sizes, after 1,000
// and after 100,000 commits. Each commit consists of a node and an edge. During the checkpoint,
// other goroutines make point reads and commits; the benchmark reports the 99th percentiles of
// their durations in microseconds. It also reports the processor time of the process during a
// checkpoint: the mean and the greatest. The largest graph takes 6 GB of disk.
func BenchmarkCheckpoint(b *testing.B) {
	for _, edges := range checkpointSizes {
		b.Run(fmt.Sprint(edges), func(b *testing.B) {
			g, err := Create(b.Context(), fs.OS(), filepath.Join(b.TempDir(), "g"), "", people(), Options{quiet: true})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			lines, w := io.Pipe()
			go func() {
				text := bufio.NewWriter(w)
				err := writeBenchText(text, edges/10)
				w.CloseWithError(cmp.Or(err, text.Flush()))
			}()
			if _, err := g.Load(b.Context(), lines, engine.LoadOptions{Mode: engine.Merge}); err != nil {
				b.Fatal(err)
			}
			made := &checkpointed{Graph: g}
			for _, commits := range []int{1_000, 100_000} {
				if err := g.checkpoints.make(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprint(commits), func(b *testing.B) { made.bench(b, commits) })
			}
		})
	}
}

// bench measures b.N checkpoints, each after so many commits.
func (g *checkpointed) bench(b *testing.B, commits int) {
	g.reads, g.commits = nil, nil
	b.ReportAllocs()
	b.ResetTimer()
	var cpu, longest time.Duration // longest: the most processor time that a checkpoint used
	for range b.N {
		b.StopTimer()
		for range commits {
			if err := g.commit(b); err != nil {
				b.Fatal(err)
			}
		}
		stop := g.during(b)
		start := cpuTime()
		b.StartTimer()
		if err := g.checkpoints.make(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		used := cpuTime() - start
		cpu, longest = cpu+used, max(longest, used)
		stop()
		b.StartTimer()
	}
	b.StopTimer()
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(longest.Microseconds())/1000, "cpu-ms-longest")
	b.ReportMetric(p99(g.reads), "p99-read-µs")
	b.ReportMetric(p99(g.commits), "p99-commit-µs")
}

// checkpointed is a graph of which the benchmark makes checkpoints.
type checkpointed struct {
	*Graph
	made           int             // number of persons that commits added
	reads, commits []time.Duration // durations of the calls during checkpoints
}

func (g *checkpointed) commit(t testing.TB) error {
	g.made++
	_, err := g.Mutate(t.Context(), addTwo, engine.Args{str(fmt.Sprintf("z%08d", g.made)), str("p000001"), str(fmt.Sprint(g.made))}, engine.WriteOptions{})
	return err
}

// during starts a reader and a writer. The returned function stops them.
func (g *checkpointed) during(b *testing.B) (stop func()) {
	quit := make(chan struct{})
	run := func(took *[]time.Duration, call func() error) chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-quit:
					return
				case <-time.After(time.Millisecond):
				}
				start := clock.Now()
				if err := call(); err != nil {
					b.Error(err)
					return
				}
				*took = append(*took, clock.Since(start))
			}
		}()
		return done
	}
	reader := run(&g.reads, func() error {
		r, err := g.Query(b.Context(), personByName, engine.Args{str("p000002")}, engine.Target{})
		if err != nil {
			return err
		}
		_, err = drain(b.Context(), r)
		return err
	})
	writer := run(&g.commits, func() error { return g.commit(b) })
	return func() {
		close(quit)
		<-reader
		<-writer
	}
}

// p99 returns the 99th percentile in microseconds, or 0 for an empty list.
func p99(took []time.Duration) float64 {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return float64(took[len(took)*99/100].Microseconds())
}
