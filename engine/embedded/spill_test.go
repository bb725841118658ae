package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// spillOptions returns options with which every load writes its rows to runs and stores each type
// in several segments.
func spillOptions() Options {
	opts := crashOptions
	opts.InlineBytes, opts.loadMemory, opts.loadSegment = -1, 1, 300
	opts.keepIndexes, opts.spillIndexes = 1, 10
	return opts
}

// spilledLoad opens a graph of one person and loads many others. It returns the error of the load,
// or errNotOpen.
func spilledLoad(fsys fs.FS) error {
	ctx := context.Background()
	g, err := Create(ctx, fsys, dir, "// people", people(), spillOptions())
	if err != nil {
		return errNotOpen
	}
	defer g.Close()
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("first"), num(1)}, engine.WriteOptions{}); err != nil {
		return errNotOpen
	}
	return loadText(g, engine.Merge, manyPeople(0, 40))
}

var errNotOpen = errors.New("the graph could not be made")

// TestCrashSpilledLoad cuts the power at every durable operation of a load that writes its rows to
// runs. After a reopen, the graph must contain all the loaded data or none of it. No temporary file
// may be left.
func TestCrashSpilledLoad(t *testing.T) {
	slow.Test(t)
	whole := fs.NewMem()
	must(t, spilledLoad(whole))
	for n := range whole.Ops() {
		mem := fs.NewMem()
		mem.CrashAfter(n)
		loaded := spilledLoad(mem)
		if loaded == errNotOpen {
			continue
		}
		after := mem.Crash(uint64(n))
		g, err := Open(t.Context(), after, dir, spillOptions())
		if err != nil {
			t.Fatalf("crash at operation %d: %v", n, err)
		}
		s, err := g.Snapshot(t.Context(), engine.Target{})
		must(t, err)
		if people := s.Nodes[0].Count; people != 41 && (people != 1 || loaded == nil) {
			t.Errorf("crash at operation %d, load %v: %d persons", n, loaded, people)
		}
		must(t, g.Verify(t.Context()))
		if names := temporary(t, after); len(names) > 0 {
			t.Errorf("crash at operation %d leaves %v", n, names)
		}
		must(t, loadText(g, engine.Merge, manyPeople(100, 40)))
		must(t, g.Close())
	}
}

// temporary lists the temporary files in the graph's directory.
func temporary(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	names, err := fsys.List(dir)
	must(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".tmp") })
}

// TestSpilledLoadOnFullDisk makes each write and each file creation of a load fail in turn, as on a
// full disk. The load must fail with that reason and leave no files. The next load must succeed.
func TestSpilledLoadOnFullDisk(t *testing.T) {
	for _, kind := range []faultfs.OpKind{faultfs.OpCreate, faultfs.OpWrite} {
		for n := 1; ; n++ {
			// A load builds indexes in parallel, so that several goroutines count operations.
			var armed atomic.Bool // whether a fault is still to come
			var left atomic.Int64 // operations until the fault
			mem := fs.NewMem()
			g := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
				if op.Kind != kind || !strings.HasSuffix(op.Name, ".seg.tmp") || !armed.Load() {
					return nil
				}
				if left.Add(-1) == 0 {
					armed.Store(false)
					return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 3}
				}
				return nil
			}), spillOptions())
			must(t, loadText(g, engine.Merge, manyPeople(0, 10)))
			before, err := mem.List(dir)
			must(t, err)
			left.Store(int64(n))
			armed.Store(true)
			err = loadText(g, engine.Merge, manyPeople(50, 40))
			reached := !armed.Swap(false)
			if reached && !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%v %d fails: %v, want it to be refused because there is no space", kind, n, err)
			}
			if !reached {
				must(t, err)
				if n < 6 {
					t.Errorf("a load has only %d operations of kind %v", n-1, kind)
				}
				break
			}
			if after, err := mem.List(dir); err != nil || !slices.Equal(after, before) {
				t.Errorf("%v %d fails: the directory has %v, want %v", kind, n, after, before)
			}
			must(t, loadText(g, engine.Merge, manyPeople(50, 40)))
			must(t, g.Close())
		}
	}
}

