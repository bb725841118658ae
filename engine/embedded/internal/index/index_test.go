package index

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestPagesArePersistent edits copies of an array at random and compares every copy with a
// map.
func TestPagesArePersistent(t *testing.T) {
	slow.Test(t)
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

// TestHash compares base and overlay with a map while the overlay grows several times.
func TestHash(t *testing.T) {
	key := func(i uint32) uint64 { return String(fmt.Sprint("key", i%5000)) } // duplicates
	const base, all = 4000, 12000
	x := BuildHash(base, func(ord uint32) (uint64, bool) { return key(ord), ord%10 != 3 })
	early := x
	for ord := uint32(base); ord < all; ord++ {
		x.Add(new(Owner), key(ord), ord)
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
	if h := b.Later(0); !h.Next() || h.Edge != 6 || h.Other != 7 || h.Next() {
		t.Errorf("the overlay has %+v", h)
	}
	if !a.InBase(0) {
		t.Error("a snapshot sees a later edge")
	}
	if (&Adjacency{}).Simple() != true {
		t.Error("no edges join no pair twice")
	}
}

// TestRemove compares the overlays with lists while entries are added and removed. It also
// checks that earlier states stay the same.
func TestRemove(t *testing.T) {
	type entry struct{ key, ord uint32 }
	key := func(k uint32) uint64 { return String(fmt.Sprint(k)) }
	var x Hash
	var a Adjacency
	var live []entry
	type state struct {
		x    Hash
		a    Adjacency
		live []entry
	}
	var states []state
	check := func(what string, s *state) {
		t.Helper()
		if s.x.Overlay() != len(s.live) || s.a.Overlay() != len(s.live) {
			t.Fatalf("%s: the overlays have %d and %d entries, want %d", what, s.x.Overlay(), s.a.Overlay(), len(s.live))
		}
		for k := range uint32(40) {
			var want, found, listed []uint32
			for _, e := range s.live {
				if e.key == k {
					want = append(want, e.ord)
				}
			}
			for c := s.x.Find(key(k)); c.Next(); {
				found = append(found, c.Ord)
			}
			for h := s.a.Later(k << 10); h.Next(); {
				listed = append(listed, h.Edge)
			}
			slices.Sort(want)
			slices.Sort(found)
			slices.Sort(listed)
			if !slices.Equal(found, want) || !slices.Equal(listed, want) {
				t.Fatalf("%s: key %d has %d and edges %d, want %d", what, k, found, listed, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for step := range uint32(4000) {
		owner := new(Owner)
		for range 1 + r.IntN(3) {
			if n := len(live); n > 0 && (r.IntN(2) == 0 || n > 300) {
				i := r.IntN(n)
				e := live[i]
				live = slices.Delete(slices.Clone(live), i, i+1)
				x.Remove(owner, key(e.key), e.ord)
				a.Remove(owner, e.key<<10, e.ord)
				continue
			}
			e := entry{r.Uint32N(40), step*4 + r.Uint32N(4)}
			if slices.Contains(live, e) {
				continue
			}
			live = append(slices.Clip(live), e)
			x.Add(owner, key(e.key), e.ord)
			a.Add(owner, e.key<<10, e.ord, e.ord)
		}
		x.Remove(owner, key(3), 1<<30) // not in the index
		a.Remove(owner, 3, 1<<30)
		s := state{x, a, live}
		check("now", &s)
		if step%200 == 0 {
			states = append(states, s)
		}
	}
	for i := range states {
		check(fmt.Sprint("state ", i), &states[i])
	}
}

// TestRemoveIsBounded adds and removes ordinals under one hash. The work of a step must not
// grow with the number of entries removed before.
func TestRemoveIsBounded(t *testing.T) {
	var x Hash
	for ord := range uint32(100_000) {
		owner := new(Owner)
		x.Add(owner, 7, ord)
		if ord >= 8 {
			x.Remove(owner, 7, ord-8)
		}
	}
	if x.Overlay() != 8 {
		t.Errorf("the overlay has %d entries, want 8", x.Overlay())
	}
}

func TestBucketsFor(t *testing.T) {
	for n, want := range map[uint32]uint32{0: 1, 1: 1, 2: 2, 3: 4, 1 << 20: 1 << 20, 1<<20 + 1: 1 << 21, 1 << 31: 1 << 31, 1<<31 + 1: 1 << 31, math.MaxUint32: 1 << 31} {
		if got := bucketsFor(n); got != want {
			t.Errorf("%d ordinals need %d buckets, want %d", n, got, want)
		}
	}
}
