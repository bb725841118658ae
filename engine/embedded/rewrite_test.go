package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestChurn inserts, updates and deletes the same few persons repeatedly. The size of the graph
// must stay in proportion to its live entities, and a reader that began earlier must still see the
// original data.
func TestChurn(t *testing.T) {
	const floor, turns = 200, 3000
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{CheckpointBytes: 8 << 10, LogSize: 1 << 16, sparse: floor, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }})
	if err := loadText(g, engine.Merge, manyPeople(0, 50)); err != nil {
		t.Fatal(err)
	}
	early, err := g.Query(ctx, allPeople, nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	mutate := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range turns {
		_, err := g.Mutate(ctx, insertPerson, engine.Args{str("churn"), num(1000 + i)}, engine.WriteOptions{})
		mutate(err)
		_, err = g.Mutate(ctx, connect, engine.Args{str("churn"), str("p000001"), str("k")}, engine.WriteOptions{})
		mutate(err)
		_, err = g.Mutate(ctx, birthday, engine.Args{num(2000 + i), num(1000 + i)}, engine.WriteOptions{})
		mutate(err)
		_, err = g.Mutate(ctx, deletePerson, engine.Args{str("churn")}, engine.WriteOptions{})
		mutate(err)
	}
	// A rewrite begins at the floor of holes, and more holes arise while it runs.
	const most = 4 * (floor + 1000)
	snap := g.branches.main.head.Load().snap
	for _, table := range snap.Tables() {
		if n := table.Ordinals(); n > most {
			t.Errorf("%s has assigned %d numbers for %d entities", table.Type.Name, n, table.Live())
		}
	}
	if n, err := drain(ctx, early); n != 50 || err != nil {
		t.Errorf("the early reader has %d rows, error %v", n, err)
	}
	want := dump(snap)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, fsys, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := dump(again.branches.main.head.Load().snap); got != want {
		t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
	}
}

