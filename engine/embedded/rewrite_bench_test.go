package embedded

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

var rewriteEdges = flag.String("rewrite.edges", "100000,1000000", "numbers of edges of the graphs of BenchmarkRewrite")

// memoryInterval is the time between two samples of the memory of the process.
const memoryInterval = 50 * time.Millisecond

// rewriteCost is the cost of one rewrite.
type rewriteCost struct {
	edges     int
	took, cpu time.Duration
	before    int64 // anonymous memory of the process before the rewrite, in bytes
	peak      int64 // the most anonymous memory during the rewrite, in bytes
}

// BenchmarkRewrite deletes 35 percent of the persons and of the edges of a graph on the disk. Then a
// checkpoint rewrites the graph, while other goroutines make point reads and commits. The benchmark
// reports the processor time of the process, its anonymous memory before the rewrite and at most
// during it, and the 99th percentiles of the durations of the calls in microseconds. From the second
// size on, it also reports the exponents of the time, of the processor time and of the peak of the
// memory, from the size before to this one.
func BenchmarkRewrite(b *testing.B) {
	var last rewriteCost
	for text := range strings.SplitSeq(*rewriteEdges, ",") {
		edges, err := strconv.Atoi(text)
		if err != nil || edges < 1000 {
			b.Fatalf("-rewrite.edges: %q is not a number of at least 1000", text)
		}
		b.Run(text, func(b *testing.B) {
			cost := rewriteCost{edges: edges}
			var reads, commits []time.Duration
			b.StopTimer()
			for range b.N {
				g := sparseGraph(b, edges)
				cost.add(b, g)
				reads, commits = append(reads, g.reads...), append(commits, g.commits...)
				if err := g.Close(); err != nil {
					b.Fatal(err)
				}
			}
			n := time.Duration(b.N)
			cost.took, cost.cpu = cost.took/n, cost.cpu/n
			b.ReportMetric(float64(cost.cpu.Microseconds())/1000, "cpu-ms/op")
			b.ReportMetric(float64(cost.before)/1e6, "MB-before")
			b.ReportMetric(float64(cost.peak)/1e6, "MB-peak")
			b.ReportMetric(p99(reads), "p99-read-µs")
			b.ReportMetric(p99(commits), "p99-commit-µs")
			if last.edges > 0 {
				exponent := func(before, now float64) float64 {
					return math.Log(now/before) / math.Log(float64(edges)/float64(last.edges))
				}
				b.ReportMetric(exponent(float64(last.took), float64(cost.took)), "exponent-time")
				b.ReportMetric(exponent(float64(last.cpu), float64(cost.cpu)), "exponent-cpu")
				b.ReportMetric(exponent(float64(last.peak), float64(cost.peak)), "exponent-peak")
			}
			last = cost
		})
	}
}

// add measures the rewrite of a graph.
func (c *rewriteCost) add(b *testing.B, g *checkpointed) {
	debug.FreeOSMemory()
	c.before = max(c.before, anonymousMemory())
	stop := g.during(b)
	watched, quit := make(chan int64), make(chan struct{})
	go func() {
		peak := int64(0)
		tick := time.NewTicker(memoryInterval)
		defer tick.Stop()
		for {
			peak = max(peak, anonymousMemory())
			select {
			case <-tick.C:
			case <-quit:
				watched <- peak
				return
			}
		}
	}()
	cpu, start := cpuTime(), clock.Now()
	b.StartTimer()
	err := g.checkpoints.make(b.Context())
	b.StopTimer()
	c.took, c.cpu = c.took+clock.Since(start), c.cpu+cpuTime()-cpu
	close(quit)
	c.peak = max(c.peak, <-watched)
	stop()
	if err != nil {
		b.Fatal(err)
	}
	if g.checkpoints.counts.rewrites.Load() == 0 {
		b.Fatal("the checkpoint rewrote nothing")
	}
}

// sparseGraph loads a graph and deletes the persons with an age of 65 or more, together with their
// edges. Persons know only persons of their age, so 35 percent of the persons and 35 percent of the
// edges are deleted. The graph is opened again, so that its memory contains nothing that the deletions
// have read.
func sparseGraph(b *testing.B, edges int) *checkpointed {
	b.Helper()
	home := filepath.Join(b.TempDir(), "g")
	g, err := Create(b.Context(), fs.OS(), home, "", people(), Options{quiet: true, sparse: math.MaxUint32})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { g.Close() })
	lines, w := io.Pipe()
	go func() {
		text := bufio.NewWriter(w)
		err := writeFriends(text, edges)
		w.CloseWithError(cmp.Or(err, text.Flush()))
	}()
	if _, err := g.Load(b.Context(), lines, engine.LoadOptions{Mode: engine.Merge}); err != nil {
		b.Fatal(err)
	}
	for age := 65; age < 100; age++ {
		if _, err := g.Mutate(b.Context(), deleteByAge, engine.Args{num(age)}, engine.WriteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(g.checkpoints.make(b.Context()), g.Close()); err != nil {
		b.Fatal(err)
	}
	if g, err = Open(b.Context(), fs.OS(), home, Options{quiet: true}); err != nil {
		b.Fatal(err)
	}
	return &checkpointed{Graph: g}
}

// deleteByAge deletes the persons of an age.
var deleteByAge = &plan.Query{
	Params: []plan.Param{{Name: "age", Type: value.Of(value.I32)}},
	Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Delete{Type: "Person",
		Where: []plan.Pred{{Name: "age", Type: ageOf.Type, Op: plan.Eq, Value: plan.ParamRef{Index: 0}}}}}},
}

// writeFriends writes a tenth as many persons as edges, with ages from 0 to 99. Each person knows ten
// persons of the same age.
func writeFriends(w io.Writer, edges int) error {
	n := edges / 1000 * 100
	for i := range n {
		if _, err := fmt.Fprintf(w, `{"type":"Person","data":{"name":"p%06d","age":%d,"city":"c%d"}}`+"\n", i, i%100, i%7); err != nil {
			return err
		}
	}
	for i := range n {
		for k := range 10 {
			if _, err := fmt.Fprintf(w, `{"edge":"Knows","from":"p%06d","to":"p%06d"}`+"\n", i, (i+100*(i*7+k*k*131+1))%n); err != nil {
				return err
			}
		}
	}
	return nil
}
