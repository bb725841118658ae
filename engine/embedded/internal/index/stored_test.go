package index

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

// caught returns the fault that f throws.
func caught(f func()) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	f()
	return nil
}

// TestStoredByPieces looks up all entries of stored bases that are too large to be read whole on
// first use. The results must equal those of the in-memory bases from which the stored ones were
// written.
func TestStoredByPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 60_000
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = r.Uint64N(n)
	}
	made := BuildHash(n, func(ord uint32) (uint64, bool) { return hashes[ord], ord%7 != 0 })
	src := storedtest.Blocks{}
	if err := made.Blocks(0, "h", src.Add); err != nil {
		t.Fatal(err)
	}
	stored, _, ok := OpenHash(made.AppendDescriptor(nil, 0), "h", src)
	if !ok {
		t.Fatal("the descriptor is malformed")
	}
	byPieces := 0
	for h := range uint64(n) {
		a, b := made.Find(h), stored.Find(h)
		if stored.base.pending.Left() {
			byPieces++
		}
		for a.Next() {
			if !b.Next() || a.Ord != b.Ord {
				t.Fatalf("hash %d: found %d, expected %d", h, b.Ord, a.Ord)
			}
		}
		if b.Next() {
			t.Fatalf("hash %d: found %d too", h, b.Ord)
		}
	}
	if byPieces == 0 {
		t.Error("the first lookup in the hash read all of it")
	}

	ends := make([][2]uint32, n)
	for i := range ends {
		ends[i] = [2]uint32{r.Uint32N(5000), r.Uint32N(9000)}
	}
	edges := BuildAdjacency(n, func(e uint32) (uint32, uint32, bool) { return ends[e][0], ends[e][1], true })
	if err := edges.Blocks(0, "a", src.Add); err != nil {
		t.Fatal(err)
	}
	again, _, ok := OpenAdjacency(edges.AppendDescriptor(nil, 0), "a", src)
	if !ok {
		t.Fatal("the descriptor is malformed")
	}
	byPieces = 0
	for node := range uint32(5010) {
		e1, o1 := edges.Base(node)
		e2, o2 := again.Base(node)
		if again.base.pending.Left() {
			byPieces++
		}
		if !slices.Equal(e1, e2) || !slices.Equal(o1, o2) || again.BaseDegree(node) != uint32(len(e1)) || !slices.Equal(again.Others(node), o1) {
			t.Fatalf("node %d has the edges %v to %v, expected %v to %v", node, e2, o2, e1, o1)
		}
	}
	if byPieces == 0 {
		t.Error("the first lookup of edges read all of them")
	}
}

