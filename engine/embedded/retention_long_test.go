package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestLongPast reads commits of a history that is too long to be replayed from its beginning.
func TestLongPast(t *testing.T) {
	const commits = 3 * maxReplay
	ctx := context.Background()
	fsys := fs.NewMem()
	opts := Options{quiet: true}
	g := create(t, fsys, opts)
	ids := make([]string, commits)
	for i := range commits {
		c, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint("p", i%100)), num(i)}, engine.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = c.Head.ID
		if i == commits/2 {
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func(what string) {
		t.Helper()
		r := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			i := r.IntN(commits)
			if route, ok := g.restorer.route(ids[i]); !ok || len(route.commits) > anchorRecords {
				t.Fatalf("%s: commit %d is reached: %t, by %d records", what, i, ok, len(route.commits))
			}
			s, err := g.snapshot(ctx, engine.Target{Commit: ids[i]})
			if err != nil {
				t.Fatalf("%s: commit %d: %v", what, i, err)
			}
			if n := int(s.Nodes(0).Live()); n != min(i+1, 100) {
				t.Errorf("%s: at commit %d there are %d persons", what, i, n)
			}
			ord, ok := s.Nodes(0).Lookup(fmt.Sprint("p", i%100))
			if !ok || s.Nodes(0).Value(ord, 1).Int() != int64(i) {
				t.Errorf("%s: commit %d does not show", what, i)
			}
		}
	}
	read("in the log")
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	read("after a checkpoint")
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if g, err = Open(ctx, fsys, dir, opts); err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for id, a := range g.retention.anchors {
		if a.snap != nil {
			t.Errorf("anchor %s was read by Open", id)
		}
	}
	read("opened again")
	if n := len(g.restorer.states); n > keptStates {
		t.Errorf("%d states are kept", n)
	}
}

// TestPastShared makes many readers of one commit wait for the same state. Some of them stop
// waiting early.
func TestPastShared(t *testing.T) {
	ctx := context.Background()
	var slow atomic.Bool
	var opened atomic.Int64
	begun, release := make(chan struct{}), make(chan struct{})
	fsys := faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if slow.Load() && op.Kind == faultfs.OpMap && strings.HasSuffix(op.Name, ".seg") {
			if opened.Add(1) == 1 {
				close(begun)
				<-release
			}
		}
		return nil
	})
	g := create(t, fsys, crashOptions)
	first, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		// Each load makes an anchor.
		if err := loadText(g, engine.Merge, manyPeople(i*40, 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	slow.Store(true)
	away, leave := context.WithCancel(ctx)
	var readers sync.WaitGroup
	var gone error
	readers.Go(func() { _, gone = g.snapshot(away, engine.Target{Commit: first.Head.ID}) })
	<-begun
	for range 8 {
		readers.Go(func() {
			if s, err := g.snapshot(ctx, engine.Target{Commit: first.Head.ID}); err != nil || s.Nodes(0).Live() != 1 {
				t.Errorf("the commit has %v, %v", s, err)
			}
		})
	}
	for waiting := 0; waiting < 9; time.Sleep(time.Millisecond) {
		g.restorer.mu.Lock()
		waiting = g.restorer.pending[first.Head.ID].waiting
		g.restorer.mu.Unlock()
	}
	leave()
	for waiting := 9; waiting > 8; time.Sleep(time.Millisecond) {
		g.restorer.mu.Lock()
		waiting = g.restorer.pending[first.Head.ID].waiting
		g.restorer.mu.Unlock()
	}
	close(release)
	readers.Wait()
	if !errors.Is(gone, context.Canceled) {
		t.Errorf("the reader that stopped waiting has the error %v", gone)
	}
	before := opened.Load()
	if _, err := g.snapshot(ctx, engine.Target{Commit: first.Head.ID}); err != nil {
		t.Fatal(err)
	}
	if after := opened.Load(); after != before {
		t.Errorf("another read opens %d files", after-before)
	}
}

// TestPastCanceled checks that restoring a state stops when its only reader stops waiting.
func TestPastCanceled(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	first, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	away, leave := context.WithCancel(ctx)
	g.restorer.reading.Lock() // held as by a checkpoint
	done := make(chan error)
	go func() {
		_, err := g.snapshot(away, engine.Target{Commit: first.Head.ID})
		done <- err
	}()
	for flying := 0; flying == 0; time.Sleep(time.Millisecond) {
		g.restorer.mu.Lock()
		flying = len(g.restorer.pending)
		g.restorer.mu.Unlock()
	}
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	g.restorer.reading.Unlock()
	g.restorer.running.Wait()
	if n := len(g.restorer.pending) + len(g.restorer.states); n != 0 {
		t.Errorf("%d states are being restored or kept", n)
	}
	if s, err := g.snapshot(ctx, engine.Target{Commit: first.Head.ID}); err != nil || s.Nodes(0).Live() != 1 {
		t.Errorf("asked again: %v", err)
	}
}

// TestCleanupReclaims checks that a cleanup keeps no more files of a long history than of a short
// one.
func TestCleanupReclaims(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, crashOptions)
	for i := range 30 {
		if err := loadText(g, engine.Overwrite, manyPeople(i, 40)); err != nil {
			t.Fatal(err)
		}
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
	}
	dry, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 1, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	before := len(g.store.Sizes())
	done, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 1})
	if err != nil {
		t.Fatal(err)
	}
	after := len(g.store.Sizes())
	if after > 12 || int64(before-after) != done.Segments || done.Bytes <= 0 || done.Commits != 30 || done.Kept != 1 {
		t.Errorf("%d segments of %d are left after %+v", after, before, done)
	}
	if dry.Commits != done.Commits || dry.Segments < done.Segments || dry.Bytes < done.Bytes {
		t.Errorf("the dry run returned %+v, the cleanup %+v", dry, done)
	}
	if err := g.Verify(ctx); err != nil {
		t.Error(err)
	}
	again, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 1})
	if err != nil || again.Commits != 0 || again.Kept != 1 {
		t.Errorf("a second cleanup: %+v, %v", again, err)
	}
}

// TestDeletedBranchIsReclaimed checks that the checkpoint after the deletion of a branch frees
// the files that only the branch needed.
func TestDeletedBranchIsReclaimed(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	var lost string
	for i := range 5 {
		res, err := g.Load(ctx, strings.NewReader(manyPeople(i*40, 40)), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "side"}})
		if err != nil {
			t.Fatal(err)
		}
		lost = res.Head.ID
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
	}
	before := len(g.store.Sizes())
	if err := g.DeleteBranch(ctx, "side"); err != nil {
		t.Fatal(err)
	}
	_, err := g.Snapshot(ctx, engine.Target{Commit: lost})
	wantError[*engine.NotFound](t, "a commit of the branch", err)
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if after := len(g.store.Sizes()); after > 3 || after >= before {
		t.Errorf("%d segments of %d are left", after, before)
	}
}
