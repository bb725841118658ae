package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// viewDir opens the graph in the folder `dir` of a file system for reading.
func viewDir(t testing.TB, fsys fs.FS) *View {
	t.Helper()
	v, err := ViewDir(context.Background(), fsys, dir, crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// viewShared opens a graph in shared storage for reading.
func viewShared(t testing.TB, at SharedPlace) *View {
	t.Helper()
	v, err := ViewShared(context.Background(), at, crashOptions)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// copied returns copies of a View in a new folder and in a new bucket, and checks them. It closes the
// View. `again` opens the two copies once more after they were closed.
func copied(t testing.TB, v *View, commit string) (folder, shared *Graph, again func() []*Graph) {
	t.Helper()
	ctx := context.Background()
	fsys, bucket := fs.NewMem(), &object.Memory{}
	folder, err := v.CopyToDir(ctx, fsys, dir, crashOptions, commit)
	if err != nil {
		t.Fatal(err)
	}
	shared, err = v.CopyToShared(ctx, placeIn(bucket), crashOptions, commit)
	if err != nil {
		t.Fatal(err)
	}
	for what, g := range map[string]*Graph{"folder": folder, "bucket": shared} {
		if err := v.Check(ctx, g, commit); err != nil {
			t.Fatalf("the copy in a %s: %v", what, err)
		}
	}
	return folder, shared, func() []*Graph {
		if err := errors.Join(folder.Close(), shared.Close(), v.Close()); err != nil {
			t.Fatal(err)
		}
		g, err := Open(ctx, fsys, dir, crashOptions)
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenShared(ctx, placeIn(bucket), crashOptions)
		if err != nil {
			t.Fatal(err)
		}
		return []*Graph{g, s}
	}
}

// TestCopyScripts copies the graph of each script after each of its calls, while it stays open: from a
// folder to a folder and to shared storage, and from shared storage to both. Each copy must equal its
// source, also after it was opened again, and it must accept all kinds of writes.
func TestCopyScripts(t *testing.T) {
	for _, s := range scripts() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			fsys, bucket := fs.NewMem(), &object.Memory{}
			g := create(t, fsys, crashOptions)
			leader := createShared(t, placeIn(bucket), crashOptions)
			for i, d := range s.deeds {
				if err := errors.Join(d.do(g), d.do(leader)); err != nil {
					t.Fatalf("deed %d, %s: %v", i+1, d.call, err)
				}
				if testing.Short() && i%5 != 4 || raced && i%7 != 6 {
					continue
				}
				want := s.dump(g)
				for from, v := range map[string]*View{"a folder": viewDir(t, fsys), "shared storage": viewShared(t, placeIn(bucket))} {
					a, b, again := copied(t, v, "")
					what := fmt.Sprintf("after deed %d, %s, the copy from %s", i+1, d.call, from)
					compare := func(made *Graph) {
						t.Helper()
						if got := s.dump(made); got != want {
							t.Fatalf("%s has\n%s\nwant\n%s", what, got, want)
						}
					}
					compare(a)
					compare(b)
					for _, made := range again() {
						compare(made)
						useCopy(t, made, what)
					}
				}
			}
		})
	}
}

