package exec

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestShares lets goroutines pass over the same units. Exactly one takes each of them.
func TestShares(t *testing.T) {
	const goroutines, number = 5, 1000
	var next atomic.Int64
	var taken [number]atomic.Int32
	var wait sync.WaitGroup
	for range goroutines {
		s := newShare(&next, true)
		wait.Go(func() {
			for i := range number {
				if s.take() {
					taken[i].Add(1)
				}
			}
		})
	}
	wait.Wait()
	for i := range taken {
		if n := taken[i].Load(); n != 1 {
			t.Errorf("%d goroutines take unit %d", n, i)
		}
	}
	if s := (*share)(nil); !s.take() {
		t.Error("without a share, a unit is not taken")
	}
}

// TestHelpers takes all helpers.
func TestHelpers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, want := range []int32{3, 0} {
		n := takeHelpers()
		defer func() { helping.Add(-n) }()
		if n != want {
			t.Errorf("%d helpers are free, want %d", n, want)
		}
	}
}

// TestEdgeSet compares sets with maps.
func TestEdgeSet(t *testing.T) {
	type pair struct{ from, to uint32 }
	rng := rand.New(rand.NewPCG(3, 4))
	for _, undirected := range []bool{false, true} {
		for _, edges := range []int{0, 1, 2, 3, 100, 5000} {
			set, all := newEdgeSet(edges), map[pair]bool{}
			set.undirected = undirected
			nodes := 1 + edges/4
			for range edges {
				p := pair{uint32(rng.IntN(nodes)), uint32(rng.IntN(nodes))}
				all[p] = true
				set.add(p.from, p.to)
			}
			for range 4 * nodes {
				p := pair{uint32(rng.IntN(nodes)), uint32(rng.IntN(nodes + 1))}
				want := all[p] || undirected && all[pair{p.to, p.from}]
				if set.has(p.from, p.to) != want {
					t.Fatalf("undirected %t, %d edges: %d to %d is found: %t", undirected, edges, p.from, p.to, !want)
				}
			}
		}
	}
}