// TestSpilledLoadCancelled cancels loads that write their rows to temporary files. It cancels them
// after different numbers of bytes of the input.
func TestSpilledLoadCancelled(t *testing.T) {
	mem := fs.NewMem()
	g := create(t, mem, spillOptions())
	before, err := mem.List(dir)
	must(t, err)
	text := manyPeople(0, 40)
	for _, at := range []int{1, len(text) / 2, len(text)} {
		ctx, cancel := context.WithCancel(t.Context())
		r := io.MultiReader(strings.NewReader(text[:at]), readFunc(func([]byte) (int, error) {
			cancel()
			return 0, io.EOF
		}))
		if _, err := g.Load(ctx, r, engine.LoadOptions{Mode: engine.Merge}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d bytes: %v", at, err)
		}
		if after, err := mem.List(dir); err != nil || !slices.Equal(after, before) {
			t.Errorf("cancelled after %d bytes: the directory has %v, want %v", at, after, before)
		}
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestSpilledLoadAgain loads the same input twice in every mode, once through runs and once in
// memory, into graphs that contain entities already. The two graphs must be equal, also after a
// reopen.
func TestSpilledLoadAgain(t *testing.T) {
	for _, mode := range []engine.LoadMode{engine.Merge, engine.Append, engine.Overwrite} {
		var dumps []string
		for _, memory := range []int64{1, 0} {
			mem := fs.NewMem()
			opts := spillOptions()
			opts.loadMemory = memory
			g := create(t, mem, opts)
			must(t, loadText(g, engine.Merge, manyPeople(20, 10)))
			nodes, _, _ := strings.Cut(manyPeople(10, 40), `{"edge"`)
			err := loadText(g, mode, nodes)
			if (mode == engine.Append) != (err != nil) {
				t.Errorf("%v: %v", mode, err)
			}
			dump := fmt.Sprint(err, answerAll(t, g))
			must(t, g.Close())
			g, err = Open(t.Context(), mem, dir, opts)
			must(t, err)
			must(t, g.Verify(t.Context()))
			dumps = append(dumps, dump, answerAll(t, g))
			must(t, g.Close())
		}
		if dumps[0] != dumps[2] || dumps[1] != dumps[3] {
			t.Errorf("%v: through runs\n%s\nin memory\n%s", mode, dumps[0], dumps[2])
		}
	}
}

// answerAll returns an export of the graph.
func answerAll(t *testing.T, g *Graph) string {
	t.Helper()
	var b strings.Builder
	_, err := g.Export(t.Context(), &b, engine.Target{}, engine.ExportOptions{})
	must(t, err)
	return b.String()
}

// TestLoadStoresIndexes builds the indexes of a load in memory or in temporary files. They must be
// stored when the load returns. After an immediate close and a reopen the graph must still have
// them.
func TestLoadStoresIndexes(t *testing.T) {
	for _, spill := range []uint32{1, 1000} {
		mem := fs.NewMem()
		opts := spillOptions()
		opts.spillIndexes = spill
		g := create(t, mem, opts)
		unstored := func(when string) {
			t.Helper()
			for _, table := range g.branches.byName[engine.MainBranch].tip.snap.Tables() {
				if table.IndexesToStore(1) {
					t.Errorf("%s, from %d entities on in files: the indexes of %s are not stored", when, spill, table.Type.Name)
				}
			}
		}
		must(t, loadText(g, engine.Merge, manyPeople(0, 40)))
		unstored("after the load")
		want := answerAll(t, g)
		must(t, g.Close())
		g, err := Open(t.Context(), mem, dir, opts)
		must(t, err)
		unstored("after a reopen")
		if got := answerAll(t, g); got != want {
			t.Errorf("another graph after a reopen:\n%s\nwant\n%s", got, want)
		}
		must(t, g.Verify(t.Context()))
		must(t, g.Close())
	}
}
