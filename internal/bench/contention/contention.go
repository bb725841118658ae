// Package contention runs many writers that increment counters of one graph, and many readers of
// the same counters. It checks the answers of the engine for lost updates and torn reads.
//
// The code calls an increment a raise: a writer reads a counter and writes the value plus one. If
// two increments overlap, the engine must not acknowledge both. A counter, its mirror and its
// entries change in one commit, so a reader must never see one of them without the others.
package contention

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Options configure a run. It ends after Duration, or when about Most increments are acknowledged,
// whichever comes first.
type Options struct {
	Writers, Readers, Counters int // numbers of each

	// Branches is the number of branches to create. The writers are divided evenly among them. If
	// it is 0, all writers use main.
	Branches int
	// IfCommit makes each write require the head that its read saw. Without it, two increments to
	// the same value conflict because they insert entries with the same id.
	IfCommit bool

	Duration time.Duration // time after which the run ends
	Most     int64         // approximate maximum number of acknowledged increments
	Seed     uint64        // of the random choices of writers and readers
}

// Report holds the figures of a run.
type Report struct {
	Options
	Elapsed time.Duration // duration of the run

	Raises  int64           // number of acknowledged increments
	Refused int64           // increments that failed because of another one; each was retried
	Writes  []time.Duration // time of each acknowledged write, without the read before it
	Reads   []time.Duration // time of each pair of compared reads

	run *run // the state that Compare uses
}

// Compare compares the counters of g with the acknowledged increments of the run. For example, g is
// the same graph after it was reopened.
func (r *Report) Compare(ctx context.Context, g engine.Graph) error {
	again := *r.run
	again.graph = g
	return again.compare(ctx)
}

// Run fills an empty graph of [Schema], runs the writers and readers, and compares the result with
// the acknowledged increments. The error describes a lost update, a torn read or a failed call.
func Run(ctx context.Context, g engine.Graph, o Options) (*Report, error) {
	if err := fill(ctx, g, o.Counters); err != nil {
		return nil, err
	}
	r := &run{Options: o, graph: g, plans: compiled(), branches: []string{engine.MainBranch}, total: new(atomic.Int64), refused: new(atomic.Int64)}
	if o.Branches > 0 {
		r.branches = nil
		for i := range o.Branches {
			name := fmt.Sprintf("line/%02d", i)
			if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
				return nil, err
			}
			r.branches = append(r.branches, name)
		}
	}
	r.acked = make([][]atomic.Int64, len(r.branches))
	for i := range r.acked {
		r.acked[i] = make([]atomic.Int64, o.Counters)
	}
	return r.run(ctx)
}

// run is the state of a run, which its writers and readers share.
type run struct {
	Options
	graph    engine.Graph     // the graph under test
	plans    *plans           // the compiled schema and queries
	branches []string         // names; the writers are divided among them
	acked    [][]atomic.Int64 // number of acknowledged increments by branch and counter
	total    *atomic.Int64    // number of acknowledged increments
	refused  *atomic.Int64    // number of increments that failed and were retried
}

// run starts the writers and readers, waits for them, and compares the counters.
func (r *run) run(ctx context.Context) (*Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	writes, reads := make([][]time.Duration, r.Writers), make([][]time.Duration, r.Readers)
	begin := clock.Now()
	var writers, readers sync.WaitGroup
	fail := func(err error) {
		if err != nil {
			cancel(err) // the first error is kept
		}
	}
	for w := range r.Writers {
		writers.Go(func() {
			times, err := r.write(ctx, w, begin)
			writes[w] = times
			fail(err)
		})
	}
	done := make(chan struct{})
	for n := range r.Readers {
		readers.Go(func() {
			times, err := r.read(ctx, n, done)
			reads[n] = times
			fail(err)
		})
	}
	writers.Wait()
	elapsed := clock.Since(begin)
	close(done)
	readers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	rep := &Report{Options: r.Options, Elapsed: elapsed, Raises: r.total.Load(), Refused: r.refused.Load(), run: r}
	for _, t := range writes {
		rep.Writes = append(rep.Writes, t...)
	}
	for _, t := range reads {
		rep.Reads = append(rep.Reads, t...)
	}
	return rep, r.compare(ctx)
}

