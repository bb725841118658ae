package schema

import (
	"encoding/binary"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
)

// AppendTuples appends the members of the type's indexed tuples.
func (t *Type) AppendTuples(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(t.Tuples)))
	for _, tuple := range t.Tuples {
		dst = binary.AppendUvarint(dst, uint64(len(tuple)))
		for _, p := range tuple {
			dst = codec.AppendText(dst, t.member(p))
		}
	}
	return dst
}

// SameTuples reads the members of indexed tuples and reports whether they equal the type's.
func SameTuples(r *codec.Reader, t *Type) bool {
	n := r.Count()
	same := n == len(t.Tuples)
	for i := range n {
		members := r.Count()
		same = same && members == len(t.Tuples[i])
		for k := range members {
			name := r.Text()
			same = same && name == t.member(t.Tuples[i][k])
		}
	}
	return same
}

// member returns the name of a member of a tuple.
func (t *Type) member(p int) string {
	switch p {
	case Source:
		return "src"
	case Target:
		return "dst"
	}
	return t.Props[p].Name
}

// SameTuple looks for a tuple of a new type in its previous type. The parameter `now` is the new
// type, and t is the previous one. SameTuple returns the index of the tuple of t that has the same
// values as the given tuple of `now`, or -1 if no tuple of t has the same values.
func (t *Type) SameTuple(now *Type, tuple []int, tc TypeCarry) int {
	before := make([]int, len(tuple))
	for i, p := range tuple {
		switch {
		case p < 0:
			before[i] = p
		case !tc.Keeps(t, now, p):
			return -1
		default:
			before[i] = tc.Props[p]
		}
	}
	return slices.IndexFunc(t.Tuples, func(old []int) bool { return slices.Equal(old, before) })
}
