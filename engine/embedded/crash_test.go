package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// history is what the crash tests do to a graph: each step is acknowledged when it
// returns nil. Every id is given, so that a step always makes the same state.
func history() []func(g *Graph) error {
	ctx := context.Background()
	mutate := func(step func(g *Graph) (engine.Change, error)) func(g *Graph) error {
		return func(g *Graph) error { _, err := step(g); return err }
	}
	insert := func(name string, age int) func(g *Graph) error {
		return mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, insertPerson, engine.Args{str(name), num(age)}, engine.WriteOptions{Actor: "tester"})
		})
	}
	load := func(mode engine.LoadMode, text string) func(g *Graph) error {
		return func(g *Graph) error { return loadText(g, mode, text) }
	}
	checkpoint := func(g *Graph) error { return g.checkpoint(ctx) }
	return []func(g *Graph) error{
		insert("ann", 30),
		insert("bob", 31),
		mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, connect, engine.Args{str("ann"), str("bob"), str("k1")}, engine.WriteOptions{})
		}),
		load(engine.Merge, `{"type":"Person","data":{"name":"cat","tags":["a","b"]}}`+"\n"+`{"type":"Note","data":{"id":"n1","text":"hello"}}`+"\n"+`{"edge":"About","from":"n1","to":"cat","data":{"id":"a1"}}`),
		checkpoint,
		load(engine.Merge, manyPeople(0, 40)), // as segments
		insert("dan", 40),
		mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, birthday, engine.Args{num(77), num(3)}, engine.WriteOptions{})
		}),
		checkpoint,
		load(engine.Merge, manyPeople(20, 40)),
		mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, deletePerson, engine.Args{str("p000010")}, engine.WriteOptions{})
		}),
		checkpoint,
		insert("ann", 99),
		load(engine.Overwrite, `{"edge":"Knows","from":"ann","to":"dan","data":{"id":"k9"}}`),
		load(engine.Overwrite, manyPeople(100, 30)+`{"type":"Person","data":{"name":"cat"}}`),
		insert("eve", 5),
		checkpoint,
		insert("fay", 6),
		load(engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`),
		checkpoint, // a rewrite: most numbers are those of the dead
		insert("gus", 7),
		load(engine.Merge, manyPeople(10, 30)),
		mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, connect, engine.Args{str("gus"), str("p000011"), str("k2")}, engine.WriteOptions{})
		}),
		func(g *Graph) error { // at a commit of the past
			commits, err := g.Commits(ctx, "", engine.CommitRange{Before: 4, Limit: 1})
			if err == nil {
				_, err = g.CreateBranch(ctx, "side", engine.Target{Commit: commits[0].ID})
			}
			return err
		},
		mutate(func(g *Graph) (engine.Change, error) {
			return g.Mutate(ctx, insertPerson, engine.Args{str("ida"), num(9)}, engine.WriteOptions{Branch: "side"})
		}),
		func(g *Graph) error { _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{}); return err },
		cleanup(engine.CleanupOptions{KeepCommits: 5}),
		insert("hal", 8),
		load(engine.Merge, manyPeople(30, 30)),
		func(g *Graph) error { return g.DeleteBranch(ctx, "side") },
		cleanup(engine.CleanupOptions{KeepCommits: 2}),
		insert("ivy", 9),
		cleanup(engine.CleanupOptions{}),
		insert("jon", 10),
	}
}

// cleanup is a step that reclaims history.
func cleanup(opts engine.CleanupOptions) func(g *Graph) error {
	return func(g *Graph) error { _, err := g.Cleanup(context.Background(), opts); return err }
}

// reclaiming is the number of steps before the first cleanup.
var reclaiming = func() int { return len(history()) - 8 }()

var crashOptions = Options{LogSize: 8192, InlineBytes: 700, quiet: true, sparse: 8}

// TestCrash cuts the power at every durable operation of the history. What was
// acknowledged is there, and the step under way is there whole or not at all.
func TestCrash(t *testing.T) {
	ctx := context.Background()
	states := []string{}
	bySeq := map[uint64]string{}
	mem := fs.NewMem()
	g, err := Create(ctx, mem, dir, "// people", people(), crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	states = append(states, dump(g.main.head.Load().snap))
	bySeq[1] = states[0]
	for i, step := range history() {
		if err := step(g); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		states = append(states, dump(g.main.head.Load().snap))
		bySeq[g.main.head.Load().snap.Commit.Seq] = states[len(states)-1]
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if n := g.main.head.Load().snap.Nodes(0).Ordinals(); n > 60 {
		t.Errorf("%d numbers are given out: nothing was rewritten", n)
	}
	ops := mem.Ops()
	t.Logf("%d durable operations", ops)
	for n := 0; n < ops; n++ {
		if testing.Short() && n%5 != 0 {
			continue
		}
		mem := fs.NewMem()
		mem.CrashAfter(n)
		acked := -1 // the graph is made
		if g, err := Create(ctx, mem, dir, "// people", people(), crashOptions); err == nil {
			acked = 0
			for _, step := range history() {
				if step(g) != nil {
					break
				}
				acked++
			}
			g.Close()
		}
		for seed := range uint64(3) {
			checkCrash(t, mem.Crash(seed), states, bySeq, acked, fmt.Sprintf("crash at operation %d, seed %d", n, seed))
		}
	}
}

func checkCrash(t *testing.T, fsys *fs.Mem, states []string, bySeq map[uint64]string, acked int, what string) {
	t.Helper()
	ctx := context.Background()
	g, err := Open(ctx, fsys, dir, crashOptions)
	var missing *engine.NotFound
	if acked < 0 && errors.As(err, &missing) {
		return
	}
	if err != nil {
		t.Fatalf("%s, after step %d: %v", what, acked, err)
	}
	got := dump(g.main.head.Load().snap)
	if (acked < 0 || got != states[acked]) && (acked+1 >= len(states) || got != states[acked+1]) {
		t.Fatalf("%s: after step %d the graph is\n%s\nwant\n%s\nor the state after the next step", what, acked, got, states[max(acked, 0)])
	}
	// So is each commit before, unless a cleanup has reclaimed it.
	for c := g.main.head.Load().snap.Commit; len(c.Parents) > 0; {
		c, _, _ = g.history.Get(c.Parents[0])
		s, err := g.snapshot(ctx, engine.Target{Commit: c.ID})
		switch {
		case errors.As(err, &missing) && missing.What == notKept && acked >= reclaiming:
		case err != nil:
			t.Fatalf("%s: commit %d: %v", what, c.Seq, err)
		case dump(s) != bySeq[c.Seq]:
			t.Fatalf("%s: at commit %d the graph is\n%s\nwant\n%s", what, c.Seq, dump(s), bySeq[c.Seq])
		}
	}
	// It goes on from there.
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("zoe"), num(1)}, engine.WriteOptions{}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := g.checkpoint(ctx); err != nil {
		t.Fatalf("%s: checkpoint: %v", what, err)
	}
	want := dump(g.main.head.Load().snap)
	if err := g.Close(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	g, err = Open(ctx, fsys, dir, crashOptions)
	if err != nil {
		t.Fatalf("%s: open again: %v", what, err)
	}
	defer g.Close()
	if err := g.Verify(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := dump(g.main.head.Load().snap); got != want {
		t.Fatalf("%s: opened again the graph is\n%s\nwant\n%s", what, got, want)
	}
}

// TestFailedSync makes syncs fail: the writer is told that the outcome is unknown, later
// ones that the graph is unavailable, and readers keep what was durable.
func TestFailedSync(t *testing.T) {
	ctx := context.Background()
	failing := false
	fsys := fs.NewFaulty(fs.NewMem(), func(op fs.Op) *fs.Fault {
		if failing && op.Kind == fs.OpSync {
			return &fs.Fault{Err: errors.New("the disk is gone")}
		}
		return nil
	})
	g := create(t, fsys, crashOptions)
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	before := dump(g.main.head.Load().snap)
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
	if after := dump(g.main.head.Load().snap); after != before {
		t.Errorf("readers see\n%s\nwant\n%s", after, before)
	}
}

// TestNoOpWaits makes a mutation that changes nothing of a commit which is not durable
// yet: its reply waits for that commit, and fails with it.
func TestNoOpWaits(t *testing.T) {
	ctx := context.Background()
	var failing atomic.Bool
	syncing, release := make(chan struct{}), make(chan struct{})
	fsys := fs.NewFaulty(fs.NewMem(), func(op fs.Op) *fs.Fault {
		if op.Kind == fs.OpSync && failing.CompareAndSwap(true, false) {
			close(syncing)
			<-release
			return &fs.Fault{Err: errors.New("the disk is gone")}
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
	time.Sleep(10 * time.Millisecond) // most likely it waits by now; the outcome is the same if not
	close(release)
	writers.Wait()
	if made == nil || repeated == nil {
		t.Errorf("the commit: %v; the one that changes nothing: %v; want errors", made, repeated)
	}
}
