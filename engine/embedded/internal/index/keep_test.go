package index

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

// TestKeep compares the kept edges of each node with those of the index that are alive.
func TestKeep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const n, later, nodes = 200, 30, 20
	ends := make([][2]uint32, n+later)
	for e := range ends {
		ends[e] = [2]uint32{rng.Uint32N(nodes), rng.Uint32N(nodes)}
	}
	a := BuildAdjacency(n, func(e uint32) (uint32, uint32, bool) { return ends[e][0], ends[e][1], e%7 != 0 })
	owner := new(Owner)
	for e := uint32(n); e < n+later; e++ {
		a.Add(owner, ends[e][0], ends[e][1], e)
	}
	draw := func() engine.Bitmap {
		alive := engine.NewBitmap(n + later)
		for e := range ends {
			if rng.IntN(2) == 0 {
				alive.Set(e)
			}
		}
		return alive
	}
	check := func(kept *Adjacency, alive engine.Bitmap) {
		t.Helper()
		multi := false
		for node := range uint32(nodes + 1) {
			edges, others := a.Base(node)
			var wantEdges, wantOthers []uint32
			for i, e := range edges {
				if alive.Get(int(e)) {
					multi = multi || len(wantOthers) > 0 && wantOthers[len(wantOthers)-1] == others[i]
					wantEdges, wantOthers = append(wantEdges, e), append(wantOthers, others[i])
				}
			}
			edges, others = kept.Base(node)
			if !slices.Equal(edges, wantEdges) || !slices.Equal(others, wantOthers) || !slices.Equal(kept.Others(node), wantOthers) {
				t.Fatalf("node %d keeps the edges %d to %d, want %d to %d", node, edges, others, wantEdges, wantOthers)
			}
			if d := kept.DegreeInOrder(node); int(d) != len(wantEdges) {
				t.Fatalf("node %d has the degree %d, want %d", node, d, len(wantEdges))
			}
			list := func(l Later) (all []uint32) {
				for l.Next() {
					all = append(all, l.Edge)
				}
				return all
			}
			if got, want := list(kept.Later(node)), list(a.Later(node)); !slices.Equal(got, want) {
				t.Fatalf("node %d has the later edges %d, want %d", node, got, want)
			}
		}
		if kept.Distinct() == multi {
			t.Errorf("Distinct is %t, and two edges join the same pair: %t", kept.Distinct(), multi)
		}
	}
	alive := draw()
	kept, err := a.Keep(t.Context(), alive)
	if err != nil {
		t.Fatal(err)
	}
	check(&kept, alive)
	if kept.Bytes(&a) == 0 || kept.Bytes(&a, &kept) != 0 {
		t.Errorf("the kept base needs %d bytes, and %d beside itself", kept.Bytes(&a), kept.Bytes(&a, &kept))
	}
	whole := engine.NewBitmap(n + later)
	for e := range ends {
		whole.Set(e)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Keep(ended, alive); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context has ended, Keep returns %v", err)
	}
	if all, err := a.Keep(t.Context(), whole); err != nil || all.base != a.base || all.Bytes(&kept, &a) != 0 {
		t.Error("with all edges alive there is a copy of the base")
	}
}

// TestKeepOfStored expects that a stored base has the blocks of the first neighbours after Keep has read it.
func TestKeepOfStored(t *testing.T) {
	const n = 100
	made := BuildAdjacency(n, func(e uint32) (uint32, uint32, bool) { return e / 4, e % 4, true })
	src := storedtest.Blocks{}
	if err := made.Blocks(0, "a", src.Add); err != nil {
		t.Fatal(err)
	}
	stored, _, ok := OpenAdjacency(made.AppendDescriptor(nil, 0), "a", src)
	if !ok {
		t.Fatal("the descriptor is malformed")
	}
	alive := engine.NewBitmap(n)
	for e := 1; e < n; e++ {
		alive.Set(e)
	}
	kept, err := stored.Keep(t.Context(), alive)
	if err != nil {
		t.Fatal(err)
	}
	if stored.base.near.blocks == nil {
		t.Error("walks to the neighbours of the whole index have no blocks")
	}
	if others := stored.Others(0); !slices.Equal(others, []uint32{0, 1, 2, 3}) {
		t.Errorf("node 0 leads to %d", others)
	}
	if others := kept.Others(0); !slices.Equal(others, []uint32{1, 2, 3}) {
		t.Errorf("without its first edge, node 0 leads to %d", others)
	}
}
