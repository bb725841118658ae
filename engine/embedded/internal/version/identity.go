package version

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Identity returns the number of the unique rule that identifies an edge by its ends: the first rule with src and dst and
// without a null. The function `val` returns the value of a property.
func (t *Type) Identity(val func(p int) value.Value) (rule int, ok bool) {
	for i := range t.Unique {
		if t.IdentifiesEdges(i) && !slices.ContainsFunc(t.Tuples[i], func(p int) bool { return p != Source && p != Target && val(p).IsNull() }) {
			return i, true
		}
	}
	return 0, false
}

// IdentifiesEdges reports whether unique rule i has both ends of an edge.
func (t *Type) IdentifiesEdges(i int) bool {
	return t.Entity == plan.Edge && slices.Contains(t.Tuples[i], Source) && slices.Contains(t.Tuples[i], Target)
}

// FindTuple returns the live entity with the given values in unique rule i. The ends are those of an edge.
func (t *Table) FindTuple(i int, src, dst uint32, val func(p int) value.Value) (ord uint32, ok bool) {
	return t.findTuple(i, src, dst, val, NoOrd)
}

// findTuple returns the live entity, other than `not`, with the given values in unique rule i.
func (t *Table) findTuple(i int, src, dst uint32, val func(p int) value.Value, not uint32) (ord uint32, ok bool) {
	tuple := t.Type.Tuples[i]
	h, ok := t.tupleHash(tuple, val, src, dst)
	if !ok {
		return 0, false
	}
	for c := t.idx[i].Find(h); c.Next(); {
		if c.Ord != not && t.Alive(c.Ord) && t.hasTuple(tuple, c.Ord, src, dst, val) {
			return c.Ord, true
		}
	}
	return 0, false
}

// hasTuple reports whether an entity has the given values in a tuple.
func (t *Table) hasTuple(tuple []int, ord, src, dst uint32, val func(p int) value.Value) bool {
	return !slices.ContainsFunc(tuple, func(p int) bool {
		if p != Source && p != Target {
			return !Same(t.Value(ord, p), val(p))
		}
		s, d := t.Ends(ord)
		return p == Source && s != src || p == Target && d != dst
	})
}

// UniqueNames lists the names of the members of unique rule i.
func (t *Type) UniqueNames(i int) string {
	names := make([]string, len(t.Tuples[i]))
	for k, p := range t.Tuples[i] {
		switch p {
		case Source:
			names[k] = "src"
		case Target:
			names[k] = "dst"
		default:
			names[k] = t.Props[p].Name
		}
	}
	return strings.Join(names, ", ")
}
