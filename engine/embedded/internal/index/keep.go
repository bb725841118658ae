package index

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Keep returns the index with a base that lists only the live edges. The levels and the overlay are those of a. The set `alive` is as long as that of
// all ordinals. The only possible error is that of the context.
func (a *Adjacency) Keep(ctx context.Context, alive engine.Bitmap) (Adjacency, error) {
	kept := *a
	var err error
	if a.base != nil {
		kept.base, err = a.base.keep(ctx, alive)
	}
	return kept, err
}

// SameBase reports whether two indexes have the same base. It is false if they have none.
func (a *Adjacency) SameBase(b *Adjacency) bool { return a.base != nil && a.base == b.base }

// WithBase returns the index with the base of another one.
func (a *Adjacency) WithBase(b *Adjacency) Adjacency {
	shared := *a
	shared.base = b.base
	return shared
}

// BaseEdges returns the greatest ordinal of an edge in the base, plus one. REQUIRES: a has a base.
func (a *Adjacency) BaseEdges() uint32 { return a.base.edges }

// keep returns a base that lists only the live edges.
func (b *adjacencyBase) keep(ctx context.Context, alive engine.Bitmap) (*adjacencyBase, error) {
	b.pending.Resolve(b.readForLookups) // it is read whole only once, and other callers walk on it
	n := 0
	for _, e := range b.edge {
		n += int(alive[e>>6] >> (e & 63) & 1)
	}
	if n == len(b.edge) {
		return b, nil
	}
	k := &adjacencyBase{off: make([]uint32, len(b.off)), edge: make([]uint32, n), other: make([]uint32, n), edges: b.edges, others: b.others}
	at := uint32(0)
	for node, from := range b.off[:len(b.off)-1] {
		if node%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
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
	return k, nil
}

// Bytes returns the memory of the base in bytes, or 0 if one of the other indexes has the same base.
func (a *Adjacency) Bytes(others ...*Adjacency) int64 {
	if a.base == nil || slices.ContainsFunc(others, func(o *Adjacency) bool { return o.base == a.base }) {
		return 0
	}
	return 4 * int64(len(a.base.off)+2*len(a.base.edge))
}
