package simulation

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
	"go.uber.org/goleak"
)

var (
	schedules = flag.Int("simulation.schedules", 1000, "number of schedules with a takeover during a PUT that TestSchedules runs")
	trace     = flag.Bool("simulation.trace", false, "makes TestTrace print the run of -simulation.seed")
	firstSeed = flag.Uint64("simulation.seed", 1, "first seed of TestSchedules")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// search runs seeds from `first` on, on all processors. It counts the runs that are schedules (see
// [Result.Counts]) or that broke a promise. It calls `stop` with each counted run, in the order of
// the seeds, and ends when stop returns true or `wanted` runs are counted. It returns how often
// each event happened in the counted runs, and the numbers of all runs and of counted runs.
func search(first uint64, wanted int, faults sharedlog.Faults, stop func(Result) bool) (covered map[Event]int, runs, counted int) {
	const batch = 64
	covered = map[Event]int{}
	for seed := first; ; seed += batch {
		var results [batch]Result
		var group sync.WaitGroup
		for worker := range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for i := worker; i < batch; i += runtime.GOMAXPROCS(0) {
					results[i] = Run(seed+uint64(i), faults, nil)
				}
			})
		}
		group.Wait()
		for _, r := range results {
			runs++
			if !r.Counts() && r.Violation == "" {
				continue
			}
			counted++
			for e, n := range r.Covered {
				covered[e] += n
			}
			if stop(r) || counted >= wanted {
				return covered, runs, counted
			}
		}
	}
}

// TestSchedules runs schedules without planted faults. Each must keep every promise. The test
// prints how often each event happened. With at least 1000 schedules, it also fails if some event
// never happened.
func TestSchedules(t *testing.T) {
	wanted := *schedules
	if testing.Short() {
		wanted = min(wanted, 100)
	}
	covered, runs, counted := search(*firstSeed, wanted, sharedlog.Faults{}, func(r Result) bool {
		if r.Violation != "" {
			t.Errorf("seed %d: %s", r.Seed, r.Violation)
		}
		return t.Failed()
	})
	report := fmt.Sprintf("%d of %d runs count as schedules; they cover\n", counted, runs)
	for _, e := range Events {
		report += fmt.Sprintf("%10d  %s\n", covered[e], e)
		if covered[e] == 0 && wanted >= 1000 {
			t.Errorf("no run covers: %s", e)
		}
	}
	fmt.Fprint(os.Stderr, report)
}

// TestTrace prints what happens in the run of -simulation.seed, if -simulation.trace is set.
func TestTrace(t *testing.T) {
	if !*trace {
		t.Skip("-simulation.trace is not set")
	}
	r := Run(*firstSeed, sharedlog.Faults{}, t.Output())
	t.Logf("seed %d: violation %q", r.Seed, r.Violation)
}

// TestReplay runs each seed twice. Both runs must break the same promise, or none, and cover the
// same events equally often.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		a, b := Run(seed, sharedlog.Faults{}, nil), Run(seed, sharedlog.Faults{}, nil)
		if a.Violation != b.Violation || !maps.Equal(a.Covered, b.Covered) {
			t.Errorf("two runs of seed %d differ: %v and %v", seed, a, b)
		}
	}
}

// TestFaultsAreFound leaves out one step of the protocol at a time. Within 10,000 schedules a run
// must break a promise. A second run of the same seed must break it again. With the complete
// protocol, a run of that seed must keep every promise.
func TestFaultsAreFound(t *testing.T) {
	for name, faults := range map[string]sharedlog.Faults{
		"ignore epoch":      {IgnoreEpoch: true},
		"collect takeovers": {CollectTakeovers: true},
		"acknowledge early": {AcknowledgeEarly: true},
		"guess layout":      {GuessLayout: true},
		"skip second look":  {SkipSecondLook: true},
		"ignore pins":       {IgnorePins: true},
		"early orphans":     {EarlyOrphans: true},
		"roll up early":     {RollUpEarly: true},
		"skip reader look":  {SkipReaderLook: true},
		"trust missing":     {TrustMissing: true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			var found Result
			_, runs, counted := search(1, 10_000, faults, func(r Result) bool {
				if r.Violation == "" || !r.Counts() {
					return false
				}
				found = r
				return true
			})
			if found.Violation == "" {
				t.Fatalf("%d schedules (%d runs) did not find the fault", counted, runs)
			}
			t.Logf("found by schedule %d, seed %d: %s", counted, found.Seed, found.Violation)
			if again := Run(found.Seed, faults, nil); again.Violation != found.Violation {
				t.Errorf("seed %d: %q; again: %q", found.Seed, found.Violation, again.Violation)
			}
			if sound := Run(found.Seed, sharedlog.Faults{}, nil); sound.Violation != "" {
				t.Errorf("seed %d without the fault: %s", found.Seed, sound.Violation)
			}
		})
	}
}
