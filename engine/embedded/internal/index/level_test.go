package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

// reopenHash stores all levels of an index and opens them again.
func reopenHash(t *testing.T, x *Hash, ords uint32) Hash {
	t.Helper()
	src := storedtest.Blocks{}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(x.Blocks(0, "h0", src.Add))
	again, rest, ok := OpenHash(x.AppendDescriptor(nil, 0), "h0", src)
	for i := range x.later {
		name := string(rune('a' + i))
		must(x.Blocks(1+i, name, src.Add))
		if ok && len(rest) == 0 {
			rest, ok = again.OpenLevel(x.AppendDescriptor(nil, 1+i), name, src, ords)
		}
	}
	if !ok || len(rest) > 0 {
		t.Fatal("a descriptor is malformed")
	}
	return again
}

// TestHashLevels changes the values of entities and deletes entities at random. After each round it
// turns the overlay into a level. A search in the index, also in its stored form, must find each
// live entity by its value, and an earlier state of the index must stay the same.
func TestHashLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const base = 20_000
	var rows Rows
	value := make([]uint64, base)
	for i := range value {
		value[i] = MixInt(7, r.Uint64N(base))
	}
	hash := func(ord uint32) (uint64, bool) { return value[ord], rows.Get(ord) != Dead }
	x := BuildHash(base, hash)
	find := func(x *Hash, h uint64) (ords []uint32) {
		for c := x.Find(h); c.Next(); {
			ords = append(ords, c.Ord)
		}
		slices.Sort(ords)
		return slices.Compact(ords)
	}
	for round, from := range []int{1, 2, 3, 2, 3, 1, 2} {
		early, h := x, value[r.IntN(len(value))]
		was := find(&early, h)
		owner := new(Owner)
		for range 3000 {
			switch ord := r.Uint32N(uint32(len(value))); r.IntN(3) {
			case 0:
				rows.Set(owner, ord, Dead)
			case 1:
				value[ord] = MixInt(7, r.Uint64N(base))
				x.Add(owner, value[ord], ord)
			default:
				value = append(value, MixInt(7, r.Uint64N(base)))
				x.Add(owner, value[len(value)-1], uint32(len(value)-1))
			}
		}
		added := x.Overlay()
		x.AddLevel(from, &rows, uint32(len(value)), hash)
		if x.Overlay() != 0 || len(x.later) != from || x.Records(from) == 0 || from == round+1 && x.Records(from) > added {
			t.Fatalf("round %d: %d entries in the overlay, %d levels, %d records of %d", round, x.Overlay(), len(x.later), x.Records(from), added)
		}
		again := reopenHash(t, &x, uint32(len(value)))
		for ord := range uint32(len(value)) {
			if rows.Get(ord) == Dead {
				continue
			}
			if _, ok := slices.BinarySearch(find(&x, value[ord]), ord); !ok {
				t.Fatalf("round %d: entity %d is not found", round, ord)
			}
			if ord%7 == 0 && !slices.Equal(find(&x, value[ord]), find(&again, value[ord])) {
				t.Fatalf("round %d: the stored index finds other entities than %d", round, find(&x, value[ord]))
			}
		}
		if now := find(&early, h); !slices.Equal(now, was) {
			t.Fatalf("round %d: the earlier state finds %d, expected %d", round, now, was)
		}
	}
}

// TestLevelDropsOutdated puts one entity into the overlay with several values. The level keeps only
// its present value, once.
func TestLevelDropsOutdated(t *testing.T) {
	var x Hash
	var rows Rows
	owner := new(Owner)
	for _, h := range []uint64{1 << 40, 2 << 40, 1 << 40, 3 << 40, 1 << 40} {
		x.Add(owner, h, 5)
	}
	x.Add(owner, 9, 6)
	x.Add(owner, 9, 7)
	rows.Set(owner, 7, Dead)
	x.AddLevel(1, &rows, 8, func(ord uint32) (uint64, bool) { return 1 << 40, ord == 5 })
	if n := x.Records(1); n != 2 {
		t.Errorf("the level has %d records, expected one of entity 5 and one of entity 6", n)
	}
	for h, want := range map[uint64]bool{1 << 40: true, 2 << 40: false, 3 << 40: false, 9: true} {
		if c := x.Find(h); c.Next() != want {
			t.Errorf("hash %#x is found: %t, expected %t", h, !want, want)
		}
	}
}

