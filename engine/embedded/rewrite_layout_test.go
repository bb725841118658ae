package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// unordered makes a graph like thin, in which the ids do not ascend with the entity numbers, and in
// which the rows of some entities are in later segments.
func unordered(t *testing.T, fsys fs.FS, opts Options) *Graph {
	t.Helper()
	g := thin(t, fsys, opts)
	for i := 55; i > 50; i-- {
		_, err := g.Mutate(t.Context(), birthday, engine.Args{num(200 + i), num(i)}, engine.WriteOptions{})
		must(t, err)
		_, err = g.Mutate(t.Context(), insertPerson, engine.Args{str(fmt.Sprint("a", i)), num(i)}, engine.WriteOptions{})
		must(t, err)
		_, err = g.Mutate(t.Context(), connect, engine.Args{str(fmt.Sprint("a", i)), str("p000052"), str(fmt.Sprint("a", i))}, engine.WriteOptions{})
		must(t, err)
	}
	return g
}

// TestBranchCallsDuringRewrite calls a method that changes the branches or a schema while a rewrite
// stores its segments. The call must not wait for the rewrite. The rewrite is discarded, and leaves
// no files. The next rewrite must succeed, although such a call begins again.
func TestBranchCallsDuringRewrite(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name string
		call func(g *Graph) error
	}{
		{"create", forking("new", "").do},
		{"create from the past", func(g *Graph) error {
			commits, err := g.Commits(ctx, "", engine.CommitRange{Limit: 5})
			if err == nil {
				_, err = g.CreateBranch(ctx, "new", engine.Target{Commit: commits[4].ID})
			}
			return err
		}},
		{"delete", dropping("side").do},
		{"merge", merging("side", "main", engine.MergeOptions{}).do},
		{"merge into a branch", merging("main", "side", engine.MergeOptions{}).do},
		{"schema", func(g *Graph) error {
			s := people()
			s.Nodes[1].Properties = append(s.Nodes[1].Properties, s.Nodes[0].Properties[1])
			s.Index()
			_, err := g.ApplySchema(ctx, "// more", s, engine.SchemaOptions{})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var during func()
			mem := fs.NewMem()
			opts := crashOptions
			g := unordered(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
				if f := during; f != nil && op.Kind == faultfs.OpCreate && strings.Contains(op.Name, ".seg") {
					during = nil
					f()
				}
				return nil
			}), opts)
			_, err := g.CreateBranch(ctx, "side", engine.Target{})
			must(t, err)
			must(t, insert("side", "sid", 1).do(g))
			before := g.branches.main.tip.snap.Nodes(0).Ordinals()
			stored := 0
			during = func() {
				if err := c.call(g); err != nil {
					t.Error(err)
				}
				stored = len(g.store.Sizes()) // a call may store segments too
				must(t, insert("", "later", 1).do(g))
			}
			g.checkpoints.mu.Lock()
			done, err := g.checkpoints.rewriteLocked(ctx)
			g.checkpoints.mu.Unlock()
			if during != nil || done || err != nil {
				t.Fatalf("called: %v; rewritten: %v, error %v; want a call and no rewrite", during == nil, done, err)
			}
			if n := len(g.store.Sizes()); n != stored {
				t.Errorf("the discarded rewrite left %d segments", n-stored)
			}
			if n := g.branches.main.tip.snap.Nodes(0).Ordinals(); n < before {
				t.Errorf("%d numbers are assigned, fewer than the %d before the rewrite", n, before)
			}
			var waiting sync.WaitGroup
			during = func() {
				waiting.Go(func() {
					if err := forking("waits", "").do(g); err != nil {
						t.Error(err)
					}
				})
				must(t, insert("", "last", 1).do(g))
			}
			must(t, g.checkpoints.make(ctx))
			waiting.Wait()
			if n := g.branches.main.tip.snap.Nodes(0).Ordinals(); n >= before {
				t.Errorf("%d numbers are assigned, not fewer than the %d before: nothing was rewritten", n, before)
			}
			must(t, loadText(g, engine.Merge, manyPeople(40, 30)))
			want := dumpAll(g)
			again, err := Open(ctx, mem.Crash(1), dir, opts)
			must(t, err)
			defer again.Close()
			if got := dumpAll(again); got != want {
				t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
			}
			must(t, again.Verify(ctx))
		})
	}
}

// TestRewriteLeavesNoFiles lets each creation, write, sync and renaming of a segment fail during a
// rewrite, as on a full disk. Then it cuts the power at each durable operation of the rewrite. No file
// may be left that the graph does not know, and no temporary file.
func TestRewriteLeavesNoFiles(t *testing.T) {
	ctx := context.Background()
	known := func(t *testing.T, what string, g *Graph, mem *fs.Mem) {
		t.Helper()
		files, err := mem.List(dir)
		must(t, err)
		segments := 0
		for _, f := range files {
			if strings.HasSuffix(f, ".tmp") && !strings.HasSuffix(f, ".log.tmp") { // the log may be making its next file
				t.Errorf("%s: the temporary file %s is left", what, f)
			}
			if strings.HasSuffix(f, ".seg") {
				segments++
			}
		}
		if n := len(g.store.Sizes()); segments != n {
			t.Errorf("%s: there are %d segments, but the graph knows %d: %v", what, segments, n, files)
		}
	}
	kinds := []faultfs.OpKind{faultfs.OpCreate, faultfs.OpWrite, faultfs.OpSync, faultfs.OpRename}
	for n, reached := 1, true; reached; n++ {
		var mu sync.Mutex
		left, armed := n, false
		mem := fs.NewMem()
		g := unordered(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			mu.Lock()
			defer mu.Unlock()
			if !armed || !strings.Contains(op.Name, ".seg") || !slices.Contains(kinds, op.Kind) {
				return nil
			}
			if left--; left == 0 {
				return &faultfs.Fault{Err: syscall.ENOSPC}
			}
			return nil
		}), crashOptions)
		stored := len(g.store.Sizes())
		mu.Lock()
		armed = true
		mu.Unlock()
		err := g.checkpoints.make(ctx)
		mu.Lock()
		reached, armed = left <= 0, false
		mu.Unlock()
		what := fmt.Sprint("fault ", n)
		if reached != (err != nil) || reached && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%s reached: %v; error %v", what, reached, err)
		}
		if got := len(g.store.Sizes()); reached && got != stored {
			t.Errorf("%s: %d segments, want %d as before", what, got, stored)
		}
		known(t, what, g, mem)
		must(t, g.Close())
	}
	// The counts of operations differ a little from run to run, because indexes are built in parallel.
	for n := 0; ; n++ {
		mem := fs.NewMem()
		g := unordered(t, mem, crashOptions)
		want := dumpAll(g)
		mem.CrashAfter(n)
		done := g.checkpoints.make(ctx) == nil
		after := mem.Crash(uint64(n))
		what := fmt.Sprintf("crash at operation %d", n)
		again, err := Open(ctx, after, dir, crashOptions)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := dumpAll(again); got != want {
			t.Fatalf("%s: after a reopen the graph is\n%s\nwant\n%s", what, got, want)
		}
		must(t, insert("", "next", 1).do(again))
		must(t, again.checkpoints.make(ctx))
		known(t, what, again, after)
		must(t, again.Verify(ctx))
		must(t, again.Close())
		if done {
			if n < 20 {
				t.Errorf("a rewrite has only %d durable operations", n)
			}
			return
		}
	}
}
