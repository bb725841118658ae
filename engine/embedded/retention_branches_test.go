package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestRewriteSharedByBranches rewrites a table that branches share. Afterwards the branches must
// still share it, and merges must match entities by id. The receipts, the history and the past must
// stay.
func TestRewriteSharedByBranches(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, crashOptions)
	was := remembered{}
	receipt := engine.WriteOptions{IdempotencyKey: "once", Actor: "tester"}
	once, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, receipt)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		was.note(g)
	}
	must(loadText(g, engine.Merge, manyPeople(0, 60)))
	for i := range 50 {
		_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", i))}, engine.WriteOptions{})
		must(err)
	}
	for _, name := range []string{"one", "two"} {
		_, err := g.CreateBranch(ctx, name, engine.Target{})
		must(err)
	}
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(2)}, engine.WriteOptions{Branch: "two"})
	must(err)
	must(g.checkpoints.make(ctx))
	for name, b := range g.branches.byName {
		if n := b.tip.snap.Nodes(0).Ordinals(); n > 20 {
			t.Errorf("branch %s has assigned %d numbers for %d persons", name, n, b.tip.snap.Nodes(0).Live())
		}
	}
	if g.branches.main.tip.snap.Nodes(0) != g.branches.byName["one"].tip.snap.Nodes(0) {
		t.Error("main and the branch that has not changed share no table")
	}
	was.check(t, g, "after the rewrite", nil)
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("cat"), num(3)}, engine.WriteOptions{})
	must(err)
	res, err := g.Merge(ctx, "two", "main", engine.MergeOptions{})
	must(err)
	if res.Nodes != 1 || res.Outcome != engine.Merged {
		t.Errorf("the merge is %+v", res)
	}
	res, err = g.Merge(ctx, "main", "one", engine.MergeOptions{})
	must(err)
	if res.Nodes != 2 || res.Outcome != engine.FastForward {
		t.Errorf("the merge is %+v", res)
	}
	must(g.DeleteBranch(ctx, "two"))
	want := len(was)
	for _, reopen := range []bool{false, true} {
		if reopen {
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if g, err = Open(ctx, fsys, dir, crashOptions); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { g.Close() })
		}
		again, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, receipt)
		if err != nil || again.Commit == nil || again.Commit.ID != once.Commit.ID {
			t.Errorf("the repeated call returns %+v, %v", again, err)
		}
		must(g.checkpoints.make(ctx))
		was.check(t, g, "at last", nil)
	}
	if len(was) != want {
		t.Errorf("%d commits, want %d", len(was), want)
	}
}

// TestLoadOnBranchMadeInDoubt makes a branch while it is unknown whether a rewrite's manifest is in
// force. Bulk loads on that branch must wait for the next checkpoint, too.
func TestLoadOnBranchMadeInDoubt(t *testing.T) {
	ctx := context.Background()
	failing := false
	mem := fs.NewMem()
	opts := Options{quiet: true, InlineBytes: 500, sparse: 8}
	g := thin(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if failing && op.Kind == faultfs.OpRename && strings.Contains(op.Name, "manifest") {
			return &faultfs.Fault{Err: errors.New("lost"), Apply: true}
		}
		return nil
	}), opts)
	failing = true
	if err := g.checkpoints.make(ctx); err == nil {
		t.Fatal("the manifest did not fail")
	}
	failing = false
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	load := func() error {
		_, err := g.Load(ctx, strings.NewReader(manyPeople(52, 20)), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "side"}})
		return err
	}
	wantError[*engine.Unavailable](t, "a load in doubt", load())
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("aaa"), num(1)}, engine.WriteOptions{Branch: "side"}); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		want := dumpAll(g)
		for seed := range uint64(4) {
			again, err := Open(ctx, mem.Crash(seed), dir, opts)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if got := dumpAll(again); got != want {
				t.Errorf("%s: after a reopen the graph is\n%s\nwant\n%s", when, got, want)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	check("in doubt")
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if err := load(); err != nil {
		t.Fatal(err)
	}
	check("afterwards")
}

// TestPastBesideEverything reads the past while branches are written to, forked at past
// commits, merged and deleted, and while checkpoints, rewrites and cleanups run.
func TestPastBesideEverything(t *testing.T) {
	const turns = 60
	ctx := context.Background()
	opts := Options{CheckpointBytes: 1, LogSize: 1 << 16, InlineBytes: 2048, sparse: 8, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }}
	g := create(t, fs.NewMem(), opts)
	allowed := func(err error) {
		var missing *engine.NotFound
		var conflicts *engine.MergeConflicts
		if err != nil && !errors.As(err, &missing) && !errors.As(err, &conflicts) {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			name := fmt.Sprint("w", w)
			for i := range turns {
				person := engine.Args{str(fmt.Sprint(name, i%7)), num(i)}
				_, err := g.Mutate(ctx, insertPerson, person, engine.WriteOptions{})
				allowed(err)
				_, err = g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprint(name, (i+1)%7))}, engine.WriteOptions{})
				allowed(err)
				commits, err := g.Commits(ctx, "", engine.CommitRange{Limit: 30})
				allowed(err)
				at := commits[(i*7+w)%len(commits)]
				branch := fmt.Sprint(name, "-", i)
				_, err = g.CreateBranch(ctx, branch, engine.Target{Commit: at.ID})
				if allowed(err); err != nil {
					continue
				}
				_, err = g.Mutate(ctx, insertPerson, engine.Args{str(branch), num(i)}, engine.WriteOptions{Branch: branch})
				allowed(err)
				_, err = g.Merge(ctx, branch, engine.MainBranch, engine.MergeOptions{})
				allowed(err)
				allowed(g.DeleteBranch(ctx, branch))
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for i := range 4 * turns {
				commits, err := g.Commits(ctx, "", engine.CommitRange{})
				allowed(err)
				c := commits[i*13%len(commits)]
				s, err := g.Snapshot(ctx, engine.Target{Commit: c.ID})
				if allowed(err); err == nil && s.Commit.ID != c.ID {
					t.Errorf("commit %s is read as %s", c.ID, s.Commit.ID)
				}
				_, err = g.Changes(ctx, c.ID, engine.ChangeRange{Limit: 5})
				allowed(err)
			}
		})
	}
	all.Go(func() {
		for range turns / 4 {
			_, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 20})
			allowed(err)
		}
	})
	all.Wait()
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if err := g.Verify(ctx); err != nil {
		t.Error(err)
	}
}
