package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMappingsGoAway opens a graph with mapped rows, changes and rewrites it, and overwrites every
// mapping to which nothing refers. Rows, texts that were copied from one row to another, and open
// results must not read from overwritten mappings.
func TestMappingsGoAway(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	mem.PoisonMappings()
	opts := Options{LogSize: 1 << 16, quiet: true, sparse: 64, indexed: 1}
	g := create(t, mem, opts)
	const persons = 400
	must(t, loadText(g, engine.Merge, manyPeople(0, persons)))
	must(t, loadText(g, engine.Merge, `{"type":"Note","data":{"id":"n1","text":"hello world"}}`))
	must(t, g.checkpoints.make(ctx))
	reopen := func() {
		t.Helper()
		must(t, g.Close())
		var err error
		g, err = Open(ctx, mem, dir, opts)
		must(t, err)
	}
	reopen()
	defer func() { g.Close() }()
	for round := range 6 {
		open, err := g.Query(ctx, allPeople, nil, engine.Target{})
		must(t, err)
		batch, err := open.Next(ctx)
		must(t, err)
		read := func() string {
			var b strings.Builder
			for i := range batch.Len {
				fmt.Fprintf(&b, "%s %d,", batch.Columns[0].Strings[i], batch.Columns[1].Ints[i])
			}
			return b.String()
		}
		want := read()
		// Make rows with texts copied from mapped rows, and holes that make a rewrite worthwhile.
		_, err = g.Mutate(ctx, birthday, engine.Args{num(1000 + round), num(20 + round)}, engine.WriteOptions{})
		must(t, err)
		for i := range 40 {
			_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", 100+40*round+i))}, engine.WriteOptions{})
			must(t, err)
		}
		_, err = g.CreateBranch(ctx, "side", engine.Target{})
		must(t, err)
		_, err = g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint("side", round)), num(1)}, engine.WriteOptions{Branch: "side"})
		must(t, err)
		_, err = g.Merge(ctx, "side", "main", engine.MergeOptions{})
		must(t, err)
		must(t, g.DeleteBranch(ctx, "side"))
		_, err = search(g, "hello")
		must(t, err)
		state := dumpAll(g)
		must(t, g.checkpoints.make(ctx))
		runtime.GC()
		runtime.GC()
		if got := dumpAll(g); got != state {
			t.Fatalf("round %d: after a checkpoint the graph is\n%s\nwanted\n%s", round, got, state)
		}
		must(t, g.Verify(ctx))
		reopen()
		runtime.GC()
		runtime.GC()
		if got := read(); got != want {
			t.Fatalf("round %d: an open result reads\n%s\nwanted\n%s", round, got, want)
		}
		must(t, open.Close())
		if got := dumpAll(g); got != state {
			t.Fatalf("round %d: after a reopen the graph is\n%s\nwanted\n%s", round, got, state)
		}
	}
	before := mem.Poisoned()
	for range 100 {
		if runtime.GC(); mem.Poisoned() > 10 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := mem.Poisoned(); n <= 10 {
		t.Errorf("%d mappings were released, %d before, expected more than 10", n, before)
	}
}

// TestMappingIsCutShort truncates a mapped segment. A read of it must then return the original data
// or a *engine.Corrupt that contains the name of the segment.
func TestMappingIsCutShort(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped here")
	}
	ctx := context.Background()
	home := filepath.Join(t.TempDir(), "graph")
	opts := Options{quiet: true}
	g, err := Create(ctx, fs.OS(), home, "// people", people(), opts)
	must(t, err)
	must(t, loadText(g, engine.Merge, manyPeople(0, 5000)))
	must(t, g.checkpoints.make(ctx))
	must(t, g.Close())
	g, err = Open(ctx, fs.OS(), home, opts)
	must(t, err)
	defer g.Close()
	names, err := filepath.Glob(filepath.Join(home, "*.seg"))
	must(t, err)
	for _, name := range names {
		must(t, os.Truncate(name, 4096))
	}
	for what, f := range map[string]func() error{
		"export": func() error {
			_, err := g.Export(ctx, &strings.Builder{}, engine.Target{}, engine.ExportOptions{})
			return err
		},
		"query":  func() error { _, err := answer(g, allPeople, nil, ""); return err },
		"lookup": func() error { _, err := answer(g, personByName, engine.Args{str("p004999")}, ""); return err },
		"mutate": func() error {
			_, err := g.Mutate(ctx, birthday, engine.Args{num(1), num(2)}, engine.WriteOptions{})
			return err
		},
		"load":   func() error { return loadText(g, engine.Merge, manyPeople(0, 3)) },
		"verify": func() error { return g.Verify(ctx) },
	} {
		if err := f(); !isCorrupt(err, ".seg") {
			t.Errorf("%s: %v, expected a *engine.Corrupt that names a segment", what, err)
		}
	}
}
