package embedded

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// baseOf returns the state of the merge base of two branches.
func baseOf(g *Graph, a, b string) (*version.Snapshot, error) {
	one, err := g.branches.find(a)
	if err != nil {
		return nil, err
	}
	other, err := g.branches.find(b)
	if err != nil {
		return nil, err
	}
	g.layout.RLock() // a checkpoint in the background replaces tips
	tips := [2]*version.Snapshot{one.tip.snap, other.tip.snap}
	g.layout.RUnlock()
	return g.restorer.mergeBase(context.Background(), tips[0], tips[1])
}

// dumpGraph writes, for every branch, its entities, its commits by number, the numbers of its
// common ancestors with the other branches, and its receipts. No call may run at the same time.
func dumpGraph(g *Graph) (string, error) {
	ctx := context.Background()
	var b strings.Builder
	branches, err := g.Branches(ctx)
	if err != nil {
		return "", err
	}
	for _, br := range branches {
		commits, err := g.Commits(ctx, br.Name, engine.CommitRange{})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "branch %s:", br.Name)
		for _, c := range commits {
			fmt.Fprintf(&b, " %d/%s/%d", c.Seq, c.Branch, len(c.Parents))
		}
		for _, other := range branches {
			if other.Name > br.Name {
				base, err := baseOf(g, br.Name, other.Name)
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&b, " | with %s %d", other.Name, base.Commit.Seq)
			}
		}
		line, err := g.branches.find(br.Name)
		if err != nil {
			return "", err
		}
		var keys []string
		for _, x := range line.keys.Current(&g.history, time.Time{}) {
			r := x.Unpack(&g.history)
			keys = append(keys, fmt.Sprintf("%s/%s=%d", r.Commit.Actor, r.Receipt.Key, r.Commit.Seq))
		}
		slices.Sort(keys)
		fmt.Fprintf(&b, " | keys %s", strings.Join(keys, " "))
		fmt.Fprintf(&b, "\n%s\n", dump(line.head.Load().snap))
	}
	return b.String(), nil
}

// dumpAll returns the result of dumpGraph, or the text of its error.
func dumpAll(g *Graph) string {
	s, err := dumpGraph(g)
	if err != nil {
		return err.Error()
	}
	return s
}

// TestBranchesConcurrently runs a writer on each of many branches, concurrently with forks,
// merges into main and checkpoints.
func TestBranchesConcurrently(t *testing.T) {
	const lines, each = 24, 25
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{Now: testClock, LogSize: 1 << 16, CheckpointBytes: 4096, InlineBytes: 2048, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }})
	if err := loadText(g, engine.Merge, manyPeople(0, 300)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range lines {
		wg.Go(func() {
			name := fmt.Sprintf("line-%02d", w)
			if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				opts := engine.WriteOptions{Branch: name, IdempotencyKey: fmt.Sprint("key", i)}
				c, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("%s-%03d", name, i)), num(i)}, opts)
				if err != nil {
					t.Error(err)
					return
				}
				if again, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("%s-%03d", name, i)), num(i)}, opts); err != nil || again.Commit == nil || again.Commit.ID != c.Commit.ID {
					t.Errorf("repeated: %+v, %v", again.Commit, err)
				}
				if i%8 == 7 {
					if _, err := g.Merge(ctx, name, "main", engine.MergeOptions{}); err != nil {
						t.Error(err)
					}
				}
				if i == each/2 {
					if _, err := g.CreateBranch(ctx, name+"/sub", engine.Target{Branch: name}); err != nil {
						t.Error(err)
					}
					if w%2 == 0 {
						if err := g.DeleteBranch(ctx, name+"/sub"); err != nil {
							t.Error(err)
						}
					}
				}
			}
			if _, err := g.Merge(ctx, name, "main", engine.MergeOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	snap, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if n := snap.Nodes[0].Count; n != 300+lines*each {
		t.Errorf("main has %d persons, want %d", n, 300+lines*each)
	}
	want := dumpAll(g)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, fsys, dir, Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := dumpAll(again); got != want {
		t.Errorf("after a reopen the graph has %d bytes of dump, want %d", len(got), len(want))
	}
}

