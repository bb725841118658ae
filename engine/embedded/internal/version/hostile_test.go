package version

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// store stores the unstored parts of a snapshot in files. It returns the flushed snapshot
// and its manifest.
func store(t testing.TB, base *Snapshot, files memory) (*Snapshot, []byte) {
	t.Helper()
	add := func(blocks func(add func(name string, data []byte) error) error) string {
		t.Helper()
		of := map[string][]byte{}
		name := fmt.Sprint("segment", len(files))
		if err := blocks(func(name string, data []byte) error {
			of[name] = bytes.Clone(data)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		files[name] = of
		return name
	}
	var flushes []Flush
	for _, table := range base.Tables() {
		f, ok, err := table.Flush()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			f.Segment.Name = add(func(to func(string, []byte) error) error { return f.Segment.Blocks(table.Type, to) })
			flushes = append(flushes, f)
		}
	}
	s := base.Flushed(flushes)
	for _, table := range s.Tables() {
		for _, part := range table.Unstored(1) {
			part.Named(add(part.Blocks))
		}
	}
	m := Manifest{Branches: []ManifestBranch{{Name: "main", Head: s}}}
	return s, m.Append(nil, func(*schema.Schema) []byte { return nil })
}

// lowLevels makes each checkpoint store a level of the indexes, until the returned function is called.
func lowLevels() (restore func()) {
	entries, full := index.LevelEntries, index.FullLevel
	index.LevelEntries, index.FullLevel = 1, 1
	return func() { index.LevelEntries, index.FullLevel = entries, full }
}

// indexed returns a state with two stored levels of indexes, a stored text index, and rows that are
// newer than these.
func indexed(t testing.TB) (*Snapshot, memory) {
	t.Helper()
	defer lowLevels()()
	s := testSchema(t)
	base := change(t, s).Commit(first)
	for _, table := range base.Tables() {
		table.reindex()
	}
	base.nodes[1].Text(0)
	files := memory{}
	base, _ = store(t, base, files)
	tx := Begin(base)
	for i, id := range []string{"later1", "later2", "any3"} {
		tx.Put(s.Nodes[1], Row{ID: id, Vals: anyRow(20 + i)})
		tx.Put(s.Edges[0], Row{ID: id, Src: 3, Dst: uint32(3 * i / 2), Vals: []value.Value{value.OfI32(8)}})
	}
	base, _ = store(t, tx.Commit(first), files)
	tx = Begin(base)
	tx.Put(s.Nodes[1], Row{ID: "late", Vals: anyRow(8)})
	tx.Put(s.Nodes[1], Row{ID: "any2", Vals: anyRow(9)})
	tx.Put(s.Edges[0], Row{ID: "late", Src: 0, Dst: 5, Vals: []value.Value{value.OfI32(8)}})
	tx.Put(s.Edges[0], Row{ID: "e3", Src: 3, Dst: 1, Vals: []value.Value{value.OfI32(9)}})
	return tx.Commit(first), files
}

// TestStoredIndexes opens a state with stored indexes. It compares the entities and checks the
// indexes.
func TestStoredIndexes(t *testing.T) {
	want, files := indexed(t)
	_, payload := store(t, want, files)
	m, err := ReadManifest(payload, decode(t), files)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Branches[0].Head
	if a, b := content(want), content(got); !maps.Equal(a, b) {
		t.Errorf("opened it is\n%v\nwanted\n%v", b, a)
	}
	for _, table := range []*Table{got.nodes[1], got.edges[0]} {
		base, rest := table.levels[0].ords, table.next-table.levels[len(table.levels)-1].ords
		if len(table.levels) != 2 || base == 0 || rest == 0 || table.keys.Records(1) == 0 || table.keys.Overlay() != int(rest) {
			t.Errorf("%s: of %d ordinals level 0 covers %d, level 1 has %d records, and the overlay has %d", table.Type.Name, table.next, base, table.keys.Records(1), table.keys.Overlay())
		}
	}
	if _, _, unread := got.nodes[1].texts.earlier[0].Unread(); !unread {
		t.Error("the text index has been read already")
	}
	var v Verifier
	if err := v.Verify(context.Background(), got); err != nil {
		t.Error(err)
	}
}

// use reads all content of a stored state.
func use(t testing.TB, payload []byte, files memory) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	m, err := ReadManifest(payload, decode(t), files)
	if err != nil {
		return err
	}
	s := m.Branches[0].Head
	for _, table := range s.edges {
		set := engine.NewBitmap(int(s.nodes[table.Type.From].next))
		other := engine.NewBitmap(int(s.nodes[table.Type.To].next))
		for node := range s.nodes[table.Type.From].next {
			for _, edge := range LiveEdges(table, table.Out(), node) {
				src, dst := s.Ends(table, edge)
				set.Set(int(src))
				other.Set(int(dst))
			}
			_, others := table.Out().Base(node)
			for _, o := range others {
				other.Set(int(o))
			}
		}
	}
	s.nodes[1].Text(0).Any([]string{"s1", "s8"}, engine.NewBitmap(int(s.nodes[1].next)))
	content(s)
	var v Verifier
	return v.Verify(context.Background(), s)
}

