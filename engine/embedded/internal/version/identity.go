package version

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// FindTuple returns the live entity with the given values in unique rule i. The ends are those of an edge.
func FindTuple(t *Table, i int, src, dst uint32, val func(p int) value.Value) (ord uint32, ok bool) {
	return findTuple(t, i, src, dst, val, NoOrd)
}

// findTuple returns the live entity, other than `not`, with the given values in unique rule i.
func findTuple(t *Table, i int, src, dst uint32, val func(p int) value.Value, not uint32) (ord uint32, ok bool) {
	tuple := t.Type.Tuples[i]
	h, ok := tupleHash(tuple, val, src, dst)
	if !ok {
		return 0, false
	}
	for c := t.idx[i].Find(h); c.Next(); {
		if c.Ord != not && t.Alive(c.Ord) && hasTuple(t, tuple, c.Ord, src, dst, val) {
			return c.Ord, true
		}
	}
	return 0, false
}

// hasTuple reports whether an entity has the given values in a tuple.
func hasTuple(t *Table, tuple []int, ord, src, dst uint32, val func(p int) value.Value) bool {
	return !slices.ContainsFunc(tuple, func(p int) bool {
		if p != schema.Source && p != schema.Target {
			return !schema.Same(t.Value(ord, p), val(p))
		}
		s, d := t.Ends(ord)
		return p == schema.Source && s != src || p == schema.Target && d != dst
	})
}
