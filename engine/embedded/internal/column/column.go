// Package column holds the values of one property of many entities as arrays in Arrow's
// buffer layout: validity bitmaps, fixed-width values, offsets and bytes, dictionary codes.
package column

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Column is an immutable array of values of one type, including nulls. The storage of the type's
// kind determines which group of fields is set:
//
//	InBits              bits
//	InInt32, InUint32   w32 (two's complement)
//	InInt64, InUint64   w64 (two's complement)
//	InFloat32           f32
//	InFloat64           f64
//	InVector            f32 (a vector takes Dim places)
//	InText, InBytes     off and data; or code, and off and data of the dictionary
//	a list              off and elem
type Column struct {
	typ   value.Type    // type of the values
	n     int           // number of values
	valid engine.Bitmap // nil when no value is null
	bits  engine.Bitmap // values of type Bool
	w32   []int32       // values of 32-bit integer types
	w64   []int64       // values of 64-bit integer types
	f32   []float32     // values of type F32, or the components of vectors
	f64   []float64     // values of type F64
	off   []uint32      // start of each text or list in `data` or `elem`, then the end of the last
	data  []byte        // bytes of texts
	code  []uint32      // by value: position of the text in the dictionary
	elem  *Column       // elements of lists
	// allNull is true if every value is null; then valid is the only array.
	allNull bool

	pending Pending // whether the arrays, including those of `elem`, must still be read
	stored  stored  // where the arrays are stored

	codes atomic.Pointer[Codes] // computed by the first call of Codes
}

// Type returns the type of the values.
func (c *Column) Type() value.Type { return c.typ }

// Len returns the number of values.
func (c *Column) Len() int { return c.n }

// Bytes returns an upper bound of the size of the values in the memory of a Builder, in bytes.
func (c *Column) Bytes() int64 {
	c.ready()
	n := int64(c.n) // one byte per value: whether it is null, or a Bool
	n += 4*int64(len(c.w32)) + 8*int64(len(c.w64)) + 4*int64(len(c.f32)) + 8*int64(len(c.f64)) + 4*int64(len(c.off))
	if c.elem != nil {
		n += c.elem.Bytes()
	}
	if c.code == nil {
		return n + int64(len(c.data))
	}
	longest := uint32(0)
	for i := 1; i < len(c.off); i++ {
		longest = max(longest, c.off[i]-c.off[i-1])
	}
	return n + int64(len(c.code))*int64(4+longest)
}

// IsNull reports whether value i is null.
func (c *Column) IsNull(i uint32) bool {
	if c.pending.Left() {
		if one := c.one(i); one != nil {
			c, i = one, 0
		}
	}
	return c.null(i)
}

// null reports whether value i is null.
func (c *Column) null(i uint32) bool { return c.valid != nil && !c.valid.Get(int(i)) }

// Str returns a String, or the bytes of another kind that is stored as bytes; see value.Value.Raw. The result aliases the column.
func (c *Column) Str(i uint32) string {
	if c.pending.Left() {
		if one := c.one(i); one != nil {
			c, i = one, 0
		}
	}
	return c.str(i)
}

// str returns text i. REQUIRES: the arrays have been read.
func (c *Column) str(i uint32) string {
	if c.code != nil {
		i = c.code[i]
	}
	a, b := c.off[i], c.off[i+1]
	if a == b {
		return ""
	}
	return unsafe.String(&c.data[a], b-a)
}

// Value returns value i. Its memory aliases the column.
func (c *Column) Value(i uint32) value.Value {
	if c.pending.Left() {
		if one := c.one(i); one != nil {
			c, i = one, 0
		}
	}
	if c.null(i) {
		return value.Null
	}
	if c.typ.List {
		a, b := c.off[i], c.off[i+1]
		elems := make([]value.Value, b-a)
		for j := range elems {
			elems[j] = c.elem.Value(a + uint32(j))
		}
		return value.OfList(c.typ.Kind, elems)
	}
	switch c.typ.Kind.Storage() {
	case value.InText:
		return value.OfString(c.str(i))
	case value.InBytes:
		return value.OfRaw(c.typ.Kind, strings.Clone(c.str(i)))
	case value.InFloat32:
		return value.OfF32(c.f32[i])
	case value.InFloat64:
		return value.OfF64(c.f64[i])
	case value.InVector:
		return value.OfVector(c.vector(i))
	}
	return value.OfBits(c.typ.Kind, uint64(c.integer(i)))
}

// Gather writes the values at the given rows into dst, starting at the position `at`. The caller
// must have reset dst to the column's type and a sufficient length.
func (c *Column) Gather(dst *Vec, at int, rows []uint32) {
	if c.pending.Left() && c.gatherByPieces(dst, at, rows) {
		return
	}
	if c.valid != nil {
		for i, r := range rows {
			if !c.valid.Get(int(r)) {
				dst.SetNull(at + i)
			}
		}
		if c.allNull {
			forget(dst, at, len(rows))
			return
		}
	}
	if c.typ.List {
		for i, r := range rows {
			if !c.null(r) {
				dst.Lists[at+i] = c.Value(r)
			}
		}
		return
	}
	switch c.typ.Kind.Storage() {
	case value.InText, value.InBytes:
		out := dst.Strings[at : at+len(rows)]
		for i, r := range rows {
			out[i] = c.str(r)
		}
	case value.InInt32:
		out := dst.Ints[at : at+len(rows)]
		for i, r := range rows {
			out[i] = int64(c.w32[r])
		}
	case value.InUint32:
		out := dst.Ints[at : at+len(rows)]
		for i, r := range rows {
			out[i] = int64(uint32(c.w32[r]))
		}
	case value.InInt64, value.InUint64:
		out := dst.Ints[at : at+len(rows)]
		for i, r := range rows {
			out[i] = c.w64[r]
		}
	case value.InBits:
		for i, r := range rows {
			dst.Ints[at+i] = int64(c.bits[r>>6] >> (r & 63) & 1)
		}
	case value.InFloat32:
		for i, r := range rows {
			dst.Floats[at+i] = float64(c.f32[r])
		}
	case value.InFloat64:
		for i, r := range rows {
			dst.Floats[at+i] = c.f64[r]
		}
	case value.InVector:
		for i, r := range rows {
			dst.Vectors[at+i] = c.vector(r)
		}
	case value.InNone:
	}
}

// vector returns the vector at place i of f32.
func (c *Column) vector(i uint32) []float32 {
	// Compute with int: the position may not fit into 32 bits.
	d := c.typ.Dim
	at := int(i) * d
	return c.f32[at : at+d : at+d]
}

// integer returns the payload of a value that is stored as an integer.
func (c *Column) integer(i uint32) int64 {
	switch c.typ.Kind.Storage() {
	case value.InBits:
		return int64(c.bits[i>>6] >> (i & 63) & 1)
	case value.InInt32:
		return int64(c.w32[i])
	case value.InUint32:
		return int64(uint32(c.w32[i]))
	}
	return c.w64[i]
}