// TestRewriteBesideWriters rewrites continuously while writers, loads and readers run.
func TestRewriteBesideWriters(t *testing.T) {
	const writers, each = 8, 150
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{CheckpointBytes: 1, LogSize: 1 << 16, InlineBytes: 2048, sparse: 1, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }})
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			name := fmt.Sprint("w", w)
			for i := range each {
				_, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), num(i)}, engine.WriteOptions{})
				if err == nil {
					_, err = g.Mutate(ctx, connect, engine.Args{str(name), str(name), str(name)}, engine.WriteOptions{})
				}
				if err == nil && i%50 == w {
					err = loadText(g, engine.Merge, manyPeople(w*10, 20))
				}
				if err == nil && i < each-1 {
					_, err = g.Mutate(ctx, deletePerson, engine.Args{str(name)}, engine.WriteOptions{})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var stop atomic.Bool
	reading.Go(func() {
		for !stop.Load() {
			r, err := g.Query(ctx, walkFrom(1), engine.Args{str("w3")}, engine.Target{})
			if err != nil {
				t.Error(err)
				return
			}
			if n, err := drain(ctx, r); n > 1 || err != nil {
				t.Errorf("a person knows itself %d times, error %v", n, err)
			}
		}
	})
	writing.Wait()
	stop.Store(true)
	reading.Wait()
	want := dump(g.branches.main.head.Load().snap)
	if n := strings.Count(want, "Knows w"); n != writers {
		t.Errorf("%d edges of writers, want %d", n, writers)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, fsys, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := dump(again.branches.main.head.Load().snap); got != want {
		t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
	}
	if err := again.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// thin makes a graph and deletes most of its entities.
func thin(t *testing.T, fsys fs.FS, opts Options) *Graph {
	t.Helper()
	g := create(t, fsys, opts)
	ctx := context.Background()
	for _, err := range []error{loadText(g, engine.Merge, manyPeople(0, 60)), g.checkpoints.make(ctx)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		if _, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", i))}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// TestCommitsDuringRewrite makes commits while a rewrite stores its segments. The rewrite must
// include small commits. It must give up because of a load with entity numbers in its record.
func TestCommitsDuringRewrite(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		commit    func(g *Graph) error
		rewritten bool
	}{
		{"insert", func(g *Graph) error {
			_, err := g.Mutate(ctx, insertPerson, engine.Args{str("aaa"), num(1)}, engine.WriteOptions{})
			return err
		}, true},
		{"edge", func(g *Graph) error {
			_, err := g.Mutate(ctx, connect, engine.Args{str("p000050"), str("p000055"), str("k")}, engine.WriteOptions{})
			return err
		}, true},
		{"delete", func(g *Graph) error {
			_, err := g.Mutate(ctx, deletePerson, engine.Args{str("p000052")}, engine.WriteOptions{})
			return err
		}, true},
		{"load", func(g *Graph) error { return loadText(g, engine.Merge, manyPeople(52, 20)) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var during func()
			fsys := fs.NewMem()
			opts := Options{quiet: true, InlineBytes: 500, sparse: 8}
			g := thin(t, faultfs.New(fsys, func(op faultfs.Op) *faultfs.Fault {
				if f := during; f != nil && op.Kind == faultfs.OpCreate && strings.Contains(op.Name, ".seg") {
					during = nil
					f()
				}
				return nil
			}), opts)
			before := g.branches.main.head.Load().snap.Nodes(0).Ordinals()
			during = func() {
				if err := c.commit(g); err != nil {
					t.Error(err)
				}
			}
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
			if during != nil {
				t.Fatal("there was no rewrite")
			}
			want := dump(g.branches.main.head.Load().snap)
			if got := g.branches.main.head.Load().snap.Nodes(0).Ordinals() < before; got != c.rewritten {
				t.Errorf("rewritten: %v, want %v", got, c.rewritten)
			}
			// Later commits build on the rewrite and use its numbers.
			if err := loadText(g, engine.Merge, manyPeople(100, 20)); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(want, strings.SplitN(dump(g.branches.main.head.Load().snap), "\n", 2)[0]) {
				t.Error("a load after the rewrite changed existing data")
			}
			want = dump(g.branches.main.head.Load().snap)
			if err := g.store.Close(); err != nil { // leaves the files as a kill does
				t.Fatal(err)
			}
			again, err := Open(ctx, fsys, dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if got := dump(again.branches.main.head.Load().snap); got != want {
				t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestDoubtfulManifest loses the reply to the write of a rewrite's manifest. Until the next
// checkpoint, no record may rely on the old or the new numbering, because Open may find either.
func TestDoubtfulManifest(t *testing.T) {
	ctx := context.Background()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprint("applied ", applied), func(t *testing.T) {
			failing := false
			mem := fs.NewMem()
			opts := Options{quiet: true, InlineBytes: 500, sparse: 8}
			g := thin(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
				if failing && op.Kind == faultfs.OpRename && strings.Contains(op.Name, "manifest") {
					return &faultfs.Fault{Err: errors.New("lost"), Apply: applied}
				}
				return nil
			}), opts)
			failing = true
			if err := g.checkpoints.make(ctx); err == nil {
				t.Fatal("the manifest did not fail")
			}
			if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("aaa"), num(1)}, engine.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			var unavailable *engine.Unavailable
			if err := loadText(g, engine.Merge, manyPeople(52, 20)); !errors.As(err, &unavailable) {
				t.Errorf("a load in doubt: %v, want a *engine.Unavailable", err)
			}
			want := dump(g.branches.main.head.Load().snap)
			copied := mem.Crash(1)
			again, err := Open(ctx, copied, dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := dump(again.branches.main.head.Load().snap); got != want {
				t.Errorf("after a reopen with an unknown outcome the graph is\n%s\nwant\n%s", got, want)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("resolved", func(t *testing.T) {
		failing := false
		mem := fs.NewMem()
		opts := Options{quiet: true, InlineBytes: 500, sparse: 8}
		g := thin(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if failing && op.Kind == faultfs.OpRename && strings.Contains(op.Name, "manifest") {
				failing = false
				return &faultfs.Fault{Err: errors.New("lost"), Apply: true}
			}
			return nil
		}), opts)
		failing = true
		if err := g.checkpoints.make(ctx); err == nil {
			t.Fatal("the manifest did not fail")
		}
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
		if err := loadText(g, engine.Merge, manyPeople(52, 20)); err != nil {
			t.Fatal(err)
		}
		want := dump(g.branches.main.head.Load().snap)
		again, err := Open(ctx, mem.Crash(1), dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if got := dump(again.branches.main.head.Load().snap); got != want {
			t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
		}
	})
}

// TestFailedCheckpoint fails each operation of a checkpoint and of a rewrite in turn, as a full
// disk does. The graph must continue, and the next checkpoint must store everything. An Open before
// or after that checkpoint must find the acknowledged data.
func TestFailedCheckpoint(t *testing.T) {
	ctx := context.Background()
	for _, sparse := range []uint32{8, 1 << 20} {
		opts := Options{quiet: true, InlineBytes: 500, LogSize: 8192, sparse: sparse}
		for n, done := 1, false; !done; n++ {
			mem := fs.NewMem()
			left := -1
			g := thin(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
				if left--; left == 0 {
					return &faultfs.Fault{Err: errors.New("no space left on device")}
				}
				return nil
			}), opts)
			what := fmt.Sprintf("sparse %d, operation %d", sparse, n)
			left = n
			if err := g.checkpoints.make(ctx); err == nil && left > 0 {
				done = true
			}
			left = -1
			check := func(when string) {
				t.Helper()
				want := dump(g.branches.main.head.Load().snap)
				again, err := Open(ctx, mem.Crash(uint64(n)), dir, opts)
				if err != nil {
					t.Fatalf("%s, %s: %v", what, when, err)
				}
				defer again.Close()
				if got := dump(again.branches.main.head.Load().snap); got != want {
					t.Fatalf("%s, %s: after a reopen the graph is\n%s\nwant\n%s", what, when, got, want)
				}
			}
			if _, err := g.Mutate(ctx, connect, engine.Args{str("p000055"), str("p000051"), str("k")}, engine.WriteOptions{}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			check("after the failure")
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatalf("%s: the next checkpoint: %v", what, err)
			}
			if err := loadText(g, engine.Merge, manyPeople(54, 20)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			check("after the next checkpoint")
			if err := g.store.Verify(ctx); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if err := g.Close(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}
