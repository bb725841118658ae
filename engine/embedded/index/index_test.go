package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPagesArePersistent edits copies of an array at random and compares every copy
// with a map.
func TestPagesArePersistent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type version struct {
		pages Pages[uint32]
		want  map[uint32]uint32
	}
	versions := []version{{want: map[uint32]uint32{}}}
	for range 200 {
		from := versions[rng.IntN(len(versions))]
		next := version{from.pages, maps.Clone(from.want)}
		owner := new(Owner)
		for range rng.IntN(20) {
			i, x := rng.Uint32N(1<<16), rng.Uint32()
			*next.pages.Edit(owner, i, nil) = x
			next.want[i] = x
		}
		versions = append(versions, next)
	}
	for n, v := range versions {
		for i := range uint32(1 << 16) {
			got := uint32(0)
			if p := v.pages.Get(i); p != nil {
				got = *p
			}
			if got != v.want[i] {
				t.Fatalf("version %d has %d at %d, want %d", n, got, i, v.want[i])
			}
		}
	}
}

func TestRows(t *testing.T) {
	var r Rows
	owner := new(Owner)
	r.Set(owner, 1000, 1000)
	if !r.Dense() {
		t.Error("an ordinal that is its own row needs a page")
	}
	r.Set(owner, 300, Dead)
	for ord, want := range map[uint32]uint32{0: 0, 299: 299, 300: Dead, 301: 301, 70000: 70000} {
		if got := r.Get(ord); got != want {
			t.Errorf("row of %d is %d, want %d", ord, got, want)
		}
	}
}

// TestHash compares base and overlay with a map, through several growths.
func TestHash(t *testing.T) {
	key := func(i uint32) uint64 { return String(fmt.Sprint("key", i%5000)) } // duplicates
	const base, all = 4000, 12000
	x := BuildHash(base, func(ord uint32) (uint64, bool) { return key(ord), ord%10 != 3 })
	early := x
	for ord := uint32(base); ord < all; ord++ {
		x.Add(new(Owner), key(ord), ord)
		x.Add(new(Owner), key(ord), ord) // entered once
	}
	if x.Overlay() != all-base {
		t.Errorf("the overlay has %d entries, want %d", x.Overlay(), all-base)
	}
	find := func(x *Hash, i uint32) (ords []uint32) {
		for c := x.Find(key(i)); c.Next(); {
			if key(c.Ord) == key(i) {
				ords = append(ords, c.Ord)
			}
		}
		slices.Sort(ords)
		return ords
	}
	for i := range uint32(5000) {
		var want, wantEarly []uint32
		for ord := i; ord < all; ord += 5000 {
			if ord >= base || ord%10 != 3 {
				want = append(want, ord)
				if ord < base {
					wantEarly = append(wantEarly, ord)
				}
			}
		}
		if got := find(&x, i); !slices.Equal(got, want) {
			t.Fatalf("key %d has ordinals %d, want %d", i, got, want)
		}
		if got := find(&early, i); !slices.Equal(got, wantEarly) {
			t.Fatalf("in the snapshot key %d has ordinals %d, want %d", i, got, wantEarly)
		}
	}
}

func TestAdjacency(t *testing.T) {
	ends := [][2]uint32{{5, 1}, {0, 3}, {5, 0}, {0, 3}, {2, 2}, {5, 9}}
	a := BuildAdjacency(uint32(len(ends)), func(e uint32) (uint32, uint32, bool) { return ends[e][0], ends[e][1], e != 5 })
	for node, want := range map[uint32]string{0: "[1 3] [3 3]", 1: "[] []", 2: "[4] [2]", 5: "[2 0] [0 1]", 6: "[] []", 1 << 20: "[] []", ^uint32(0): "[] []"} {
		edges, others := a.Base(node)
		if got := fmt.Sprint(edges, others); got != want {
			t.Errorf("node %d has %s, want %s", node, got, want)
		}
	}
	if a.Simple() {
		t.Error("two edges join 0 and 3")
	}
	b := a
	b.Add(new(Owner), 0, 7, 6)
	if h := b.Over(0); h == nil || h.Edge != 6 || h.Other != 7 || h.Next != nil {
		t.Errorf("the overlay has %+v", h)
	}
	if a.Over(0) != nil {
		t.Error("a snapshot sees a later edge")
	}
	if (&Adjacency{}).Simple() != true {
		t.Error("no edges join no pair twice")
	}
}
