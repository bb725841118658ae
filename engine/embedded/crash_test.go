package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// crashOptions make a rewrite store several segments of a type, and use temporary files.
var crashOptions = Options{Now: testClock, LogSize: 8192, InlineBytes: 700, quiet: true, sparse: 8, indexed: 1,
	rewriteSegment: 200, lateBytes: 100, keepIndexes: 8, spillIndexes: 16, vectorLimits: smallVectors}

// states runs a script without a failure, and returns the content of the graph before the first
// call of the script and after each call.
func (s script) states(t *testing.T) (states []string) {
	t.Helper()
	g, err := Create(t.Context(), fs.NewMem(), dir, "// people", people(), crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	states = append(states, s.dump(g))
	for i, d := range s.deeds {
		if err := d.do(g); err != nil {
			t.Fatalf("deed %d, %s: %v", i+1, d.call, err)
		}
		states = append(states, s.dump(g))
	}
	for i, state := range states {
		if strings.Contains(state, "BUT THE") {
			t.Errorf("after deed %d the common ancestors or the answers are wrong:\n%s", i, state)
			break
		}
	}
	if s.made != nil {
		s.made(t, g)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return states
}

// ops runs a script without a failure, and returns the number of durable operations and a list
// of all operations.
func (s script) ops() (durable int, all []faultfs.Op) {
	mem := fs.NewMem()
	var mu sync.Mutex // a rewrite builds its indexes on several goroutines
	s.run(faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, op)
		return nil
	}))
	return mem.Ops(), all
}

// run makes a graph and runs the calls of the script up to the first that fails. It returns how
// many calls were acknowledged, or -1 if the graph could not be made.
func (s script) run(fsys fs.FS) (acked int) {
	g, err := Create(context.Background(), fsys, dir, "// people", people(), crashOptions)
	if err != nil {
		return -1
	}
	return s.runIn(g)
}

// runIn runs the calls of the script in a graph up to the first that fails, and closes the graph. It
// returns how many calls were acknowledged.
func (s script) runIn(g *Graph) (acked int) {
	defer g.Close()
	for i, d := range s.deeds {
		if d.do(g) != nil {
			return i
		}
	}
	return len(s.deeds)
}

// TestCrash cuts the power at every sixth durable operation of the scripts, or at every one with
// -embedded.long. After a reopen, the change of every acknowledged call must be there. The change of the interrupted call must be there
// completely or not at all.
func TestCrash(t *testing.T) {
	slow.Test(t)
	some := sampleOperations()
	for _, s := range scripts() {
		states := s.states(t)
		ops, _ := s.ops()
		t.Logf("%s: %d durable operations; the power is cut at %v", s.name, ops, some)
		inShares(t, s.name, ops, func(t *testing.T, n int) {
			if !some.has(n) {
				return
			}
			mem := fs.NewMem()
			mem.CrashAfter(n)
			acked := s.run(mem)
			seed := uint64(n / some.step % 3) // selects which unsynced writes are lost
			checkReopened(t, s, mem.Crash(seed), allowed(states, acked), fmt.Sprintf("crash at operation %d, seed %d, after deed %d", n, seed, acked))
		})
		if s.stored != nil {
			t.Cleanup(func() { s.stored.check(t) })
		}
	}
}

// sample selects the operations at which a test lets something fail: each step-th one from `first`
// on.
type sample struct{ step, first int }

// sampleOperations selects every sixth operation, or every one with -embedded.long. The first is
// drawn at random. The race detector and -short make the steps longer.
func sampleOperations() sample {
	s := sample{step: 6}
	switch {
	case raced:
		s.step = 23
	case testing.Short():
		s.step = 11
	case *longForms:
		s.step = 1
	}
	s.first = rand.IntN(s.step)
	return s
}

func (s sample) has(n int) bool { return n%s.step == s.first }

func (s sample) String() string {
	return fmt.Sprintf("each operation n with n%%%d = %d", s.step, s.first)
}

// shares is the number of parallel tests among which inShares distributes the operations.
const shares = 4

// inShares calls `try` for each operation from 0 to ops-1, in parallel tests.
func inShares(t *testing.T, name string, ops int, try func(t *testing.T, n int)) {
	for k := range shares {
		t.Run(fmt.Sprintf("%s/%d of %d", name, k+1, shares), func(t *testing.T) {
			t.Parallel()
			for n := k; n < ops; n += shares {
				try(t, n)
			}
		})
	}
}

