package index

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// KeptBase is what [Adjacency.Keep] did last: the base that it was for, the edges that were alive, and the index that it returned.
type KeptBase struct {
	Of, Kept *Adjacency
	Alive    engine.Bitmap
}

// Keep returns the index with a base that lists only the live edges. The levels and the overlay are those of a. The result shares the base of
// `last`, which may be zero, if the same edges of the same base are alive. The set `alive` is as long as that of all ordinals.
func (a *Adjacency) Keep(alive engine.Bitmap, last KeptBase) Adjacency {
	kept := *a
	switch {
	case a.base == nil:
	case last.Of != nil && last.Of.base == a.base && (sameBits(alive, last.Alive, a.base.edges) || fault.On(fault.KeptBaseStale)):
		kept.base = last.Kept.base
	default:
		kept.base = a.base.keep(alive)
	}
	return kept
}

// sameBits reports whether two sets have the same numbers below n.
func sameBits(a, b engine.Bitmap, n uint32) bool {
	words, rest := n/64, n%64
	return slices.Equal(a[:words], b[:words]) && (rest == 0 || (a[words]^b[words])<<(64-rest) == 0)
}

// keep returns a base that lists only the live edges.
func (b *adjacencyBase) keep(alive engine.Bitmap) *adjacencyBase {
	b.pending.Resolve(b.readForLookups) // it is read whole only once, and other callers walk on it
	n := 0
	for _, e := range b.edge {
		n += int(alive[e>>6] >> (e & 63) & 1)
	}
	if n == len(b.edge) {
		return b
	}
	k := &adjacencyBase{off: make([]uint32, len(b.off)), edge: make([]uint32, n), other: make([]uint32, n), edges: b.edges, others: b.others}
	at := uint32(0)
	for node, from := range b.off[:len(b.off)-1] {
		k.off[node] = at
		for i, e := range b.edge[from:b.off[node+1]] {
			if alive[e>>6]>>(e&63)&1 != 0 {
				other := b.other[int(from)+i]
				k.edge[at], k.other[at] = e, other
				k.multi = k.multi || at > k.off[node] && k.other[at-1] == other
				at++
			}
		}
	}
	k.off[len(k.off)-1] = at
	return k
}

// Bytes returns the memory of the base in bytes, or 0 if one of the other indexes has the same base.
func (a *Adjacency) Bytes(others ...*Adjacency) int64 {
	if a.base == nil || slices.ContainsFunc(others, func(o *Adjacency) bool { return o.base == a.base }) {
		return 0
	}
	return 4 * int64(len(a.base.off)+2*len(a.base.edge))
}
