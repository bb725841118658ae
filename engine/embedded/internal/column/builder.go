package column

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// MaxBytes is the maximum total length of the texts of one column, in bytes.
const MaxBytes = math.MaxUint32

// maxDict is the maximum number of entries in a dictionary.
const maxDict = 1 << 12

// Builder collects values into a Column. Only one goroutine may use it.
type Builder struct {
	typ   value.Type // type of the values
	n     int        // number of values
	nulls int        // number of nulls
	null  []bool     // by value: whether it is null; used only if `nulls` is not 0
	bits  []bool     // values of type Bool
	w32   []int32    // values of 32-bit integer types
	w64   []int64    // values of 64-bit integer types
	f32   []float32  // values of type F32, or the components of vectors
	f64   []float64  // values of type F64
	off   []uint32   // by text or list: where its bytes or elements start; then the end of the last
	data  []byte     // bytes of texts
	elem  *Builder   // elements of lists
	at    []uint32   // by vector: its place in f32, in vectors; nulls take none
}

// NewBuilder returns an empty builder for values of type t.
func NewBuilder(t value.Type) *Builder {
	b := &Builder{typ: t}
	if t.List {
		b.elem = NewBuilder(t.Elem())
	}
	if b.hasOffsets() {
		b.off = []uint32{0}
	}
	return b
}

// Len returns the number of values so far.
func (b *Builder) Len() int { return b.n }

// Bytes returns the approximate size of the values in memory, in bytes.
func (b *Builder) Bytes() int {
	n := 4*len(b.at) + len(b.null) + len(b.bits) + 4*len(b.w32) + 8*len(b.w64) + 4*len(b.f32) + 8*len(b.f64) + 4*len(b.off) + len(b.data)
	if b.elem != nil {
		n += b.elem.Bytes()
	}
	return n
}

// AppendNull appends a null.
func (b *Builder) AppendNull() {
	b.nulls++
	b.zero()
	b.mark(true)
}

// AppendInt appends a value of a kind that is stored as an integer; see value.Value.Bits.
func (b *Builder) AppendInt(n int64) {
	switch b.typ.Kind.Storage() {
	case value.InBits:
		b.bits = append(b.bits, n != 0)
	case value.InInt32, value.InUint32:
		b.w32 = append(b.w32, int32(n))
	default:
		b.w64 = append(b.w64, n)
	}
	b.mark(false)
}

// AppendFloat appends an F32 or F64.
func (b *Builder) AppendFloat(f float64) {
	if b.typ.Kind == value.F32 {
		b.f32 = append(b.f32, float32(f))
	} else {
		b.f64 = append(b.f64, f)
	}
	b.mark(false)
}

// AppendString appends a String, or the bytes of another kind that is stored as bytes; see value.Value.Raw. It returns a *engine.TooLarge if the
// column is full.
func (b *Builder) AppendString(s string) error {
	if uint64(len(b.data))+uint64(len(s)) > MaxBytes {
		return &engine.TooLarge{Resource: "bytes of text in one column", Limit: MaxBytes, Actual: int64(len(b.data)) + int64(len(s))}
	}
	b.data = append(b.data, s...)
	b.off = append(b.off, uint32(len(b.data)))
	b.mark(false)
	return nil
}

// AppendVector appends a Vector of the type's length.
func (b *Builder) AppendVector(v []float32) {
	b.at = append(b.at, uint32(len(b.f32)/b.typ.Dim))
	b.f32 = append(b.f32, v...)
	b.mark(false)
}

