package enginetest

import (
	"context"
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// Options say how long a random comparison runs. The comparison ends as soon as one of three limits
// is reached: Cases statements, the time Duration, or Differences graphs that differ.
type Options struct {
	Seed  uint64 // seed of the first graph; each further graph adds one
	Cases int    // number of statements to compare; 0 means no limit
	// Duration is the time after which no new graph is started; 0 means no limit.
	Duration time.Duration
	// Differences is the number of graphs that may differ before the comparison stops; 0 means 1.
	Differences int
	// Workers is the number of graphs that are compared concurrently; 0 means 1. With one worker,
	// the same seed always runs the same number of cases before it finds a difference.
	Workers int
	// Progress is the time between two progress lines; 0 means none.
	Progress time.Duration
}

var (
	seedFlag        = flag.Uint64("enginetest.seed", 1, "seed of the first random graph")
	casesFlag       = flag.Int("enginetest.cases", 0, "number of random statements to compare; 0 means no limit")
	durationFlag    = flag.Duration("enginetest.duration", 8*time.Second, "duration of the random comparison; 0 means no limit")
	differencesFlag = flag.Int("enginetest.differences", 1, "number of differing random graphs after which the test stops")
	workersFlag     = flag.Int("enginetest.workers", runtime.GOMAXPROCS(0), "number of random graphs to compare at the same time")
	rightsFlag      = flag.Int("enginetest.rights", 0, "least percentage of reads, loads, mutations and merges that have rights to a part of the graph")
	progressFlag    = flag.Duration("enginetest.progress", 0, "time between progress lines, which go test prints with -v; 0 means no progress lines")
)

// FromFlags returns the options from the test's flags -enginetest.seed, .cases, .duration,
// .differences, .workers and .progress.
func FromFlags() Options {
	return Options{Seed: *seedFlag, Cases: *casesFlag, Duration: *durationFlag, Differences: *differencesFlag,
		Workers: *workersFlag, Progress: *progressFlag}
}

// stepsPerGraph is the number of statements for each random graph.
const stepsPerGraph = 60

// RunRandom draws schemas, data and statements, and runs each statement on an engine and on the
// reference model. If the two differ, it fails the test and prints a shrunken script and its seed.
// RunRandom returns the number of compared statements, and logs that number with a summary of the
// outcomes.
func RunRandom(t testing.TB, open Opener, o Options) int {
	t.Helper()
	r := &randomRun{Options: o, t: t, open: open, next: o.Seed, begin: clock.Now(), reported: clock.Now(), seen: outcomeCounts{}}
	var workers sync.WaitGroup
	for range max(1, o.Workers) {
		workers.Go(r.work)
	}
	workers.Wait()
	if r.broken {
		t.FailNow() // the worker has already reported the reason
	}
	spent := clock.Since(r.begin)
	t.Logf("compared %d statements on %d graphs, with seeds from %d on, in %s, %.0f per second; by kind and outcome:\n%s",
		r.cases, r.next-o.Seed, o.Seed, spent.Round(time.Millisecond), float64(r.cases)/spent.Seconds(), r.seen)
	return r.cases
}

// randomRun is the state of a running comparison.
type randomRun struct {
	Options
	t     testing.TB
	open  Opener    // opens a graph of the engine
	begin time.Time // when the comparison began

	mu          sync.Mutex
	next        uint64        // seed of the next graph
	cases       int           // number of statements compared so far
	differences int           // number of graphs that differ so far
	broken      bool          // a worker ended before its graph was finished
	reported    time.Time     // when the last line of progress was printed
	seen        outcomeCounts // the statements by kind and outcome
}

// work compares graphs until none is left.
func (r *randomRun) work() {
	whole := false
	defer func() {
		if !whole { // the opener called FailNow
			r.mu.Lock()
			r.broken = true
			r.mu.Unlock()
		}
	}()
	for {
		seed, ok := r.take()
		if !ok {
			whole = true
			return
		}
		r.compare(seed)
	}
}

// take returns the seed of the next graph. The result `ok` is false if the comparison is over.
func (r *randomRun) take() (seed uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken || r.differences >= max(1, r.Differences) || r.Cases > 0 && r.cases >= r.Cases ||
		r.Duration > 0 && clock.Since(r.begin) >= r.Duration {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

// compare runs the script of a seed on the engine and the model, and reports a difference.
func (r *randomRun) compare(seed uint64) {
	d, seen := newDrawer(seed), outcomeCounts{}
	first := d.schema // the script may change the schema of the drawer
	openBoth := func() *pair {
		return &pair{ctx: context.Background(), schema: first, engine: r.open(r.t, sourceText, first),
			model: naive.New(sourceText, first, naive.Sound)}
	}
	n, script, difference := countGraph(d, openBoth, seen)
	r.count(n, seen, difference != "")
	if difference != "" {
		script, difference = shrink(openBoth, script, difference)
		r.t.Errorf("the engine and the model differ (-enginetest.seed=%d):\n%s\nschema:\n%s\nscript:\n%s",
			seed, difference, schemaText(first), scriptText(script))
	}
}

// count records the result of a graph, and logs progress from time to time.
func (r *randomRun) count(cases int, seen outcomeCounts, differs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cases += cases
	r.seen.merge(seen)
	if differs {
		r.differences++
	}
	if r.Progress > 0 && clock.Since(r.reported) >= r.Progress {
		r.reported = clock.Now()
		spent := clock.Since(r.begin)
		r.t.Logf("compared %d statements in %s, %.0f per second; %d graphs differ", r.cases, spent.Round(time.Second),
			float64(r.cases)/spent.Seconds(), r.differences)
	}
}