// TestStoredFaults damages one entry of a stored base. A lookup that reads the entry must report
// the fault. A lookup of another place must report none.
func TestStoredFaults(t *testing.T) {
	const n = 40_000
	spoiled := func(block string, at int, src storedtest.Blocks) storedtest.Blocks {
		copy(src[block][4*at:], []byte{0xf0, 0xff, 0xff, 0x7f})
		return src
	}
	hash := func(block string, at int, h uint64) func() {
		made := BuildHash(n, func(ord uint32) (uint64, bool) { return uint64(ord / 2), true })
		src := storedtest.Blocks{}
		_ = made.Blocks(0, "h", src.Add)
		x, _, _ := OpenHash(made.AppendDescriptor(nil, 0), "h", spoiled(block, at, src))
		return func() {
			for c := x.Find(h); c.Next(); {
			}
		}
	}
	edges := func(block string, at int, node uint32) func() {
		made := BuildAdjacency(n, func(e uint32) (uint32, uint32, bool) { return e / 4, e / 8, true })
		src := storedtest.Blocks{}
		_ = made.Blocks(0, "a", src.Add)
		a, _, _ := OpenAdjacency(made.AppendDescriptor(nil, 0), "a", spoiled(block, at, src))
		return func() { a.Base(node) }
	}
	for _, c := range []struct {
		name string
		use  func()
		ok   bool
	}{
		{"head", hash("h.h", 77, 77), false},
		{"another head", hash("h.h", 77, 78), true},
		{"next", hash("h.n", 2*77, 77), false},
		{"another next", hash("h.n", 2*77, 78), true},
		{"offset", edges("a.f", 10, 9), false},
		{"another offset", edges("a.f", 10, 11), true},
		{"edge", edges("a.e", 4*10+1, 10), false},
		{"another edge", edges("a.e", 4*10+1, 11), true},
		{"other end", edges("a.o", 4*10+1, 10), false},
		{"another other end", edges("a.o", 4*10+1, 11), true},
	} {
		err := caught(c.use)
		if corrupt := (*engine.Corrupt)(nil); errors.As(err, &corrupt) == c.ok || c.ok && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// storedSorted stores the levels of an index in the sources and opens them.
func storedSorted(t testing.TB, x *Sorted, sources ...storedtest.Blocks) *Sorted {
	t.Helper()
	var names []string
	var open []column.Source
	for i, l := range x.Levels() {
		if i == len(sources) {
			sources = append(sources, storedtest.Blocks{})
		}
		if err := l.Blocks("node Shelf.value", sources[i].Add); err != nil {
			t.Fatal(err)
		}
		names, open = append(names, fmt.Sprint(9+i)), append(open, sources[i])
	}
	return OpenSorted(names, "node Shelf.value", open)
}

// TestSortedStored stores the levels of an index, opens them and updates the index to later states.
// In these states entities may have other rows, and some entities are gone.
func TestSortedStored(t *testing.T) {
	defer lowLevels()()
	r := rand.New(rand.NewPCG(8, 9))
	for _, size := range []int{0, 1, 300, 40_000} {
		s := &shelf{}
		owner := new(Owner)
		for ord := range uint32(size) {
			s.put(owner, ord, r.IntN(500))
		}
		for range size / 20 {
			s.put(owner, uint32(r.IntN(size)), r.IntN(500)) // so that some rows differ from their ordinals
		}
		x := s.build()
		most := 0
		for range 12 {
			reopened := storedSorted(t, x)
			if name := reopened.Levels()[0].Name(); name != "9" {
				t.Errorf("level 0 is in segment %q", name)
			}
			u := reopened.Update(s.next, s.rows, s.compare)
			if same := u.levels[0] == reopened.levels[0]; same && size == 40_000 && !u.levels[0].unread.Left() {
				t.Error("the update read the whole level 0")
			}
			if n, valid := u.All().Len(), len(s.alive(-1<<60, 1<<60)); n-u.invalid != valid {
				t.Fatalf("%d entries, of which %d are invalid, but %d entities are alive", n, u.invalid, valid)
			}
			most = max(most, len(u.levels))
			low := r.IntN(500)
			s.check(t, u, low, low+r.IntN(9))
			s.check(t, u, -1<<60, 1<<60)
			x = u
			owner := new(Owner)
			for range size / 200 {
				s.rows.Set(owner, uint32(r.IntN(size)), Dead)
			}
			for range size / 50 {
				s.put(owner, s.next, r.IntN(500))
			}
			for range size / 100 {
				if ord := uint32(r.IntN(size)); s.rows.Get(ord) != Dead {
					s.put(owner, ord, r.IntN(500))
				}
			}
			if r.IntN(2) > 0 {
				x = x.Update(s.next, s.rows, s.compare)
			}
		}
		if size == 40_000 && most < 3 {
			t.Errorf("there were %d levels at most", most)
		}
	}
}

// TestSortedStoredFaults damages the blocks of a stored index. Reading it must report the fault.
func TestSortedStoredFaults(t *testing.T) {
	for _, c := range []struct {
		name, block string
		spoil       func(b []byte) []byte
	}{
		{"no meta", "sorted", nil},
		{"empty meta", "sorted", func([]byte) []byte { return nil }},
		{"a later format", "sorted", func(b []byte) []byte { b[0] = 99; return b }},
		{"another subject", "sorted", func(b []byte) []byte { b[5] = 'X'; return b }},
		{"truncated meta", "sorted", func(b []byte) []byte { return b[:len(b)-1] }},
		{"too few entries", "ords", func(b []byte) []byte { return b[4:] }},
		{"an entry too large", "ords", func(b []byte) []byte { b[4*150+2] = 9; return b }},
		{"no pages", "pages", nil},
		{"a page out of place", "pages", func(b []byte) []byte { b[0] = 1; return b }},
		{"no rows", "rows", nil},
		{"too few rows", "rows", func(b []byte) []byte { return b[4:] }},
		{"another number", "sorted", func(b []byte) []byte { b[len(b)-1]++; return b }},
	} {
		s := &shelf{}
		owner := new(Owner)
		for ord := range uint32(300) {
			s.put(owner, ord, int(ord%7))
		}
		s.put(owner, 3, 5)
		x := s.build()
		src := storedtest.Blocks{}
		if c.block == "rows" || c.name == "another number" {
			for ord := range uint32(200) {
				s.put(owner, 300+ord, int(ord%7))
			}
			x = x.Update(s.next, s.rows, s.compare).merge(1, s.compare)
			x = storedSorted(t, x, storedtest.Blocks{}, src)
		} else {
			x = storedSorted(t, x, src)
		}
		if c.spoil == nil {
			delete(src, c.block)
		} else {
			src[c.block] = c.spoil(src[c.block])
		}
		err := caught(func() {
			u := x.Update(s.next, s.rows, s.compare)
			walk := u.Walk(u.All(), false, s.compare)
			for _, _, ok := walk.Next(); ok; _, _, ok = walk.Next() {
			}
		})
		if !storedtest.IsBadData(err) {
			t.Errorf("%s: %v, expected a *engine.Corrupt", c.name, err)
		}
	}
	s := &shelf{values: []int{1, 2}, next: 2}
	x := storedSorted(t, s.build())
	if err := caught(func() { x.Update(1, s.rows, s.compare) }); err == nil {
		t.Error("a base with more ordinals than the table was accepted")
	}
}

// FuzzOpenSorted opens a stored index that consists of arbitrary bytes. Opening may throw no error
// but a *engine.Corrupt.
func FuzzOpenSorted(f *testing.F) {
	s := &shelf{}
	owner := new(Owner)
	for ord := range uint32(20) {
		s.put(owner, ord, int(ord%7))
	}
	s.put(owner, 3, 5)
	base := s.build()
	for ord := uint32(20); ord < 30; ord++ {
		s.put(owner, ord, int(ord%7))
	}
	first, second := storedtest.Blocks{}, storedtest.Blocks{}
	for i, l := range base.Update(s.next, s.rows, s.compare).merge(1, s.compare).Levels() {
		if err := l.Blocks("s", []storedtest.Blocks{first, second}[i].Add); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(first["sorted"], first["ords"], first["pages"], second["sorted"], second["ords"], second["rows"])
	f.Fuzz(func(t *testing.T, meta, ords, pages, meta1, ords1, rows1 []byte) {
		x := OpenSorted([]string{"1", "2"}, "s", []column.Source{storedtest.Blocks{"sorted": meta, "ords": ords, "pages": pages}, storedtest.Blocks{"sorted": meta1, "ords": ords1, "rows": rows1}})
		rows := func(a, b uint32) int { return cmp.Compare(a, b) }
		err := caught(func() {
			u := x.Update(1000, Rows{}, rows)
			walk := u.Walk(u.All(), true, rows)
			for n := 0; n < 10_000; n++ {
				ord, _, ok := walk.Next()
				if !ok {
					break
				}
				if ord >= 1000 {
					t.Fatalf("ordinal %d of 1000", ord)
				}
			}
			for _, l := range u.Levels() {
				l.Load()
			}
		})
		if err != nil && !storedtest.IsBadData(err) {
			t.Fatal(fmt.Sprint(err))
		}
	})
}

// TestReadForLookups reads stored edges as lookups do, with blocks of the first neighbours. Nodes with
// few, with many and without edges must have the same edges as before.
func TestReadForLookups(t *testing.T) {
	for _, most := range []uint32{1, 2, 5, 14, 40, 200} {
		t.Run(fmt.Sprintf("up to %d edges", most), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(most)))
			var ends [][2]uint32
			const nodes = 2000
			for node := range uint32(nodes) {
				for range r.Uint32N(most + 1) {
					ends = append(ends, [2]uint32{node, r.Uint32N(nodes)})
				}
			}
			made := BuildAdjacency(uint32(len(ends)), func(e uint32) (uint32, uint32, bool) { return ends[e][0], ends[e][1], true })
			src := storedtest.Blocks{}
			if err := made.Blocks(0, "a", src.Add); err != nil {
				t.Fatal(err)
			}
			stored, _, ok := OpenAdjacency(made.AppendDescriptor(nil, 0), "a", src)
			if !ok {
				t.Fatal("the descriptor is malformed")
			}
			stored.base.pending.Resolve(stored.base.readForLookups)
			if stored.base.near.blocks == nil {
				t.Fatal("there are no blocks")
			}
			inside, outside := 0, 0
			for node := range uint32(nodes + 10) {
				e1, o1 := made.Base(node)
				e2, o2 := stored.Base(node)
				if !slices.Equal(e1, e2) || !slices.Equal(o1, o2) || !slices.Equal(stored.Others(node), o1) || stored.BaseDegree(node) != uint32(len(o1)) {
					t.Fatalf("node %d leads to %v and %v, expected %v", node, stored.Others(node), o2, o1)
				}
				stored.ReadAhead(node)
				if uint32(len(o1)) <= 1<<stored.base.near.shift-nearHead {
					inside++
				} else {
					outside++
				}
			}
			if most > 14 && outside == 0 || inside == 0 {
				t.Errorf("the blocks have the neighbours of %d nodes and lack those of %d", inside, outside)
			}
		})
	}
}