// write increments counters until the run is over.
func (r *run) write(ctx context.Context, writer int, begin time.Time) (times []time.Duration, err error) {
	rng := rand.New(rand.NewPCG(r.Seed, uint64(writer)))
	line := writer % len(r.branches)
	last := make([]int64, r.Counters) // the values that this writer's last acknowledged increments wrote
	for clock.Since(begin) < r.Duration && r.total.Load() < r.Most {
		n := rng.IntN(r.Counters)
		name := value.OfString(counterName(n))
		read, commit, err := row(ctx, r.graph, r.plans.counter, engine.Args{name}, engine.Target{Branch: r.branches[line]})
		if err != nil {
			return nil, err
		}
		if len(read) != 1 || read[0] < last[n] {
			return nil, fmt.Errorf("writer %d, %s on %s: reads %v after its own write of %d was acknowledged", writer, counterName(n), r.branches[line], read, last[n])
		}
		next := read[0] + 1
		opts := engine.WriteOptions{Branch: r.branches[line], Actor: fmt.Sprint("writer-", writer)}
		entry := fmt.Sprintf("%s-%d", counterName(n), next)
		if r.IfCommit {
			opts.IfCommit = commit
			entry = fmt.Sprintf("%s-by-%d", entry, writer) // unique: IfCommit finds the conflict
		}
		start := clock.Now()
		_, err = r.graph.Mutate(ctx, r.plans.raise, engine.Args{name, value.OfI64(next), value.OfString(entry), value.OfI64(int64(writer))}, opts)
		var stale *engine.PreconditionFailed
		var taken *engine.KeyConflict
		switch {
		case err == nil:
			times = append(times, clock.Since(start))
			r.acked[line][n].Add(1)
			r.total.Add(1)
			last[n] = next
		case errors.As(err, &stale) && r.IfCommit, errors.As(err, &taken) && !r.IfCommit:
			r.refused.Add(1)
			// The other increment becomes visible once it is durable; until then every retry fails.
			if !wait(ctx, time.Duration(rng.Int64N(int64(time.Millisecond)))) {
				return nil, ctx.Err()
			}
		default:
			return nil, fmt.Errorf("writer %d: %w", writer, err)
		}
	}
	return times, nil
}

// read repeatedly reads values that commits change together, and compares them, until the run is
// over.
func (r *run) read(ctx context.Context, reader int, done <-chan struct{}) (times []time.Duration, err error) {
	rng := rand.New(rand.NewPCG(r.Seed, 1<<32+uint64(reader)))
	last := make([]int64, len(r.branches))
	for {
		select {
		case <-done:
			return times, nil
		default:
		}
		line := rng.IntN(len(r.branches))
		start := clock.Now()
		sum, err := r.look(ctx, line, rng.IntN(r.Counters))
		if err != nil {
			return nil, fmt.Errorf("reader %d: %w", reader, err)
		}
		times = append(times, clock.Since(start))
		if sum < last[line] {
			return nil, fmt.Errorf("reader %d: the counters of %s add up to %d, but added up to %d in an earlier read", reader, r.branches[line], sum, last[line])
		}
		last[line] = sum
		// A reader behind a connection waits for its next call. A reader that never waits would
		// keep its processor for the 10 ms that the scheduler gives it.
		runtime.Gosched()
	}
}

// wait waits for d, and returns false if the run ends first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// look reads the head of a branch twice. It compares the sum over all counters with the sum over
// all mirrors, and one counter with its mirror and its entries. It returns the sum over all
// counters.
func (r *run) look(ctx context.Context, line, counter int) (sum int64, err error) {
	branch := r.branches[line]
	sums, commit, err := row(ctx, r.graph, r.plans.sums, nil, engine.Target{Branch: branch})
	if err != nil {
		return 0, err
	}
	if len(sums) != 3 || sums[0] != sums[1] || sums[2] != int64(r.Counters) {
		return 0, fmt.Errorf("%s at %s: the sum of the counters, the sum of the mirrors and the number of counters are %v; expected equal sums and %d counters", branch, commit, sums, r.Counters)
	}
	one, commit, err := row(ctx, r.graph, r.plans.entries, engine.Args{value.OfString(counterName(counter))}, engine.Target{Branch: branch})
	if err != nil {
		return 0, err
	}
	if len(one) > 0 && (one[0] != one[1] || one[0] != one[2]) {
		return 0, fmt.Errorf("%s at %s: %s, its mirror and its entries are %v; expected equal numbers", branch, commit, counterName(counter), one)
	}
	return sums[0], nil
}

// compare compares each counter with the number of its acknowledged increments.
func (r *run) compare(ctx context.Context) error {
	for line, branch := range r.branches {
		var all int64
		for n := range r.Counters {
			read, _, err := row(ctx, r.graph, r.plans.counter, engine.Args{value.OfString(counterName(n))}, engine.Target{Branch: branch})
			if err != nil {
				return err
			}
			want := r.acked[line][n].Load()
			if len(read) != 1 || read[0] != want {
				return fmt.Errorf("%s on %s is %v after %d acknowledged increments", counterName(n), branch, read, want)
			}
			all += want
		}
		snap, err := r.graph.Snapshot(ctx, engine.Target{Branch: branch})
		if err != nil {
			return err
		}
		for _, c := range append(snap.Nodes, snap.Edges...) {
			if (c.Type == "Entry" || c.Type == "Raises") && c.Count != all {
				return fmt.Errorf("%s has %d of %s after %d acknowledged increments", branch, c.Count, c.Type, all)
			}
		}
		for n := range r.Counters {
			if _, err := r.look(ctx, line, n); err != nil {
				return err
			}
		}
	}
	return nil
}