// TestBranchShares checks that branches of a graph need no rows in memory and no rows in the store
// for the data that they share.
func TestBranchShares(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 3000)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	logged := g.checkpoints.logged.Load()
	for i := range 10 {
		if _, err := g.CreateBranch(ctx, fmt.Sprint("b", i), engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.checkpoints.logged.Load() - logged; n > 10*64 {
		t.Errorf("ten branches take %d bytes of log", n)
	}
	tables := func(g *Graph) int {
		distinct := map[*version.Table]bool{}
		for _, b := range g.branches.byName {
			for _, table := range b.head.Load().snap.Tables() {
				distinct[table] = true
			}
		}
		return len(distinct)
	}
	if n := tables(g); n != 4 {
		t.Errorf("eleven branches have %d tables, want 4", n)
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{Branch: "b3"}); err != nil {
		t.Fatal(err)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if n := tables(g); n != 5 {
		t.Errorf("after a write on one of eleven branches and a checkpoint there are %d tables, want 5", n)
	}
	want := dumpAll(g)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, fsys, dir, Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := tables(again); n != 5 {
		t.Errorf("after a reopen there are %d tables, want 5", n)
	}
	if got := dumpAll(again); got != want {
		t.Error("after a reopen the graph is different")
	}
}

// TestReceipts repeats calls with their idempotency keys, after restarts and after a day.
func TestReceipts(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	opts := Options{quiet: true, Now: func() time.Time { return now }}
	g := create(t, fsys, opts)
	key := engine.WriteOptions{IdempotencyKey: "k", Actor: "ann"}
	insert := func(name string) (engine.Change, error) {
		return g.Mutate(ctx, insertPerson, engine.Args{str(name), num(1)}, key)
	}
	first, err := insert("ann")
	if err != nil {
		t.Fatal(err)
	}
	reopen := func(checkpoint bool) {
		t.Helper()
		if checkpoint {
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if g, err = Open(ctx, fsys, dir, opts); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { g.Close() }()
	for _, c := range []struct {
		checkpoint bool
		after      time.Duration
		repeated   bool
	}{{false, 0, true}, {true, 12 * time.Hour, true}, {false, 24*time.Hour - 1, true}, {true, 24 * time.Hour, false}} {
		now = first.Commit.Time.Add(c.after)
		reopen(c.checkpoint)
		again, err := insert("ann")
		if err != nil {
			t.Fatal(err)
		}
		// A call whose receipt has expired runs again and finds nothing to change.
		if got := again.Commit != nil && again.Commit.ID == first.Commit.ID; got != c.repeated || again.Nodes != 1 {
			t.Errorf("after %s: %+v; repeated %t, want %t", c.after, again, got, c.repeated)
		}
		_, err = insert("bob")
		if conflict := (*engine.Conflict)(nil); errors.As(err, &conflict) != c.repeated {
			t.Errorf("after %s, another body: %v", c.after, err)
		}
	}
}

// TestIDsAscend sets the clock back between commits and before a restart. Ids must still
// ascend.
func TestIDsAscend(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	opts := Options{quiet: true, Now: func() time.Time { return now }}
	g := create(t, fsys, opts)
	var ids []string
	for i := range 6 {
		c, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(i)}, engine.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.Commit.ID)
		now = now.Add(-time.Hour)
		if i == 2 {
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if g, err = Open(ctx, fsys, dir, opts); err != nil {
				t.Fatal(err)
			}
			defer g.Close()
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids %s", ids)
	}
}

// toReaders removes from a dump the parts that only writers see: the common ancestors, and the
// receipts up to the last record, durable or not.
func toReaders(dump string) string {
	return writersOnly.ReplaceAllString(dump, "")
}

var writersOnly = regexp.MustCompile(` \| (with|keys) .*`)

// TestBranchFailedSync fails the sync of each kind of branch record. The outcome must be unknown,
// no reader may see the change, and the durable data must stay readable.
func TestBranchFailedSync(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		step func(g *Graph) error
	}{
		{"create", func(g *Graph) error { _, err := g.CreateBranch(ctx, "new", engine.Target{}); return err }},
		{"delete", func(g *Graph) error { return g.DeleteBranch(ctx, "side") }},
		{"merge", func(g *Graph) error { _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{}); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			failing := false
			fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
				if failing && op.Kind == faultfs.OpSync {
					return &faultfs.Fault{Err: errors.New("the disk is gone")}
				}
				return nil
			})
			g := create(t, fsys, crashOptions)
			if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{Branch: "side"}); err != nil {
				t.Fatal(err)
			}
			before := toReaders(dumpAll(g))
			failing = true
			if err, lost := c.step(g), (*engine.Indeterminate)(nil); !errors.As(err, &lost) {
				t.Errorf("%v, want *engine.Indeterminate", err)
			}
			failing = false
			if after := toReaders(dumpAll(g)); after != before {
				t.Errorf("readers see\n%s\nwant\n%s", after, before)
			}
			for _, again := range []func() error{
				func() error { _, err := g.CreateBranch(ctx, "other", engine.Target{}); return err },
				func() error {
					_, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{Branch: "side"})
					return err
				},
			} {
				if err, gone := again(), (*engine.Unavailable)(nil); !errors.As(err, &gone) {
					t.Errorf("a write after that: %v, want *engine.Unavailable", err)
				}
			}
		})
	}
}
