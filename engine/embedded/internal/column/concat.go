package column

import (
	"slices"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Cut returns the appended values in arrays of exactly their size, and empties the builder.
// The builder keeps its memory for reuse.
func (b *Builder) Cut() *Builder {
	out := &Builder{typ: b.typ, n: b.n, nulls: b.nulls,
		null: trimCapacity(b.null), bits: trimCapacity(b.bits), w32: trimCapacity(b.w32), w64: trimCapacity(b.w64),
		f32: trimCapacity(b.f32), f64: trimCapacity(b.f64), off: trimCapacity(b.off), data: trimCapacity(b.data), at: trimCapacity(b.at)}
	if b.elem != nil {
		out.elem = b.elem.Cut()
	}
	b.Truncate(0)
	return out
}

// Truncate removes all values except the first n.
func (b *Builder) Truncate(n int) {
	if n >= b.n {
		return
	}
	if b.nulls > 0 {
		for _, null := range b.null[n:] {
			if null {
				b.nulls--
			}
		}
		b.null = b.null[:n]
		if b.nulls == 0 {
			b.null = b.null[:0]
		}
	}
	b.n = n
	if b.hasOffsets() {
		b.off = b.off[:n+1]
		if b.elem != nil {
			b.elem.Truncate(int(b.off[n]))
		} else {
			b.data = b.data[:b.off[n]]
		}
		return
	}
	switch b.typ.Kind.Storage() {
	case value.InBits:
		b.bits = b.bits[:n]
	case value.InInt32, value.InUint32:
		b.w32 = b.w32[:n]
	case value.InFloat32:
		b.f32 = b.f32[:n]
	case value.InFloat64:
		b.f64 = b.f64[:n]
	case value.InVector:
		b.f32 = b.f32[:int(b.at[n])*b.typ.Dim]
		b.at = b.at[:n]
	default:
		b.w64 = b.w64[:n]
	}
}

// SetVector replaces value i by a vector of the type's length. No values may be appended to
// the builder afterwards.
func (b *Builder) SetVector(i int, v []float32) {
	if have := b.vector(i); have != nil {
		copy(have, v)
		return
	}
	b.at[i] = uint32(len(b.f32) / b.typ.Dim)
	b.f32 = append(b.f32, v...)
	if b.nulls > 0 && b.null[i] {
		b.null[i] = false
		if b.nulls--; b.nulls == 0 {
			b.null = b.null[:0]
		}
	}
}

// TextBytes returns the number of bytes of text in the builder. If the builder has lists, TextBytes
// returns that number or the number of elements, whichever is greater. The result for one column is
// at most MaxBytes.
func (b *Builder) TextBytes() int64 {
	if b.elem != nil {
		return max(int64(b.elem.n), b.elem.TextBytes())
	}
	return int64(len(b.data))
}

// textBytesOf is TextBytes for the single value i.
func (b *Builder) textBytesOf(i int) int64 {
	switch {
	case !b.hasOffsets():
		return 0
	case b.elem != nil && b.elem.hasOffsets():
		return max(int64(b.off[i+1]-b.off[i]), int64(b.elem.off[b.off[i+1]]-b.elem.off[b.off[i]]))
	}
	return int64(b.off[i+1] - b.off[i])
}

// Grow makes room for n more texts that together have the given number of bytes.
func (b *Builder) Grow(n, bytes int) {
	b.off = slices.Grow(b.off, n)
	b.data = slices.Grow(b.data, bytes)
}

// Concat returns the values of several builders of one type as a single column, in the order of
// perm. If perm is nil, they keep their order. The builders must not be used afterwards. Concat
// returns a *engine.TooLarge if the values do not fit into one column.
func Concat(parts []*Builder, perm []uint32) (*Column, error) {
	if len(parts) == 1 {
		return parts[0].Finish(perm), nil
	}
	j := newJoin(parts, perm)
	if texts := j.textBytes(); texts > MaxBytes {
		return nil, &engine.TooLarge{Resource: "bytes of text in one column", Limit: MaxBytes, Actual: texts}
	}
	return j.column(), nil
}

// newJoin prepares the joining of `parts` into one column. If perm is nil, their order is kept.
func newJoin(parts []*Builder, perm []uint32) *join {
	j := &join{parts: parts, perm: perm, first: make([]int, len(parts)+1), n: len(perm)}
	for i, b := range parts {
		j.first[i+1] = j.first[i] + b.n
		j.nulls = j.nulls || b.nulls > 0
	}
	if perm == nil {
		j.n = j.first[len(parts)]
	}
	return j
}

// textBytes returns TextBytes of the result, or an upper bound of it that is at most MaxBytes.
func (j *join) textBytes() int64 {
	n, elements := int64(0), int64(0)
	for _, b := range j.parts {
		n += b.TextBytes()
		if b.elem != nil {
			elements += int64(b.elem.n)
		}
	}
	// innerOf gives 32-bit numbers to the elements of all parts, also to those that perm leaves
	// out.
	if n <= MaxBytes || j.perm == nil || elements > MaxBytes {
		return n
	}
	// Count only the values that perm selects. They may be a small part of all values.
	n = 0
	j.each(func(b *Builder, i int) { n += b.textBytesOf(i) })
	return n
}

// join concatenates builders.
type join struct {
	parts []*Builder // the builders to concatenate
	first []int      // by part: the number of its first value; then the total
	perm  []uint32   // order of the values; nil for the order of the parts
	n     int        // number of values in the result
	nulls bool       // whether any part has a null
	last  int        // the part of the last value that was looked up
}

// of returns the part that has value i, and the value's position there.
func (j *join) of(i int) (*Builder, int) {
	if i < j.first[j.last] || i >= j.first[j.last+1] {
		j.last = sort.SearchInts(j.first, i+1) - 1
	}
	return j.parts[j.last], i - j.first[j.last]
}

// each calls f with the part and the position of each value of the result, in order.
func (j *join) each(f func(b *Builder, i int)) {
	if j.perm != nil {
		for _, p := range j.perm {
			f(j.of(int(p)))
		}
		return
	}
	for _, b := range j.parts {
		for i := range b.n {
			f(b, i)
		}
	}
}

// column returns the concatenation of the parts.
func (j *join) column() *Column {
	t := j.parts[0].typ
	c := &Column{typ: t, n: j.n}
	if j.nulls {
		c.valid = engine.NewBitmap(j.n)
		at := 0
		j.each(func(b *Builder, i int) {
			if b.nulls == 0 || !b.null[i] {
				c.valid.Set(at)
			}
			at++
		})
	}
	switch {
	case t.List:
		j.lists(c)
		return c
	case t.Kind.Storage().HasBytes():
		j.texts(c)
		return c
	}
	switch t.Kind.Storage() {
	case value.InBits:
		c.bits = engine.NewBitmap(j.n)
		at := 0
		j.each(func(b *Builder, i int) {
			if b.bits[i] {
				c.bits.Set(at)
			}
			at++
		})
	case value.InInt32, value.InUint32:
		c.w32 = concatFixed(j, func(b *Builder) []int32 { return b.w32 })
	case value.InFloat32:
		c.f32 = concatFixed(j, func(b *Builder) []float32 { return b.f32 })
	case value.InFloat64:
		c.f64 = concatFixed(j, func(b *Builder) []float64 { return b.f64 })
	case value.InVector:
		c.f32 = make([]float32, j.n*t.Dim)
		at := 0
		j.each(func(b *Builder, i int) { at += max(t.Dim, copy(c.f32[at:], b.vector(i))) })
	default:
		c.w64 = concatFixed(j, func(b *Builder) []int64 { return b.w64 })
	}
	return c
}

// concatFixed concatenates arrays of fixed-width values.
func concatFixed[T any](j *join, of func(*Builder) []T) []T {
	out := make([]T, 0, j.n)
	if j.perm == nil {
		for _, b := range j.parts {
			out = append(out, of(b)...)
		}
		return out
	}
	for _, p := range j.perm {
		b, i := j.of(int(p))
		out = append(out, of(b)[i])
	}
	return out
}

// lists sets the offsets of c and concatenates the elements of the lists.
func (j *join) lists(c *Column) {
	c.off = make([]uint32, 1, j.n+1)
	c.elem = j.innerOf(func(end uint32) { c.off = append(c.off, end) }).column()
}

// innerOf returns the join of the lists' elements. For each list it calls the function `ends` with
// the position in that join at which the list ends.
func (j *join) innerOf(ends func(end uint32)) *join {
	inner := &join{first: make([]int, len(j.parts)+1)}
	for k, b := range j.parts {
		inner.parts = append(inner.parts, b.elem)
		inner.first[k+1] = inner.first[k] + b.elem.n
		inner.nulls = inner.nulls || b.elem.nulls > 0
	}
	if j.perm != nil {
		inner.perm = make([]uint32, 0, j.n)
	}
	j.each(func(b *Builder, i int) {
		inner.n += int(b.off[i+1] - b.off[i])
		ends(uint32(inner.n))
		if j.perm != nil {
			base := uint32(inner.first[j.last])
			for e := b.off[i]; e < b.off[i+1]; e++ {
				inner.perm = append(inner.perm, base+e)
			}
		}
	})
	return inner
}

// texts stores each distinct text once if there are few of them; see [Builder.Finish].
func (j *join) texts(c *Column) {
	if c.typ.Kind == value.String && j.dictionary(c) {
		return
	}
	c.off, c.data = j.rawTexts()
}

// rawTexts returns the texts and their offsets.
func (j *join) rawTexts() (off []uint32, data []byte) {
	size := 0
	if j.perm == nil {
		for _, b := range j.parts {
			size += len(b.data)
		}
	} else {
		j.each(func(b *Builder, i int) { size += int(b.off[i+1] - b.off[i]) })
	}
	off = make([]uint32, 1, j.n+1)
	data = make([]byte, 0, size)
	if j.perm == nil {
		for _, b := range j.parts {
			base := uint32(len(data))
			data = append(data, b.data...)
			for _, o := range b.off[1:] {
				off = append(off, base+o)
			}
		}
		return off, data
	}
	j.each(func(b *Builder, i int) {
		data = append(data, b.Raw(i)...)
		off = append(off, uint32(len(data)))
	})
	return off, data
}

// dictionary stores the texts as codes of a dictionary and returns true. If there are too many
// different texts, it does nothing and returns false.
func (j *join) dictionary(c *Column) bool {
	limit := min(maxDict, j.n/4)
	if limit < 2 {
		return false
	}
	codes := make(map[string]uint32, 64)
	code := make([]uint32, 0, min(j.n, 4*maxDict)) // most columns have too many values for a dictionary by then
	off := []uint32{0}
	var data []byte
	for k := range j.n {
		p := k
		if j.perm != nil {
			p = int(j.perm[k])
		}
		b, i := j.of(p)
		s := b.Raw(i)
		x, ok := codes[string(s)]
		if !ok {
			if len(codes) == limit {
				return false
			}
			x = uint32(len(codes))
			codes[string(s)] = x
			data = append(data, s...)
			off = append(off, uint32(len(data)))
		}
		if len(code) == cap(code) {
			code = slices.Grow(code, j.n-len(code))
		}
		code = append(code, x)
	}
	c.code, c.off, c.data = code, slices.Clip(off), slices.Clip(data)
	return true
}

// trimCapacity returns a copy of s without spare capacity, or nil if s is empty.
func trimCapacity[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	out := make([]T, len(s))
	copy(out, s)
	return out
}
