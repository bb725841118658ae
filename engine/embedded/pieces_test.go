package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// faultyPiece is the detail of the error for a damaged piece of a block.
var faultyPiece = regexp.MustCompile(`block ".+", offset \d+: \d+ bytes have checksum`)

// TestDamagedPieces damages one byte of a segment at a time, opens the graph and looks up persons
// by key, together with the persons that they know. A lookup must return the right answer, or an
// error that contains the file, the block and the offset. Most lookups must not be affected by a
// damaged piece.
func TestDamagedPieces(t *testing.T) {
	const persons = 60_000
	ctx := context.Background()
	mem := fs.NewMem()
	opts := Options{quiet: true, indexed: 1}
	g, err := Create(ctx, mem, dir, "// people", people(), opts)
	must(t, err)
	must(t, loadText(g, engine.Append, manyPeople(0, persons)))
	must(t, g.Close())
	open := func(mem *fs.Mem) *Graph {
		g, err := Open(ctx, mem, dir, opts)
		must(t, err)
		return g
	}
	ask := func(g *Graph, i int) (string, error) {
		args := engine.Args{str(fmt.Sprintf("p%06d", i))}
		person, err := answer(g, personByName, args, "")
		if err != nil {
			return "", err
		}
		known, err := answer(g, walkFrom(1), args, "")
		return person + known, err
	}
	step := persons / 40
	var want []string
	g = open(mem)
	for i := 0; i < persons; i += step {
		s, err := ask(g, i)
		must(t, err)
		want = append(want, s)
	}
	must(t, g.Close())
	names, err := mem.List(dir)
	must(t, err)
	damaged, mixed := 0, 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".seg") {
			continue
		}
		data, err := fs.ReadFile(mem, filepath.Join(dir, name))
		must(t, err)
		for off := 50_000; off < len(data); off += 130_000 {
			bad := mem.Crash(0)
			f, err := bad.OpenWrite(filepath.Join(dir, name))
			must(t, err)
			_, err = f.WriteAt([]byte{data[off] ^ 4}, int64(off))
			must(t, err)
			must(t, f.Close())
			g, err := Open(ctx, bad, dir, opts)
			if err != nil { // the byte is in the footer
				if !isCorrupt(err, name) {
					t.Errorf("%s, offset %d: open: %v", name, off, err)
				}
				continue
			}
			faults := 0
			for k := range want {
				got, err := ask(g, k*step)
				var c *engine.Corrupt
				switch {
				case errors.As(err, &c) && strings.Contains(c.Object, name) && faultyPiece.MatchString(c.Detail):
					faults++
				case err != nil || got != want[k]:
					t.Fatalf("%s, offset %d: person %d: %q, %v; expected %q", name, off, k*step, got, err, want[k])
				}
			}
			must(t, g.Close())
			damaged++
			if faults > 0 && faults < len(want)/2 {
				mixed++
			}
			if faults == len(want) {
				t.Errorf("%s, offset %d: no lookup succeeds", name, off)
			}
		}
	}
	if damaged < 10 || mixed < 5 {
		t.Errorf("%d bytes damaged; %d of them made some lookups fail, but fewer than half", damaged, mixed)
	}
}

// TestSortedStored queries a graph through its sorted index, changes the graph and reopens it. The
// close after the first query that needed the index must store the index, even if changes were made
// after that query. The answers must equal those of a graph that was never closed.
func TestSortedStored(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	opts := Options{quiet: true, indexed: 1}
	g, err := Create(ctx, mem, dir, "// people", people(), opts)
	must(t, err)
	defer func() { g.Close() }()
	must(t, loadText(g, engine.Append, manyPeople(0, 4000)))
	kept, err := Create(ctx, fs.NewMem(), dir, "// people", people(), opts)
	must(t, err)
	defer kept.Close()
	must(t, loadText(kept, engine.Append, manyPeople(0, 4000)))

	segments := func() int {
		files, err := mem.List(dir)
		must(t, err)
		n := 0
		for _, name := range files {
			if strings.HasSuffix(name, ".seg") {
				n++
			}
		}
		return n
	}
	reopen := func() {
		t.Helper()
		must(t, g.Close())
		g, err = Open(ctx, mem, dir, opts)
		must(t, err)
	}
	stored := func() bool {
		persons := g.branches.main.head.Load().snap.Nodes(0)
		view, err := persons.SortedBy(ctx, 0, func(int) bool { return false }) // must not build the index from scratch
		must(t, err)
		return view != nil
	}
	reopen()
	if stored() {
		t.Error("an index that no query needed is stored")
	}
	before := segments()
	_, err = firstByName(g)
	must(t, err)
	reopen()
	if !stored() || segments() != before+1 {
		t.Errorf("the index is stored: %t, in %d new files", stored(), segments()-before)
	}
	for round := range 6 {
		for _, g := range []*Graph{g, kept} {
			for i := range 30 {
				_, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("a%d-%d", round, i)), num(i)}, engine.WriteOptions{})
				must(t, err)
			}
			_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("a%d-3", round))}, engine.WriteOptions{})
			must(t, err)
			_, err = g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", round))}, engine.WriteOptions{})
			must(t, err)
			if round == 4 { // enough changes for a new base to be built
				must(t, loadText(g, engine.Merge, manyPeople(5000, 3000)))
			}
		}
		if round%2 == 0 {
			must(t, g.checkpoints.make(ctx))
		}
		reopen()
		got, err := firstByName(g)
		must(t, err)
		want, err := firstByName(kept)
		must(t, err)
		if got != want || !stored() {
			t.Errorf("round %d: the first persons are %q, expected %q; the index is stored: %t", round, got, want, stored())
		}
		must(t, g.Verify(ctx))
	}
}
