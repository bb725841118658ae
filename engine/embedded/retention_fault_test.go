package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestCleanupInDoubt loses the outcome of a cleanup's manifest. Until the next checkpoint, no
// branch may begin at a commit that the next Open may not have.
func TestCleanupInDoubt(t *testing.T) {
	ctx := context.Background()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprint("applied ", applied), func(t *testing.T) {
			failing := false
			mem := fs.NewMem()
			g := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
				if failing && op.Kind == faultfs.OpRename && strings.Contains(op.Name, "manifest") {
					return &faultfs.Fault{Err: errors.New("lost"), Apply: applied}
				}
				return nil
			}), crashOptions)
			var ids []string
			for i := range 5 {
				c, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(i)}, engine.WriteOptions{})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, c.Head.ID)
			}
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
			failing = true
			if _, err := g.Cleanup(ctx, engine.CleanupOptions{}); err == nil {
				t.Fatal("the manifest did not fail")
			}
			failing = false
			if _, err := g.Snapshot(ctx, engine.Target{Commit: ids[1]}); err != nil {
				t.Errorf("a read in doubt: %v", err)
			}
			_, err := g.CreateBranch(ctx, "side", engine.Target{Commit: ids[1]})
			wantError[*engine.Unavailable](t, "a branch in doubt", err)
			if _, err := g.CreateBranch(ctx, "tip", engine.Target{}); err != nil {
				t.Error(err)
			}
			lost := 0
			for seed := range uint64(8) {
				again, err := Open(ctx, mem.Crash(seed), dir, crashOptions)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = again.Snapshot(ctx, engine.Target{Commit: ids[1]}); err != nil {
					wantError[*engine.NotFound](t, "opened again", err)
					lost++
				}
				if err := again.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if (lost > 0) != applied {
				t.Errorf("after a reopen, the commit is lost %d times", lost)
			}
			if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := g.CreateBranch(ctx, "side", engine.Target{Commit: ids[1]}); err != nil {
				t.Errorf("a branch after the next checkpoint: %v", err)
			}
		})
	}
}

// TestFailedCleanup fails each operation of a cleanup in turn, as a full disk does.
func TestFailedCleanup(t *testing.T) {
	slow.Test(t)
	ctx := context.Background()
	for n, done := 1, false; !done; n++ {
		mem := fs.NewMem()
		var left atomic.Int64 // a rewrite builds its indexes on several goroutines
		left.Store(-1)
		g := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if left.Add(-1) == 0 {
				return &faultfs.Fault{Err: errors.New("no space left on device")}
			}
			return nil
		}), crashOptions)
		was := remembered{}
		for i, step := range history()[:reclaiming] {
			if err := step.do(g); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			was.note(g)
		}
		left.Store(int64(n))
		res, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 4})
		if done = left.Load() > 0; done && err != nil {
			t.Fatal(err)
		}
		left.Store(-1)
		what := fmt.Sprint("operation ", n)
		gone := map[string]bool{}
		if err == nil && res.Commits > 0 {
			gone = was.beyond(t, g, 4)
		}
		was.check(t, g, what, gone)
		if err := g.Verify(ctx); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 4}); err != nil {
			t.Fatalf("%s: the next cleanup: %v", what, err)
		}
		gone = was.beyond(t, g, 4)
		was.check(t, g, what+", after the next", gone)
		again, err := Open(ctx, mem.Crash(uint64(n)), dir, crashOptions)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		was.check(t, again, what+", opened again", gone)
		if err := errors.Join(again.Close(), g.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCorruptPast flips a byte in each segment of the archive and of anchors. Reads of the past
// must report the corruption and return no wrong data.
func TestCorruptPast(t *testing.T) {
	ctx := context.Background()
	home := filepath.Join(t.TempDir(), "graph")
	g, err := Create(ctx, fs.OS(), home, "// people", people(), crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	was := remembered{}
	was.note(g)
	for i, step := range history()[:reclaiming] {
		if err := step.do(g); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		was.note(g)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, a := range g.retention.archive {
		files[a.Name] = true
	}
	for _, a := range g.retention.anchors {
		files[a.Name] = true
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for file := range files {
		name := filepath.Join(home, fmt.Sprintf("%012s.seg", file))
		sound, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := append([]byte(nil), sound...)
		bad[64] ^= 1 // first byte of the first block
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err = Open(ctx, fs.OS(), home, crashOptions); err != nil {
			t.Fatal(err)
		}
		found := 0
		for id, want := range was {
			s, err := g.snapshot(ctx, engine.Target{Commit: id})
			var corrupt *engine.Corrupt
			switch {
			case errors.As(err, &corrupt) && strings.Contains(corrupt.Object, filepath.Base(name)):
				found++
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			case dump(s) != want:
				t.Errorf("%s: commit %s is served as another", name, id)
			}
		}
		if err := g.Close(); err != nil || found == 0 {
			t.Errorf("%s: found %d times, %v", name, found, err)
		}
		if err := os.WriteFile(name, sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
