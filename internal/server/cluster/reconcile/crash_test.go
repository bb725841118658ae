package reconcile

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

const storage = "/data"

// begun makes a cluster with the graphs things and people; people holds entities. An apply of the
// sources `wanted` to this cluster creates graphs, extends one schema, and removes values from the
// graph people.
func begun(t testing.TB) (mem *fs.Mem, wanted *Sources, approved []string) {
	t.Helper()
	mem = fs.NewMem()
	c := clusterOn(mem, storage)
	c.mustApply(t, sources(t, "people", people, "things", things))
	c.load(t, "people", seed)
	wanted = sources(t, "fresh", things, "people", peopleLeast, "last", people, "things", more)
	return mem, wanted, approvals(c.mustPlan(t, wanted))
}

func dumpAll(t testing.TB, c *Cluster) string {
	t.Helper()
	return c.dump(t, "fresh", "people", "last", "things")
}

// TestCrash cuts the power at every durable operation of an apply. The next apply, with the same
// approvals, must reach the same result as an apply without a crash.
func TestCrash(t *testing.T) {
	slow.Test(t)
	before, wanted, approved := begun(t)
	undisturbed := before.Crash(1)
	c := clusterOn(undisturbed, storage)
	first := undisturbed.Ops()
	c.mustApply(t, wanted, approved...)
	ops := undisturbed.Ops() - first
	want := dumpAll(t, c)
	if len(approved) != 1 || ops < 30 || strings.Count(want, `commit 2 by "ada"`) != 1 || !strings.Contains(want, `"revision": 2`) {
		t.Fatalf("%d operations, approved %v:\n%s", ops, approved, want)
	}
	untouched := before.Crash(1)
	untouchedStates := dumpAll(t, clusterOn(untouched, storage))
	t.Logf("%d durable operations", ops)
	found := map[string]int{} // number of crashes, by state of the graphs after the crash
	for n := range ops {
		mem := before.Crash(1)
		mem.CrashAfter(n)
		_, err := clusterOn(mem, storage).Apply(context.Background(), wanted, Options{Actor: "ada", Approved: approved})
		for seed := range uint64(3) {
			after := mem.Crash(seed)
			c := clusterOn(after, storage)
			crashed := dumpAll(t, c)
			found[crashed]++
			if err == nil && crashed != want {
				t.Fatalf("crash at operation %d, seed %d: the apply was acknowledged, and left\n%s", n, seed, crashed)
			}
			// Apply writes the revision last. If the new revision is recorded, no work may be left.
			if strings.Contains(crashed, `"revision": 2`) && crashed != want {
				t.Fatalf("crash at operation %d, seed %d: the revision was recorded before all was done:\n%s", n, seed, crashed)
			}
			out, err := c.Apply(context.Background(), wanted, Options{Actor: "ada", Approved: approved})
			if err != nil {
				t.Fatalf("crash at operation %d, seed %d: %v", n, seed, err)
			}
			if got := dumpAll(t, c); got != want {
				t.Fatalf("crash at operation %d, seed %d: the next apply did %+v, and ends with\n%s\nwant\n%s", n, seed, out.Applied, got, want)
			}
		}
	}
	if len(found) < 6 || found[want] == 0 || found[untouchedStates] == 0 {
		t.Errorf("the crashes left %d different states, want those between %d graphs and the revision", len(found), len(wanted.Graphs))
	}
}

// TestFaults makes each operation of an apply fail once. The apply must either return the error or
// have done everything. The next apply must reach the same result as an apply without a fault.
func TestFaults(t *testing.T) {
	before, wanted, approved := begun(t)
	c := clusterOn(before.Crash(1), storage)
	c.mustApply(t, wanted, approved...)
	want := dumpAll(t, c)
	broken := errors.New("the disk says no")
	for n := 1; ; n++ {
		mem := before.Crash(1)
		hit := false
		faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if op.N != n {
				return nil
			}
			hit = true
			return &faultfs.Fault{Err: broken, Write: op.Len / 2}
		})
		_, err := clusterOn(faulty, storage).Apply(context.Background(), wanted, Options{Actor: "ada", Approved: approved})
		if !hit {
			if n < 60 {
				t.Errorf("an apply has %d operations", n)
			}
			return
		}
		c := clusterOn(mem.Crash(uint64(n)), storage)
		if err == nil && dumpAll(t, c) != want {
			t.Fatalf("operation %d failed, the apply reports nothing, and left\n%s", n, dumpAll(t, c))
		}
		c.mustApply(t, wanted, approved...)
		if got := dumpAll(t, c); got != want {
			t.Fatalf("operation %d failed; the next apply ends with\n%s\nwant\n%s", n, got, want)
		}
	}
}

// TestCanceled cancels the context at each operation of an apply, as Ctrl-C does. The next apply
// must reach the same result as an apply that was not canceled.
func TestCanceled(t *testing.T) {
	before, wanted, approved := begun(t)
	c := clusterOn(before.Crash(1), storage)
	c.mustApply(t, wanted, approved...)
	want := dumpAll(t, c)
	stopped := 0
	for n, hit := 1, true; hit; n++ {
		mem := before.Crash(1)
		ctx, cancel := context.WithCancel(context.Background())
		hit = false
		faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if op.N == n {
				hit = true
				cancel()
			}
			return nil
		})
		_, err := clusterOn(faulty, storage).Apply(ctx, wanted, Options{Actor: "ada", Approved: approved})
		cancel()
		c := clusterOn(mem, storage)
		switch got := dumpAll(t, c); {
		case err == nil && got != want:
			t.Fatalf("canceled at operation %d: the apply reports nothing, and left\n%s", n, got)
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatalf("canceled at operation %d: %v", n, err)
		case err != nil:
			stopped++
		}
		c.mustApply(t, wanted, approved...)
		if got := dumpAll(t, c); got != want {
			t.Fatalf("canceled at operation %d; the next apply ends with\n%s\nwant\n%s", n, got, want)
		}
	}
	if stopped < 20 {
		t.Errorf("only %d applies were stopped", stopped)
	}
}

// TestTwoAtOnce starts several applies at the same time. One must do all the work; the others must
// be refused or find nothing to do.
func TestTwoAtOnce(t *testing.T) {
	c := clusterOn(fs.OS(), filepath.Join(t.TempDir(), "data"))
	wanted := sources(t, "fresh", things, "people", people, "last", people)
	type result struct {
		out *Outcome
		err error
	}
	results := make(chan result)
	const many = 4
	for range many {
		go func() {
			out, err := c.Apply(context.Background(), wanted, Options{Actor: "ada"})
			results <- result{out, err}
		}()
	}
	did := 0
	for range many {
		switch r := <-results; {
		case r.err != nil:
			// The error names the process that holds the lock only after that process has written
			// its id to the lock file.
			if held := new(engine.Unavailable); !errors.As(r.err, &held) || !strings.Contains(held.Reason, "locked by") {
				t.Errorf("refused: %v", r.err)
			}
		case r.out.Recorded:
			did++
			if len(r.out.Applied) != 3 {
				t.Errorf("applied %+v", r.out.Applied)
			}
		case len(r.out.Applied) > 0:
			t.Errorf("applied %+v, and recorded nothing", r.out.Applied)
		}
	}
	if did != 1 {
		t.Errorf("%d applies recorded a revision, want one", did)
	}
	if p := c.mustPlan(t, wanted); p.Pending() || p.Revision.Number != 1 {
		t.Errorf("there is %s still to do, at revision %d", states(p), p.Revision.Number)
	}
}
