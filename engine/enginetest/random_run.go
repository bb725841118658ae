package enginetest

import (
	"context"
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/enginetest/naive"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Options say how long a random comparison runs. It ends with the first of Cases and
// Duration, and with the last of Differences.
type Options struct {
	Seed  uint64 // of the first graph; each graph adds one
	Cases int    // statements to compare, 0 for no bound
	// Duration is the time after which no further graph is begun, 0 for no bound.
	Duration time.Duration
	// Differences is how many graphs may differ before the comparison gives up; 0 is 1.
	Differences int
	// Workers is how many graphs are compared at the same time; 0 is 1. With one, the
	// number of cases before a difference follows from the seed.
	Workers int
	// Progress is the time between two lines of how far the comparison is, 0 for none.
	Progress time.Duration
}

var (
	seedFlag        = flag.Uint64("enginetest.seed", 1, "seed of the first random graph")
	casesFlag       = flag.Int("enginetest.cases", 0, "random statements to compare, 0 for no bound")
	durationFlag    = flag.Duration("enginetest.duration", 20*time.Second, "time for the random comparison, 0 for no bound")
	differencesFlag = flag.Int("enginetest.differences", 1, "differing random graphs before giving up")
	workersFlag     = flag.Int("enginetest.workers", runtime.GOMAXPROCS(0), "random graphs to compare at the same time")
	progressFlag    = flag.Duration("enginetest.progress", 0, "time between lines of progress, 0 for none; they show with -v")
)

// FromFlags returns the options that the test's flags -enginetest.seed, .cases,
// .duration, .differences, .workers and .progress give.
func FromFlags() Options {
	return Options{Seed: *seedFlag, Cases: *casesFlag, Duration: *durationFlag, Differences: *differencesFlag,
		Workers: *workersFlag, Progress: *progressFlag}
}

// stepsPerGraph is how many statements a random graph sees.
const stepsPerGraph = 60

// RunRandom draws schemas, data and statements, runs each statement on an engine and on
// the reference model, and fails the test where they differ, with a shrunken script and
// the seed that draws it. It returns the number of compared statements, and logs it with
// what came of them.
func RunRandom(t testing.TB, open Opener, o Options) int {
	t.Helper()
	r := &randomRun{Options: o, t: t, open: open, next: o.Seed, begin: clock.Now(), reported: clock.Now(), seen: tally{}}
	var workers sync.WaitGroup
	for range max(1, o.Workers) {
		workers.Go(r.work)
	}
	workers.Wait()
	if r.broken {
		t.FailNow() // a worker has said why
	}
	spent := clock.Since(r.begin)
	t.Logf("%d statements on %d graphs from seed %d on compared in %s, %.0f a second; by kind and by what comes of them:\n%s",
		r.cases, r.next-o.Seed, o.Seed, spent.Round(time.Millisecond), float64(r.cases)/spent.Seconds(), r.seen)
	return r.cases
}

// randomRun is a comparison under way.
type randomRun struct {
	Options
	t     testing.TB
	open  Opener
	begin time.Time

	mu          sync.Mutex
	next        uint64 // seed
	cases       int
	differences int
	broken      bool // a worker ended in the midst of a graph
	reported    time.Time
	seen        tally
}

// work compares graphs until there is none left.
func (r *randomRun) work() {
	whole := false
	defer func() {
		if !whole { // an opener has called FailNow
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

// take returns the seed of the next graph.
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

func (r *randomRun) compare(seed uint64) {
	d, seen := newDrawer(seed), tally{}
	openBoth := func() *pair {
		return &pair{ctx: context.Background(), schema: d.schema, engine: r.open(r.t, sourceText, d.schema),
			model: naive.New(sourceText, d.schema, naive.Sound)}
	}
	n, script, difference := countGraph(d, openBoth, seen)
	r.count(n, seen, difference != "")
	if difference != "" {
		script, difference = shrink(openBoth, script, difference)
		r.t.Errorf("the engine and the model differ (-enginetest.seed=%d):\n%s\nschema:\n%s\nscript:\n%s",
			seed, difference, schemaText(d.schema), scriptText(script))
	}
}

// count takes note of a graph, and says now and then how far the comparison is.
func (r *randomRun) count(cases int, seen tally, differs bool) {
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
		r.t.Logf("%d statements compared in %s, %.0f a second, %d graphs differ", r.cases, spent.Round(time.Second),
			float64(r.cases)/spent.Seconds(), r.differences)
	}
}
