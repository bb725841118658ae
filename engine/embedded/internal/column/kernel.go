package column

import (
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Kernel compares the values of one column with a constant, 64 at a time. The next Prepare
// reuses its memory.
type Kernel struct {
	col  *Column    // the column with the values
	kind kernelKind // how the kernel tests a value
	not  bool       // keep the values that are not between the bounds

	lo, width   uint64        // for integers: x-lo ≤ width, computed with as many bits as x has
	from, upto  float64       // for floats; both inclusive
	op          plan.Op       // for texts: the comparison
	text        string        // for texts: the constant
	codeMatches engine.Bitmap // by dictionary code: whether the text of the code satisfies the comparison
}

// kernelKind says how a kernel tests the values of its column.
type kernelKind uint8

const (
	keepNone     kernelKind = iota // no value
	keepAll                        // every value that is not null
	keepBits                       // the set bits of a Bool
	keepInts32                     // 32-bit integers within the bounds, or outside if `not` is true
	keepInts64                     // 64-bit integers, likewise
	keepFloats32                   // values of type F32, likewise
	keepFloats64                   // values of type F64, likewise
	keepCodes                      // integers that are dictionary codes
	keepTruth                      // texts whose dictionary code is in codeMatches
	keepTexts                      // texts that satisfy op
)

// HasKernel reports whether there is a kernel that compares values of type t with a
// constant of the other type.
func HasKernel(op plan.Op, t, constant value.Type) bool {
	switch {
	case t.List || constant.List || op == plan.In || op == plan.Matches:
		return false
	case t.Kind == value.String:
		return constant.Kind == value.String
	case op == plan.Contains || op == plan.StartsWith:
		return false
	case t.Kind.IsFloat():
		return constant.Kind.IsFloat()
	case t.Kind == value.U64:
		return constant.Kind == value.U64
	}
	return SameOrder(t.Kind, constant.Kind)
}

// SameOrder reports whether values of the kinds a and b can be compared, and have the same order as
// their int64 payloads.
func SameOrder(a, b value.Kind) bool {
	return a.Storage().IsSigned() && (a == b || a.IsInteger() && b.IsInteger() && b.Storage().IsSigned())
}

// Prepare makes the kernel compare the values of c with v. HasKernel must be true for their
// types, and v must not be null.
func (k *Kernel) Prepare(c *Column, op plan.Op, v value.Value) {
	c.ready()
	k.col, k.op, k.not = c, op, op == plan.Ne
	switch {
	case c.allNull:
		k.kind = keepNone
	case c.typ.Kind == value.String:
		k.prepareText(v.Str())
	case c.typ.Kind.IsFloat():
		k.prepareFloat(v.Float())
	case c.typ.Kind == value.U64:
		k.prepareUint(v.Bits())
	default:
		k.prepareInt(int64(v.Bits()))
	}
}

// Forget clears the references to the column and the constant. The kernel keeps its own
// memory.
func (k *Kernel) Forget() { k.col, k.text = nil, "" }

// Cost returns the relative cost of the kernel. A conjunction should apply cheap kernels
// first.
func (k *Kernel) Cost() int {
	cost := 2
	switch k.kind {
	case keepNone, keepAll, keepBits:
		return 0
	case keepInts32, keepCodes:
	case keepInts64, keepFloats32, keepFloats64, keepTruth:
		cost = 4
	case keepTexts:
		cost = 8
	}
	if k.op == plan.Eq {
		cost--
	}
	return cost
}

// prepareInt prepares a comparison of signed integers with x.
func (k *Kernel) prepareInt(x int64) {
	lowest, greatest := int64(math.MinInt64), int64(math.MaxInt64)
	switch k.kind = keepInts64; k.col.typ.Kind.Storage() {
	case value.InBits:
		k.kind, lowest, greatest = keepBits, 0, 1
	case value.InInt32:
		k.kind, lowest, greatest = keepInts32, math.MinInt32, math.MaxInt32
	case value.InUint32:
		k.kind, lowest, greatest = keepInts32, 0, math.MaxUint32
	}
	lo, hi, some := lowest, greatest, true
	switch k.op {
	case plan.Eq, plan.Ne:
		lo, hi = x, x
	case plan.Lt:
		hi, some = x-1, x > math.MinInt64
	case plan.Le:
		hi = x
	case plan.Gt:
		lo, some = x+1, x < math.MaxInt64
	case plan.Ge:
		lo = x
	case plan.Contains, plan.StartsWith, plan.In, plan.Matches:
	}
	lo, hi = max(lo, lowest), min(hi, greatest)
	if !k.bounded(some && lo <= hi) {
		return
	}
	k.lo, k.width = uint64(lo), uint64(hi)-uint64(lo)
	if k.kind == keepBits {
		switch {
		case lo < hi:
			k.kind = keepAll
			if k.not {
				k.kind = keepNone
			}
		case lo == 0:
			k.not = !k.not
		}
	}
}

// prepareUint prepares a comparison of unsigned integers with x.
func (k *Kernel) prepareUint(x uint64) {
	k.kind = keepInts64
	lo, hi, some := uint64(0), uint64(math.MaxUint64), true
	switch k.op {
	case plan.Eq, plan.Ne:
		lo, hi = x, x
	case plan.Lt:
		hi, some = x-1, x > 0
	case plan.Le:
		hi = x
	case plan.Gt:
		lo, some = x+1, x < math.MaxUint64
	case plan.Ge:
		lo = x
	case plan.Contains, plan.StartsWith, plan.In, plan.Matches:
	}
	if k.bounded(some) {
		k.lo, k.width = lo, hi-lo
	}
}

// bounded returns its argument `some`, which says whether any value can be between the bounds. If
// it is false, bounded first sets a kind that decides the comparison for every value: keepAll or
// keepNone.
func (k *Kernel) bounded(some bool) bool {
	switch {
	case some:
	case k.not:
		k.kind = keepAll
	default:
		k.kind = keepNone
	}
	return some
}

// prepareFloat prepares a comparison of floats with x.
func (k *Kernel) prepareFloat(x float64) {
	if k.kind = keepFloats64; k.col.typ.Kind == value.F32 {
		k.kind = keepFloats32
	}
	k.from, k.upto = math.Inf(-1), math.Inf(1)
	switch k.op {
	case plan.Eq, plan.Ne:
		k.from, k.upto = x, x
	case plan.Lt:
		if k.upto = math.Nextafter(x, math.Inf(-1)); math.IsInf(x, -1) {
			k.kind = keepNone
		}
	case plan.Le:
		k.upto = x
	case plan.Gt:
		if k.from = math.Nextafter(x, math.Inf(1)); math.IsInf(x, 1) {
			k.kind = keepNone
		}
	case plan.Ge:
		k.from = x
	case plan.Contains, plan.StartsWith, plan.In, plan.Matches:
	}
	if math.IsNaN(x) {
		k.kind = keepNone // even != is false for NaN
	}
}

// prepareText prepares a comparison of texts with s.
func (k *Kernel) prepareText(s string) {
	c := k.col
	k.text, k.kind = s, keepTexts
	if c.code == nil {
		return
	}
	entries := len(c.off) - 1
	if k.op == plan.Eq || k.op == plan.Ne {
		for i := range entries {
			if a, b := c.off[i], c.off[i+1]; int(b-a) == len(s) && string(c.data[a:b]) == s {
				k.kind, k.lo, k.width = keepCodes, uint64(i), 0
				return
			}
		}
		k.bounded(false)
		return
	}
	k.kind = keepTruth
	k.codeMatches = resize(k.codeMatches, (entries+63)/64)
	clear(k.codeMatches)
	for i := range entries {
		if TextHolds(k.op, unsafeText(c.data[c.off[i]:c.off[i+1]]), s) {
			k.codeMatches.Set(i)
		}
	}
}

// KernelRows is the maximum number of rows per call of Narrow.
const KernelRows = 4096

// Narrow clears the bits of rows for which the comparison is not true. Bit i is for row first+i.
// `first` must be a multiple of 64, and the bits of rows after the column's end must be clear.
func (k *Kernel) Narrow(first uint32, sel []uint64) {
	c := k.col
	if k.kind == keepNone {
		clear(sel)
		return
	}
	if c.valid != nil {
		for i, w := range c.valid[first/64:][:len(sel)] {
			sel[i] &= w
		}
	}
	n := min(len(sel)*64, c.n-int(first))
	switch k.kind {
	case keepNone, keepAll:
	case keepBits:
		flip := uint64(0)
		if k.not {
			flip = ^flip
		}
		for i, w := range c.bits[first/64:][:len(sel)] {
			sel[i] &= w ^ flip
		}
	case keepInts32:
		k.narrow32(c.w32[first:][:n], sel)
	case keepCodes:
		k.narrow32(signed(c.code[first:][:n]), sel)
	case keepInts64:
		k.narrow64(c.w64[first:][:n], sel)
	case keepFloats32:
		k.narrowFloats(sel, func(i int) float64 { return float64(c.f32[int(first)+i]) })
	case keepFloats64:
		k.narrowFloats(sel, func(i int) float64 { return c.f64[int(first)+i] })
	case keepTruth:
		code := c.code[first:][:n]
		eachBit(sel, func(i int) bool { return k.codeMatches.Get(int(code[i])) })
	case keepTexts:
		k.narrowTexts(int(first), sel)
	}
}

// narrow32 clears the bits in sel of those values of x that the kernel does not keep. Bit i stands
// for x[i].
func (k *Kernel) narrow32(x []int32, sel []uint64) {
	var found [KernelRows / 64]uint64
	words := len(x) / 64
	lo, width := uint32(k.lo), uint32(k.width)
	between32(found[:words], x[:words*64], lo, width)
	for i, v := range x[words*64:] {
		if uint32(v)-lo <= width {
			found[words] |= 1 << i
		}
	}
	flip := uint64(0)
	if k.not {
		flip = ^flip
	}
	for i := range sel {
		sel[i] &= found[i] ^ flip
	}
}

// narrowFloats compares floats; it never keeps a NaN.
func (k *Kernel) narrowFloats(sel []uint64, at func(i int) float64) {
	from, upto, not := k.from, k.upto, k.not
	eachBit(sel, func(i int) bool {
		x := at(i)
		return x == x && (x >= from && x <= upto) != not
	})
}

// narrowTexts clears the bits in sel of the texts that the kernel does not keep. Bit 0 stands for
// the text at position `first`.
func (k *Kernel) narrowTexts(first int, sel []uint64) {
	c := k.col
	off := c.off[first:]
	if k.op != plan.Eq && k.op != plan.Ne {
		eachBit(sel, func(i int) bool { return TextHolds(k.op, c.Str(uint32(first+i)), k.text) })
		return
	}
	eachBit(sel, func(i int) bool {
		a, b := off[i], off[i+1]
		return (int(b-a) == len(k.text) && string(c.data[a:b]) == k.text) != k.not
	})
}

// narrow64 clears the bits in sel of those values of x that the kernel does not keep. Bit i stands
// for x[i].
func (k *Kernel) narrow64(x []int64, sel []uint64) {
	lo, width := k.lo, k.width
	for w := range sel {
		if sel[w] == 0 {
			continue
		}
		found := uint64(0)
		for i, v := range x[w*64 : min(w*64+64, len(x))] {
			bit := uint64(0)
			if uint64(v)-lo <= width {
				bit = 1
			}
			found |= bit << i
		}
		if k.not {
			found = ^found
		}
		sel[w] &= found
	}
}

// eachBit clears the set bits for which the function `keep` returns false.
func eachBit(sel []uint64, keep func(i int) bool) {
	for w, left := range sel {
		for ; left != 0; left &= left - 1 {
			if b := bits.TrailingZeros64(left); !keep(w*64 + b) {
				sel[w] &^= 1 << b
			}
		}
	}
}

// TextHolds reports whether a comparison of two texts is true.
func TextHolds(op plan.Op, a, b string) bool {
	switch op {
	case plan.Eq:
		return a == b
	case plan.Ne:
		return a != b
	case plan.Contains:
		return strings.Contains(a, b)
	case plan.StartsWith:
		return strings.HasPrefix(a, b)
	case plan.Lt:
		return a < b
	case plan.Le:
		return a <= b
	case plan.Gt:
		return a > b
	case plan.Ge:
		return a >= b
	}
	return false
}

// between32Go sets the bits of the values x for which x-lo ≤ width, 64 values per word.
func between32Go(found []uint64, x []int32, lo, width uint32) {
	for w := range found {
		word := uint64(0)
		for i, v := range x[w*64:][:64] {
			bit := uint64(0)
			if uint32(v)-lo <= width {
				bit = 1
			}
			word |= bit << i
		}
		found[w] = word
	}
}

// unsafeText returns b as a string without a copy.
func unsafeText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// signed returns the same memory as signed integers.
func signed(x []uint32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