// Append appends a value, which must be null or of the builder's type. It returns a
// *engine.TooLarge if the column is full.
func (b *Builder) Append(v value.Value) error {
	switch {
	case v.IsNull():
		b.AppendNull()
		return nil
	case b.typ.List:
		if n := int64(b.elem.n) + int64(len(v.Elems())); n > MaxBytes {
			return &engine.TooLarge{Resource: "list elements in one column", Limit: MaxBytes, Actual: n}
		}
		for _, e := range v.Elems() {
			if err := b.elem.Append(e); err != nil {
				return err
			}
		}
		b.off = append(b.off, uint32(b.elem.n))
		b.mark(false)
		return nil
	}
	switch b.typ.Kind.Storage() {
	case value.InText:
		return b.AppendString(v.Str())
	case value.InBytes:
		return b.AppendString(v.Raw())
	case value.InFloat32, value.InFloat64:
		b.AppendFloat(v.Float())
	case value.InVector:
		b.AppendVector(v.Vector())
	default:
		b.AppendInt(int64(v.Bits()))
	}
	return nil
}

// Finish returns the values as a column, in the order of perm. If perm is nil, they are in the
// order in which they were appended. The builder must not be used afterwards.
func (b *Builder) Finish(perm []uint32) *Column {
	c := &Column{typ: b.typ, n: b.n}
	if perm != nil {
		c.n = len(perm)
	}
	if b.nulls > 0 {
		c.valid = bitmapOf(permute(b.null, perm), true)
	}
	c.bits = bitmapOf(permute(b.bits, perm), false)
	c.w32, c.w64, c.f64 = permute(b.w32, perm), permute(b.w64, perm), permute(b.f64, perm)
	switch {
	case b.typ.List:
		b.finishList(c, perm)
	case b.hasOffsets():
		b.finishText(c, perm)
	case b.typ.Kind == value.Vector && perm == nil && b.nulls == 0:
		c.f32 = b.f32
	case b.typ.Kind == value.Vector:
		d := b.typ.Dim
		c.f32 = make([]float32, c.n*d)
		for i := range c.n {
			p := i
			if perm != nil {
				p = int(perm[i])
			}
			copy(c.f32[i*d:(i+1)*d], b.vector(p))
		}
	default:
		c.f32 = permute(b.f32, perm)
	}
	return c
}

// Value returns value i as it was appended. The value aliases the memory of the builder.
func (b *Builder) Value(i int) value.Value {
	if b.nulls > 0 && b.null[i] {
		return value.Null
	}
	if b.typ.List {
		elems := make([]value.Value, 0, b.off[i+1]-b.off[i])
		for j := b.off[i]; j < b.off[i+1]; j++ {
			elems = append(elems, b.elem.Value(int(j)))
		}
		return value.OfList(b.typ.Kind, elems)
	}
	switch b.typ.Kind.Storage() {
	case value.InText:
		return value.OfString(b.Str(i))
	case value.InBytes:
		return value.OfRaw(b.typ.Kind, b.Str(i))
	case value.InFloat32:
		return value.OfF32(b.f32[i])
	case value.InFloat64:
		return value.OfF64(b.f64[i])
	case value.InVector:
		return value.OfVector(b.vector(i))
	case value.InBits:
		return value.OfBool(b.bits[i])
	case value.InInt32, value.InUint32:
		return value.OfBits(b.typ.Kind, uint64(b.w32[i]))
	}
	return value.OfBits(b.typ.Kind, uint64(b.w64[i]))
}

// Str returns a copy of the text of value i.
func (b *Builder) Str(i int) string { return string(b.data[b.off[i]:b.off[i+1]]) }

// Raw returns the text of value i without copying it.
func (b *Builder) Raw(i int) []byte { return b.data[b.off[i]:b.off[i+1]] }

// vector returns vector i, or nil for null.
func (b *Builder) vector(i int) []float32 {
	if b.nulls > 0 && b.null[i] {
		return nil
	}
	d := b.typ.Dim
	p := int(b.at[i]) * d
	return b.f32[p : p+d : p+d]
}

// hasOffsets reports whether the builder uses `off`: for lists, texts and bytes.
func (b *Builder) hasOffsets() bool {
	return b.typ.List || b.typ.Kind.Storage().HasBytes()
}