// TestAdjacencyLevels adds and deletes edges at random and turns the overlay into levels. Each state,
// also the stored one, must list the live edges of each node once.
func TestAdjacencyLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const nodes = 900
	var rows Rows
	var ends [][2]uint32
	more := func(n int) {
		for range n {
			ends = append(ends, [2]uint32{r.Uint32N(nodes) * r.Uint32N(2), r.Uint32N(nodes)}) // node 0 is a hub
		}
	}
	more(8000)
	a := BuildAdjacency(uint32(len(ends)), func(e uint32) (uint32, uint32, bool) { return ends[e][0], ends[e][1], true })
	for round, from := range []int{1, 2, 2, 3, 1} {
		owner := new(Owner)
		first := len(ends)
		more(1000)
		for e := first; e < len(ends); e++ {
			a.Add(owner, ends[e][0], ends[e][1], uint32(e))
		}
		for range 200 {
			rows.Set(owner, r.Uint32N(uint32(len(ends))), Dead)
		}
		a.AddLevel(from, &rows)
		if a.Overlay() != 0 || len(a.later) != from || a.AllInBase() || a.Simple() {
			t.Fatalf("round %d: %d edges in the overlay, %d levels", round, a.Overlay(), len(a.later))
		}
		src := storedtest.Blocks{} // the goroutines that read an earlier source may still run
		again, rest, ok := OpenAdjacency(a.AppendDescriptor(nil, 0), "a0", src)
		if err := a.Blocks(0, "a0", src.Add); err != nil {
			t.Fatal(err)
		}
		for i := range a.later {
			name := string(rune('b' + i))
			if err := a.Blocks(1+i, name, src.Add); err != nil {
				t.Fatal(err)
			}
			if ok {
				rest, ok = again.OpenLevel(a.AppendDescriptor(nil, 1+i), name, src, uint32(len(ends)))
			}
		}
		if !ok || len(rest) > 0 {
			t.Fatal("a descriptor is malformed")
		}
		want := make([][]uint32, nodes+1)
		for e, end := range ends {
			if rows.Get(uint32(e)) != Dead {
				want[end[0]] = append(want[end[0]], uint32(e))
			}
		}
		for what, x := range map[string]*Adjacency{"built": &a, "stored": &again} {
			if here, others, edges := x.Bounds(); here > nodes || others > nodes || edges > uint32(len(ends)) || edges <= uint32(first) {
				t.Errorf("round %d, %s: the bounds are %d, %d and %d", round, what, here, others, edges)
			}
			for node := range uint32(nodes + 1) {
				edges, others := x.Base(node)
				edges, others = slices.Clone(edges), slices.Clone(others)
				inBase := true
				for l := x.Later(node); l.Next(); inBase = false {
					edges, others = append(edges, l.Edge), append(others, l.Other)
				}
				if x.InBase(node) != inBase {
					t.Fatalf("round %d, %s: InBase(%d) is %t", round, what, node, !inBase)
				}
				var got []uint32
				for i, e := range edges {
					if ends[e] != [2]uint32{node, others[i]} {
						t.Fatalf("round %d, %s: node %d has edge %d to %d", round, what, node, e, others[i])
					}
					if rows.Get(e) != Dead {
						got = append(got, e)
					}
				}
				if slices.Sort(got); !slices.Equal(got, want[node]) {
					t.Fatalf("round %d, %s: node %d has the edges %d, expected %d", round, what, node, got, want[node])
				}
			}
		}
	}
}

