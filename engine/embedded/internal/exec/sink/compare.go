package sink

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// entry represents a row during sorting. head is the first bytes of the row's first sort
// key, as a number that has the same order as the keys. Comparing heads decides most
// comparisons.
type entry struct {
	head uint64 // the first bytes of the key
	row  uint32 // number of the row
}

// ascends reports whether the heads are strictly ascending.
func ascends(list []entry) bool {
	for i := 1; i < len(list); i++ {
		if list[i].head <= list[i-1].head {
			return false
		}
	}
	return true
}

// heads fills list with the rows in their order and with the heads of their keys. The result
// `exact` reports whether rows with equal heads have equal keys.
func (k *SortKey) heads(list []entry) (exact bool) {
	switch v := k.Vec; {
	case v == nil && k.shared != nil:
		noHeads(list)
	case v == nil && k.sorted:
		for i, ord := range k.ords {
			list[i] = entry{uint64(ord), uint32(i)}
		}
		exact = true
	case v == nil:
		for i, ord := range k.ords {
			list[i] = entry{textHead(k.table.ID(ord)), uint32(i)}
		}
	case v.Type.List:
		noHeads(list)
	default:
		exact = scalarHeads(v, list)
	}
	if k.Vec != nil && k.Vec.Valid != nil {
		for i := range list {
			if k.Vec.IsNull(i) {
				list[i].head = 0 // nulls come first
			}
		}
		exact = false
	}
	if k.Desc {
		for i := range list {
			list[i].head = ^list[i].head
		}
	}
	return exact
}

// scalarHeads sets the sort heads of scalar values. The result `exact` reports whether equal heads
// mean equal values.
func scalarHeads(v *column.Vec, list []entry) (exact bool) {
	switch v.Type.Kind.Storage() {
	case value.InText, value.InBytes:
		for i, s := range v.Strings[:len(list)] {
			list[i] = entry{textHead(s), uint32(i)}
		}
		return false
	case value.InFloat32, value.InFloat64:
		for i, x := range v.Floats[:len(list)] {
			list[i] = entry{floatHead(x), uint32(i)}
		}
	case value.InUint64:
		for i, x := range v.Ints[:len(list)] {
			list[i] = entry{uint64(x), uint32(i)}
		}
	case value.InVector, value.InNone:
		noHeads(list)
		return false
	default:
		for i, x := range v.Ints[:len(list)] {
			list[i] = entry{uint64(x) ^ 1<<63, uint32(i)}
		}
	}
	return true
}

// noHeads fills the list with row numbers and no head, so that only full comparisons order the
// rows.
func noHeads(list []entry) {
	for i := range list {
		list[i] = entry{0, uint32(i)}
	}
}

// textHead returns the first eight bytes of a text as a big-endian number.
func textHead(s string) uint64 {
	if len(s) >= 8 {
		return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
			uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
	}
	var h uint64
	for i := range len(s) {
		h |= uint64(s[i]) << (56 - 8*i)
	}
	return h
}

// floatHead returns a number with the order of compareFloats: NaN comes last, and the zeros
// are equal.
func floatHead(x float64) uint64 {
	switch {
	case math.IsNaN(x):
		return math.MaxUint64
	case x == 0:
		return 1 << 63
	}
	b := math.Float64bits(x)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// Compare compares the keys of rows a and b in the order that the read asks for.
func (k *SortKey) Compare(a, b uint32) int {
	if k.Vec == nil {
		x, y := k.ords[a], k.ords[b]
		if x == y {
			return 0
		}
		c := 0
		if k.shared != nil {
			c = k.shared.Compare(x, y)
		} else if k.sorted {
			c = cmp.Compare(x, y)
		} else {
			c = strings.Compare(k.table.ID(x), k.table.ID(y))
		}
		if k.Desc {
			return -c
		}
		return c
	}
	c := compareAt(k.Vec, int(a), int(b))
	if k.Desc {
		return -c
	}
	return c
}

// compareAt compares two values of a vector. Nulls come first, NaN comes last.
func compareAt(v *column.Vec, a, b int) int {
	if v.Valid != nil {
		switch x, y := v.Valid.Get(a), v.Valid.Get(b); {
		case !x && !y:
			return 0
		case !x:
			return -1
		case !y:
			return 1
		}
	}
	if v.Type.List {
		return compareLists(v.Lists[a], v.Lists[b])
	}
	switch v.Type.Kind.Storage() {
	case value.InText, value.InBytes:
		return strings.Compare(v.Strings[a], v.Strings[b])
	case value.InFloat32, value.InFloat64:
		return compareFloats(v.Floats[a], v.Floats[b])
	case value.InVector:
		return slices.Compare(v.Vectors[a], v.Vectors[b])
	case value.InUint64:
		return cmp.Compare(uint64(v.Ints[a]), uint64(v.Ints[b]))
	}
	return cmp.Compare(v.Ints[a], v.Ints[b])
}

// compareFloats compares two numbers. NaN is greater than every other number and equals itself.
func compareFloats(x, y float64) int {
	switch xn, yn := math.IsNaN(x), math.IsNaN(y); {
	case xn && yn:
		return 0
	case xn:
		return 1
	case yn:
		return -1
	}
	return cmp.Compare(x, y)
}

// compareLists compares two lists element by element.
func compareLists(a, b value.Value) int {
	return slices.CompareFunc(a.Elems(), b.Elems(), func(x, y value.Value) int {
		c, _ := value.Compare(x, y)
		return c
	})
}
