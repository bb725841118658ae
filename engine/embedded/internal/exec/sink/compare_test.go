package sink

import (
	"cmp"
	"math"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestHeads checks that heads have the order of the keys. If the function `heads` reports that the
// heads are exact, different keys must have different heads.
func TestHeads(t *testing.T) {
	texts := []string{"", "\x00", "a", "a\x00", "ab", "abcdefgh", "abcdefgh\x00", "abcdefghi", "\u00e9", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	floats := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1, math.Inf(1), math.NaN(), -math.NaN()}
	ints := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	vecs := map[string]*column.Vec{}
	add := func(name string, typ value.Type, n int, fill func(v *column.Vec)) {
		for _, nulls := range []bool{false, true} {
			v := new(column.Vec)
			v.Reset(typ.Optional(), n)
			fill(v)
			if nulls {
				v.SetNull(n / 2)
				name += " and null"
			}
			vecs[name] = v
		}
	}
	add("texts", value.Of(value.String), len(texts), func(v *column.Vec) { copy(v.Strings, texts) })
	add("floats", value.Of(value.F64), len(floats), func(v *column.Vec) { copy(v.Floats, floats) })
	add("numbers", value.Of(value.I64), len(ints), func(v *column.Vec) { copy(v.Ints, ints) })
	add("unsigned", value.Of(value.U64), len(ints), func(v *column.Vec) { copy(v.Ints, ints) })
	for name, v := range vecs {
		n := len(v.Strings) + len(v.Floats) + len(v.Ints)
		for _, desc := range []bool{false, true} {
			key, list := &SortKey{Vec: v, Desc: desc}, make([]entry, n)
			exact := key.heads(list)
			for i, a := range list {
				for k, b := range list {
					want := key.Compare(uint32(i), uint32(k))
					if got := cmp.Compare(a.head, b.head); got != want && (got != 0 || exact) {
						t.Errorf("%s, desc %t: the heads of %d and %d compare as %d, the keys as %d", name, desc, i, k, got, want)
					}
				}
			}
		}
	}
}