// TestLevelFaults damages one number of a stored level. A lookup that reads the number must report
// the fault. A lookup in another bucket must report none.
func TestLevelFaults(t *testing.T) {
	var made Hash
	var rows Rows
	owner := new(Owner)
	for ord := range uint32(60_000) {
		made.Add(owner, uint64(ord), ord)
	}
	made.AddLevel(1, &rows, 60_000, nil)
	l := made.later[0]
	for _, c := range []struct {
		name, block string
		at          func(first uint32) uint32 // position of the damaged number, for the bucket of `first`
		value       byte
	}{
		{"start of the bucket", "x.f", func(first uint32) uint32 { return l.bucket(first) }, 0x7f},
		{"end of the bucket", "x.f", func(first uint32) uint32 { return l.bucket(first) + 1 }, 0x7f},
		{"half of a hash", "x.r", func(first uint32) uint32 { return recordSize * l.off[l.bucket(first)] }, 0x7f},
		{"ordinal", "x.r", func(first uint32) uint32 { return recordSize*l.off[l.bucket(first)] + 2 }, 0x7f},
	} {
		const first = 777
		use := func(h uint64) error {
			src := storedtest.Blocks{}
			if err := made.Blocks(1, "x", src.Add); err != nil {
				t.Fatal(err)
			}
			src[c.block][4*c.at(first)+3] = c.value
			var x Hash
			if rest, ok := x.OpenLevel(made.AppendDescriptor(nil, 1), "x", src, 60_000); !ok || len(rest) > 0 {
				t.Fatal("the descriptor is malformed")
			}
			return caught(func() {
				for cur := x.Find(h); cur.Next(); {
				}
			})
		}
		if err := use(first); !errors.As(err, new(*engine.Corrupt)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := use(first + 2); err != nil {
			t.Errorf("%s, another bucket: %v", c.name, err)
		}
	}
	desc := made.AppendDescriptor(nil, 1)
	var x Hash
	for n := range len(desc) {
		if _, ok := x.OpenLevel(desc[:n], "x", storedtest.Blocks{}, 60_000); ok {
			t.Errorf("a descriptor that is cut to %d bytes is accepted", n)
		}
	}
	if _, ok := x.OpenLevel(desc, "x", storedtest.Blocks{}, 59_999); ok {
		t.Error("a level with an ordinal that its table lacks is accepted")
	}
}

// BenchmarkHashFind searches an index of a million entities, once with all entities in the base and
// once with four levels after it.
func BenchmarkHashFind(b *testing.B) {
	const n = 1 << 20
	hash := func(ord uint32) (uint64, bool) { return MixInt(7, uint64(ord)), true }
	levels := BuildHash(n-21760, hash)
	var rows Rows
	next := uint32(n - 21760)
	for i, size := range []uint32{16384, 4096, 1024, 256} {
		for end := next + size; next < end; next++ {
			h, _ := hash(next)
			levels.Add(new(Owner), h, next)
		}
		levels.AddLevel(1+i, &rows, next, nil)
	}
	for _, c := range []struct {
		name string
		x    Hash
	}{{"base", BuildHash(n, hash)}, {"levels", levels}} {
		for _, missing := range []uint64{0, n} {
			name := c.name + "/present"
			if missing > 0 {
				name = c.name + "/absent"
			}
			b.Run(name, func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					ord := r.Uint64N(n) + missing
					cur := c.x.Find(MixInt(7, ord))
					for cur.Next() && uint64(cur.Ord) != ord {
					}
				}
			})
		}
	}
}

// BenchmarkNewEntries enters new entities or edges into an index of n ones: as a level, or by building
// the whole index again. The overlay with the new entries exists before the measurement.
func BenchmarkNewEntries(b *testing.B) {
	hash := func(ord uint32) (uint64, bool) { return MixInt(7, uint64(ord)), true }
	ends := func(e uint32) (uint32, uint32, bool) {
		h := uint32(MixInt(9, uint64(e)))
		return h % (1 + e/10), h >> 8 % (1 + e/10), true
	}
	for _, n := range []uint32{100_000, 1_000_000, 10_000_000} {
		ids, edges := BuildHash(n, hash), BuildAdjacency(n, ends)
		for _, more := range []uint32{1_000, 100_000} {
			newIDs, newEdges, owner := ids, edges, new(Owner)
			for ord := n; ord < n+more; ord++ {
				h, _ := hash(ord)
				newIDs.Add(owner, h, ord)
				here, other, _ := ends(ord)
				newEdges.Add(owner, here, other, ord)
			}
			for _, c := range []struct {
				name string
				run  func()
			}{
				{"ids/level", func() { x := newIDs; x.AddLevel(1, &Rows{}, n+more, nil) }},
				{"ids/whole", func() { BuildHash(n+more, hash) }},
				{"edges/level", func() { x := newEdges; x.AddLevel(1, &Rows{}) }},
				{"edges/whole", func() { BuildAdjacency(n+more, ends) }},
			} {
				b.Run(fmt.Sprintf("%d/%d/%s", n, more, c.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						c.run()
					}
				})
			}
		}
	}
}