// TestHostileBytes changes every byte of every block, as an attacker who recomputes the checksums
// can. Every read must then return some content or a *engine.Corrupt.
func TestHostileBytes(t *testing.T) {
	slow.Test(t)
	base, files := indexed(t)
	_, payload := store(t, base, files)
	if err := use(t, payload, files); err != nil {
		t.Fatal(err)
	}
	try := func(what string, payload []byte, files memory) {
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("%s: panic: %v", what, p)
			}
		}()
		if err := use(t, payload, files); err != nil && !storedtest.IsBadData(err) && !errors.As(err, new(*engine.NotFound)) {
			t.Errorf("%s: %v is not a *engine.Corrupt", what, err)
		}
	}
	for _, segment := range slices.Sorted(maps.Keys(files)) {
		for _, block := range slices.Sorted(maps.Keys(files[segment])) {
			data := files[segment][block]
			with := func(b []byte) memory {
				bad := maps.Clone(files)
				bad[segment] = maps.Clone(files[segment])
				bad[segment][block] = b
				return bad
			}
			for i := range data {
				for _, x := range []byte{1, 0x80, 0xff} {
					b := bytes.Clone(data)
					b[i] ^= x
					try(fmt.Sprintf("%s, block %s, byte %d ^ %#x", segment, block, i, x), payload, with(b))
				}
			}
			if len(data) > 0 {
				try(fmt.Sprintf("%s, block %s cut short", segment, block), payload, with(data[:len(data)-1]))
			}
		}
	}
	for i := range payload {
		b := bytes.Clone(payload)
		b[i] ^= 1
		try(fmt.Sprintf("manifest, byte %d", i), b, files)
	}
}

// FuzzStored changes bytes of stored blocks at positions that the input gives.
func FuzzStored(f *testing.F) {
	base, files := indexed(f)
	_, payload := store(f, base, files)
	type at struct{ segment, block string }
	var blocks []at
	for _, segment := range slices.Sorted(maps.Keys(files)) {
		for _, block := range slices.Sorted(maps.Keys(files[segment])) {
			if len(files[segment][block]) > 0 {
				blocks = append(blocks, at{segment, block})
			}
		}
	}
	f.Add([]byte{0, 0, 1, 1, 0, 255})
	f.Fuzz(func(t *testing.T, in []byte) {
		bad := memory{}
		for name, of := range files {
			bad[name] = maps.Clone(of)
		}
		for ; len(in) >= 3; in = in[3:] {
			a := blocks[int(in[0])%len(blocks)]
			b := bytes.Clone(bad[a.segment][a.block])
			b[int(in[1])%len(b)] ^= in[2]
			bad[a.segment][a.block] = b
		}
		if err := use(t, payload, bad); err != nil && !storedtest.IsBadData(err) {
			t.Errorf("%v is neither a *engine.Corrupt nor an error about the format", err)
		}
	})
}
