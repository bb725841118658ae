package column

import (
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A spilled builder has these blocks, little-endian. The type and the number of values are not
// in them.
//
//	name.n    1 byte per value: 1 if it is null; empty if no value is null
//	name.b    1 byte per Bool
//	name.x    fixed-width values
//	name.a    by vector: its place among the values of name.x, 4 bytes
//	name.o    offsets of texts or lists, 4 bytes each, one more than there are values
//	name.d    bytes of texts
//	name.e.*  the elements of lists

// Spill calls `add` with each array of the builder, one after another. [Unspill] reads them.
func (b *Builder) Spill(name string, add func(name string, data []byte) error) error {
	null := b.null
	if b.nulls == 0 {
		null = nil
	}
	if err := add(name+".n", asBytes(null)); err != nil {
		return err
	}
	put := func(suffix string, data []byte) error { return add(name+suffix, data) }
	if b.hasOffsets() {
		if err := put(".o", Bytes(b.off)); err != nil {
			return err
		}
		if b.elem != nil {
			return b.elem.Spill(name+".e", add)
		}
		return put(".d", b.data)
	}
	switch b.typ.Kind.Storage() {
	case value.InBits:
		return put(".b", asBytes(b.bits))
	case value.InInt32, value.InUint32:
		return put(".x", Bytes(b.w32))
	case value.InFloat32:
		return put(".x", Bytes(b.f32))
	case value.InFloat64:
		return put(".x", Bytes(b.f64))
	case value.InVector:
		if err := put(".a", Bytes(b.at)); err != nil {
			return err
		}
		return put(".x", Bytes(b.f32))
	default:
		return put(".x", Bytes(b.w64))
	}
}

// Unspill reads a builder of n values of type t that [Builder.Spill] wrote. No values may be
// appended to the builder. It aliases the memory of the blocks, so the caller must keep src.
// Unspill throws the faults that it finds; see package corruption.
func Unspill(t value.Type, n int, name string, src Source) *Builder {
	b := &Builder{typ: t, n: n}
	if null := RawBlock(src, name+".n"); len(null) > 0 {
		b.null = bools(src, name+".n", null, n)
		for _, isNull := range b.null {
			if isNull {
				b.nulls++
			}
		}
	}
	if b.hasOffsets() {
		b.off = Read[uint32](src, name+".o", n+1)
		if t.List {
			end := int(b.off[n])
			CheckOffsets(src, name+".o", b.off, end)
			b.elem = Unspill(t.Elem(), end, name+".e", src)
			return b
		}
		b.data = RawBlock(src, name+".d")
		CheckOffsets(src, name+".o", b.off, len(b.data))
		return b
	}
	switch t.Kind.Storage() {
	case value.InBits:
		b.bits = bools(src, name+".b", RawBlock(src, name+".b"), n)
	case value.InInt32, value.InUint32:
		b.w32 = Read[int32](src, name+".x", n)
	case value.InFloat32:
		b.f32 = Read[float32](src, name+".x", n)
	case value.InFloat64:
		b.f64 = Read[float64](src, name+".x", n)
	case value.InVector:
		b.at = Read[uint32](src, name+".a", n)
		b.f32 = Read[float32](src, name+".x", len(RawBlock(src, name+".x"))/4)
		for i, at := range b.at {
			if (b.nulls == 0 || !b.null[i]) && (int(at)+1)*t.Dim > len(b.f32) {
				corruption.Corrupt(src.Name(), "block %q: value %d refers to vector %d, but the vectors have only %d components in all", name+".a", i, at, len(b.f32))
			}
		}
	default:
		b.w64 = Read[int64](src, name+".x", n)
	}
	return b
}

// asBytes returns the bytes of an array of bools, which alias the array.
func asBytes(s []bool) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s))
}

// bools returns a block of n bytes as bools, which alias the block.
func bools(src Source, name string, b []byte, n int) []bool {
	if len(b) != n {
		corruption.Corrupt(src.Name(), "block %q has %d bytes, expected %d", name, len(b), n)
	}
	for i, x := range b {
		if x > 1 {
			corruption.Corrupt(src.Name(), "block %q: byte %d is %d, expected 0 or 1", name, i, x)
		}
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*bool)(unsafe.Pointer(&b[0])), n)
}

// Gather copies the values of several builders of one type to one builder, in the order of perm. If
// perm is nil, they keep their order. Their texts together must not exceed [MaxBytes].
func Gather(parts []*Builder, perm []uint32) *Builder {
	j := newJoin(parts, perm)
	t := parts[0].typ
	b := &Builder{typ: t, n: j.n}
	if j.nulls {
		b.null = make([]bool, 0, j.n)
		j.each(func(p *Builder, i int) {
			isNull := p.nulls > 0 && p.null[i]
			if b.null = append(b.null, isNull); isNull {
				b.nulls++
			}
		})
	}
	switch {
	case t.List:
		b.off = make([]uint32, 1, j.n+1)
		inner := j.innerOf(func(end uint32) { b.off = append(b.off, end) })
		b.elem = Gather(inner.parts, inner.perm)
		return b
	case t.Kind.Storage().HasBytes():
		b.off, b.data = j.rawTexts()
		return b
	}
	switch t.Kind.Storage() {
	case value.InBits:
		b.bits = concatFixed(j, func(p *Builder) []bool { return p.bits })
	case value.InInt32, value.InUint32:
		b.w32 = concatFixed(j, func(p *Builder) []int32 { return p.w32 })
	case value.InFloat32:
		b.f32 = concatFixed(j, func(p *Builder) []float32 { return p.f32 })
	case value.InFloat64:
		b.f64 = concatFixed(j, func(p *Builder) []float64 { return p.f64 })
	case value.InVector:
		b.at = make([]uint32, 0, j.n)
		size := 0
		for _, p := range parts {
			size += len(p.f32)
		}
		b.f32 = make([]float32, 0, size)
		j.each(func(p *Builder, i int) {
			b.at = append(b.at, uint32(len(b.f32)/t.Dim))
			b.f32 = append(b.f32, p.vector(i)...)
		})
	default:
		b.w64 = concatFixed(j, func(p *Builder) []int64 { return p.w64 })
	}
	return b
}

// AddSizes adds the size of value i to sizes[i], for each i: the number of bytes that the value
// occupies in a finished column without a dictionary.
func (b *Builder) AddSizes(sizes []uint32) {
	for i := range sizes {
		sizes[i] += b.sizes(i, i+1)
	}
}

// Size returns the number of bytes that the values occupy in a finished column without a
// dictionary.
func (b *Builder) Size() int64 {
	n := int64(b.n)
	if b.hasOffsets() {
		if b.elem != nil {
			return 4*n + b.elem.Size()
		}
		return 4*n + int64(len(b.data))
	}
	return n * int64(b.valueSize())
}

// sizes returns the number of bytes that the values [i, end) occupy in a finished column.
func (b *Builder) sizes(i, end int) uint32 {
	n := uint32(end - i)
	if b.hasOffsets() {
		from, to := b.off[i], b.off[end]
		if b.elem != nil {
			return 4*n + b.elem.sizes(int(from), int(to))
		}
		return 4*n + to - from
	}
	return n * b.valueSize()
}

// valueSize returns the number of bytes that a value of a type without offsets occupies.
func (b *Builder) valueSize() uint32 {
	switch b.typ.Kind.Storage() {
	case value.InBits:
		return 1
	case value.InInt32, value.InUint32, value.InFloat32:
		return 4
	case value.InVector:
		return 4 * uint32(b.typ.Dim)
	}
	return 8
}