// useCopy writes to a copy, and closes it.
func useCopy(t *testing.T, g *Graph, what string) {
	t.Helper()
	ctx := context.Background()
	var names strings.Builder // without properties that the scripts remove
	for n := range 40 {
		fmt.Fprintf(&names, `{"type":"Person","data":{"name":"later-%d"}}`+"\n", n)
	}
	for i, d := range []deed{forking("later", ""), insert("later", "zoe", 1), loading("later", engine.Merge, names.String()), checkpoint, insert("later", "zac", 1)} {
		if err := d.do(g); err != nil {
			t.Fatalf("%s: deed %d on the copy: %v", what, i+1, err)
		}
	}
	if err := errors.Join(g.Verify(ctx), g.Close()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestCopyTwice copies a graph from shared storage to shared storage, lets other writers take the copy
// over, and copies it again. No writer may give a new segment the number of a copied one.
func TestCopyTwice(t *testing.T) {
	ctx := context.Background()
	bucket := &object.Memory{}
	g := createShared(t, placeIn(bucket), crashOptions)
	for n := range 9 {
		people := manyPeople(100*n, 60)
		if err := errors.Join(loading("", engine.Merge, people).do(g), checkpoint.do(g), loading("", engine.Merge, people).do(g)); err != nil {
			t.Fatal(err)
		}
		want := dumpAll(g)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if n%3 == 2 {
			v, next := viewShared(t, placeIn(bucket)), &object.Memory{}
			made, err := v.CopyToShared(ctx, placeIn(next), crashOptions, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(v.Check(ctx, made, ""), made.Close(), v.Close()); err != nil {
				t.Fatal(err)
			}
			bucket = next
		}
		g = openShared(t, placeIn(bucket), crashOptions)
		if got := dumpAll(g); got != want {
			t.Fatalf("after load %d the graph has\n%s\nwant\n%s", n, got, want)
		}
	}
	if err := g.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// TestCopyKeys repeats a write with its idempotency key on copies. The copies must answer with the first
// commit.
func TestCopyKeys(t *testing.T) {
	ctx := t.Context()
	for _, stored := range []bool{false, true} {
		fsys := fs.NewMem()
		g := create(t, fsys, crashOptions)
		once := engine.WriteOptions{Actor: "tester", IdempotencyKey: "once"}
		later := engine.WriteOptions{Actor: "tester", IdempotencyKey: "later"}
		first, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(30)}, once)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(30)}, later); err != nil {
			t.Fatal(err)
		}
		if stored {
			if err := checkpoint.do(g); err != nil {
				t.Fatal(err)
			}
		}
		for _, commit := range []string{"", first.Commit.ID} {
			v := viewDir(t, fsys)
			_, _, again := copied(t, v, commit)
			for _, made := range again() {
				repeated, err := made.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(30)}, once)
				if err != nil || repeated.Commit == nil || repeated.Commit.ID != first.Commit.ID {
					t.Errorf("stored %t, at %q: the repeated write: %+v, %v; want commit %s", stored, commit, repeated, err, first.Commit.ID)
				}
				second, err := made.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(30)}, later)
				fresh := second.Head.ID != "" && made.history.Len() > 3
				if err != nil || fresh != (commit != "") {
					t.Errorf("stored %t, at %q: the later write: %+v, %v", stored, commit, second, err)
				}
				if err := made.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestCopyWhileWritten copies a graph again and again while other goroutines write to it and while
// checkpoints replace its files: first a graph in a folder of the disk, and then one in shared storage.
// Each copy must contain every write that was acknowledged before it began, and each writer's writes
// without a gap.
func TestCopyWhileWritten(t *testing.T) {
	ctx := t.Context()
	opts := Options{Now: testClock, CheckpointBytes: 20_000, LogSize: 8192, InlineBytes: 300, indexed: 1}
	disk, bucket := t.TempDir(), &object.Memory{}
	folder, err := Create(ctx, fs.OS(), disk+"/g", "// people", people(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, source := range []struct {
		name string
		g    *Graph
		view func() (*View, error)
	}{
		{"folder", folder, func() (*View, error) { return ViewDir(ctx, fs.OS(), disk+"/g", opts) }},
		{"shared", createShared(t, placeIn(bucket), opts), func() (*View, error) { return ViewShared(ctx, placeIn(bucket), opts) }},
	} {
		t.Run(source.name, func(t *testing.T) {
			copyWhileWritten(t, source.g, source.view)
		})
	}
}

func copyWhileWritten(t *testing.T, g *Graph, view func() (*View, error)) {
	const writers = 3
	ctx := t.Context()
	var mu sync.Mutex
	var acknowledged [writers]int
	stop := make(chan struct{})
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("w%d-%06d-%s", w, n, strings.Repeat("x", n%400))
				if _, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), num(n)}, engine.WriteOptions{}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged[w] = n + 1
				mu.Unlock()
				time.Sleep(time.Millisecond) // leaves a processor for the copies
			}
		})
	}
	copies := 0
	for n := 0; n < 5 || g.Stats().Checkpoints < 10; n++ {
		copies++
		mu.Lock()
		least := acknowledged
		mu.Unlock()
		v, err := view()
		if err != nil {
			t.Fatal(err)
		}
		_, _, again := copied(t, v, "")
		for _, made := range again() {
			var found [writers]int
			people := made.branches.main.head.Load().snap.Nodes(0)
			for ord := range people.Ordinals() {
				var w, n int
				if _, err := fmt.Sscanf(people.ID(ord), "w%d-%06d", &w, &n); err != nil {
					t.Fatalf("the person %q: %v", people.ID(ord), err)
				}
				found[w] = max(found[w], n+1)
			}
			total := 0
			for w := range writers {
				total += found[w]
				if found[w] < least[w] {
					t.Errorf("copy %d has %d writes of writer %d; %d were acknowledged before", n, found[w], w, least[w])
				}
			}
			if live := int(people.Live()); live != total {
				t.Errorf("copy %d has %d people; the last writes are number %v, so it has gaps", n, live, found)
			}
			if err := made.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	running.Wait()
	checkpoints := g.Stats().Checkpoints
	t.Logf("%d copies during %d checkpoints", copies, checkpoints)
}