// mark counts one more value and records whether it is null.
func (b *Builder) mark(null bool) {
	b.n++
	if null && len(b.null) < b.n-1 {
		b.null = append(b.null, make([]bool, b.n-1-len(b.null))...)
	}
	if b.nulls > 0 {
		b.null = append(b.null, null)
	}
}

// zero appends the entry that a null value has in the array of values.
func (b *Builder) zero() {
	if b.hasOffsets() {
		b.off = append(b.off, b.off[len(b.off)-1])
		return
	}
	switch b.typ.Kind.Storage() {
	case value.InBits:
		b.bits = append(b.bits, false)
	case value.InInt32, value.InUint32:
		b.w32 = append(b.w32, 0)
	case value.InFloat32:
		b.f32 = append(b.f32, 0)
	case value.InFloat64:
		b.f64 = append(b.f64, 0)
	case value.InVector:
		b.at = append(b.at, uint32(len(b.f32)/b.typ.Dim))
	default:
		b.w64 = append(b.w64, 0)
	}
}

// finishList sets the offsets and elements of c. The lists are put in the order of perm.
func (b *Builder) finishList(c *Column, perm []uint32) {
	if perm == nil {
		c.off, c.elem = b.off, b.elem.Finish(nil)
		return
	}
	inner := make([]uint32, 0, b.elem.n)
	c.off = make([]uint32, 1, len(perm)+1)
	for _, p := range perm {
		for j := b.off[p]; j < b.off[p+1]; j++ {
			inner = append(inner, j)
		}
		c.off = append(c.off, uint32(len(inner)))
	}
	c.elem = b.elem.Finish(inner)
}

// finishText stores each distinct text once if there are few of them. Otherwise it stores
// the texts in row order.
func (b *Builder) finishText(c *Column, perm []uint32) {
	if b.typ.Kind == value.String && b.dictionary(c, perm) {
		return
	}
	if perm == nil {
		c.off, c.data = b.off, b.data
		return
	}
	c.off = make([]uint32, 1, len(perm)+1)
	c.data = make([]byte, 0, len(b.data))
	for _, p := range perm {
		c.data = append(c.data, b.data[b.off[p]:b.off[p+1]]...)
		c.off = append(c.off, uint32(len(c.data)))
	}
}

// dictionary stores the texts of c as codes of a dictionary and returns true. If c has too many
// different texts, it does nothing and returns false.
func (b *Builder) dictionary(c *Column, perm []uint32) bool {
	limit := min(maxDict, c.n/4)
	if limit < 2 {
		return false
	}
	codes := make(map[string]uint32, 64)
	code := make([]uint32, 0, min(c.n, 4*maxDict)) // most columns give up by then
	off := []uint32{0}
	var data []byte
	for i := range c.n {
		p := i
		if perm != nil {
			p = int(perm[i])
		}
		s := b.data[b.off[p]:b.off[p+1]]
		k, ok := codes[string(s)]
		if !ok {
			if len(codes) == limit {
				return false
			}
			k = uint32(len(codes))
			codes[string(s)] = k
			data = append(data, s...)
			off = append(off, uint32(len(data)))
		}
		if len(code) == cap(code) {
			code = slices.Grow(code, c.n-len(code))
		}
		code = append(code, k)
	}
	c.code, c.off, c.data = code, off, data
	return true
}

// permute returns the values of s in the order of perm.
func permute[T any](s []T, perm []uint32) []T {
	if perm == nil || s == nil {
		return s
	}
	out := make([]T, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// bitmapOf returns s as a bitmap. If the argument `invert` is true, it inverts the bits. It returns
// nil if s is nil.
func bitmapOf(s []bool, invert bool) engine.Bitmap {
	if s == nil {
		return nil
	}
	m := engine.NewBitmap(len(s))
	for i, x := range s {
		if x != invert {
			m.Set(i)
		}
	}
	return m
}