// TestCrashTwice cuts the power twice: at a durable operation of a script, and at every durable
// operation of the Open that follows.
func TestCrashTwice(t *testing.T) {
	slow.Test(t)
	for _, s := range scripts() {
		states := s.states(t)
		ops, _ := s.ops()
		inShares(t, s.name, ops, func(t *testing.T, n int) {
			if n < 3 || n%7 != 3 || raced && n%11 != 0 {
				return
			}
			mem := fs.NewMem()
			mem.CrashAfter(n)
			acked := s.run(mem)
			for k := 0; ; k++ {
				after := mem.Crash(uint64(n))
				after.CrashAfter(k)
				g, err := Open(t.Context(), after, dir, crashOptions)
				if err == nil {
					g.Close()
				}
				checkReopened(t, s, after.Crash(uint64(k)), allowed(states, acked), fmt.Sprintf("crash at operation %d, then at %d of Open, after deed %d", n, k, acked))
				if !errors.Is(err, fs.ErrCrashed) {
					break
				}
			}
		})
	}
}

// allowed returns the states that a reopen may find. acked is the number of acknowledged calls of
// the script. An empty state means that the graph was not created.
func allowed(states []string, acked int) []string {
	if acked < 0 {
		return []string{"", states[0]}
	}
	return states[acked:min(acked+2, len(states))]
}

// checkReopened opens a graph and checks that it is intact, that its content is one of the
// allowed states, and that it accepts further writes.
func checkReopened(t *testing.T, s script, fsys *fs.Mem, allowed []string, what string) {
	t.Helper()
	ctx := context.Background()
	var missing *engine.NotFound
	g, err := Open(ctx, fsys, dir, crashOptions)
	if errors.As(err, &missing) && allowed[0] == "" {
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if s.stored != nil {
		s.stored.count(g)
	}
	if err := g.Verify(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := s.dump(g); !slices.Contains(allowed, got) {
		t.Fatalf("%s: the graph is\n%s\nwant one of\n%s", what, got, strings.Join(allowed, "\nor\n"))
	}
	if _, err := g.CreateBranch(ctx, "later", engine.Target{}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("zoe"), num(1)}, engine.WriteOptions{Branch: "later"}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatalf("%s: checkpoint: %v", what, err)
	}
	want := s.dump(g)
	if err := errors.Join(g.Verify(ctx), g.Close()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if g, err = Open(ctx, fsys, dir, crashOptions); err != nil {
		t.Fatalf("%s: open again: %v", what, err)
	}
	defer g.Close()
	if err := g.Verify(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := s.dump(g); got != want {
		t.Fatalf("%s: after a reopen the graph is\n%s\nwant\n%s", what, got, want)
	}
}

// TestFailedSync makes syncs fail. The writer must get an unknown outcome, later writers must find
// the graph unavailable, and readers must still see the durable data.
func TestFailedSync(t *testing.T) {
	ctx := context.Background()
	failing := false
	fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if failing && op.Kind == faultfs.OpSync {
			return &faultfs.Fault{Err: errors.New("the disk is gone")}
		}
		return nil
	})
	g := create(t, fsys, crashOptions)
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	before := dump(g.branches.main.head.Load().snap)
	failing = true
	_, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{})
	if lost := (*engine.Indeterminate)(nil); !errors.As(err, &lost) {
		t.Errorf("a write whose sync failed: %v, want *engine.Indeterminate", err)
	}
	failing = false
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("cat"), num(1)}, engine.WriteOptions{})
	if gone := (*engine.Unavailable)(nil); !errors.As(err, &gone) {
		t.Errorf("a write after that: %v, want *engine.Unavailable", err)
	}
	if after := dump(g.branches.main.head.Load().snap); after != before {
		t.Errorf("readers see\n%s\nwant\n%s", after, before)
	}
}

// TestNoOpWaits runs a mutation that changes nothing while the tip is not durable yet. The reply
// must wait for the tip's commit, and must be an error if that commit fails.
func TestNoOpWaits(t *testing.T) {
	ctx := context.Background()
	var failing atomic.Bool
	syncing, release := make(chan struct{}), make(chan struct{})
	fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if op.Kind == faultfs.OpSync && failing.CompareAndSwap(true, false) {
			close(syncing)
			<-release
			return &faultfs.Fault{Err: errors.New("the disk is gone")}
		}
		return nil
	})
	g := create(t, fsys, crashOptions)
	insert := func() error {
		_, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{})
		return err
	}
	failing.Store(true)
	var writers sync.WaitGroup
	var made, repeated error
	writers.Go(func() { made = insert() })
	<-syncing
	started := make(chan struct{})
	writers.Go(func() { close(started); repeated = insert() })
	<-started
	time.Sleep(10 * time.Millisecond) // most likely it waits by now; if not, the outcome is the same
	close(release)
	writers.Wait()
	if made == nil || repeated == nil {
		t.Errorf("the commit: %v; the one that changes nothing: %v; want errors", made, repeated)
	}
}
