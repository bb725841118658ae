package column

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// byPieces reports whether a caller that needs n values must read them with the method `part`. If
// it returns false, the whole column is in memory: if necessary, byPieces has just read it.
func (c *Column) byPieces(n int) bool {
	return c.pending.ByPieces(n, c.storedBytes, c.worthWhole, c.read)
}

// worthWhole reports whether to read the whole column, after many values of it were used.
func (c *Column) worthWhole() bool {
	if c.typ.List && !c.elem.worthWhole() {
		return false
	}
	for _, suffix := range []string{".v", ".x", ".o", ".d"} {
		if p, err := c.stored.src.Pieces(c.stored.name + suffix); err == nil && !p.WorthWhole() {
			return false
		}
	}
	return true
}

// one returns a column that contains only value i, or nil if the whole column has been read.
//
//go:noinline
func (c *Column) one(i uint32) *Column {
	if !c.byPieces(1) {
		return nil
	}
	return c.part(int(i), int(i)+1)
}

// gatherByPieces is Gather for a column that has not been read whole. If the whole column has been
// read, it does nothing and returns false.
//
//go:noinline
func (c *Column) gatherByPieces(dst *Vec, at int, rows []uint32) bool {
	if !c.byPieces(len(rows)) {
		return false
	}
	for i, r := range rows {
		c.part(int(r), int(r)+1).Gather(dst, at+i, []uint32{0})
	}
	return true
}

// StoredBytes returns the approximate size of the values in bytes. It reads no values.
func (c *Column) StoredBytes() int64 {
	if c.pending.Left() {
		return int64(c.storedBytes())
	}
	return c.Bytes()
}

// storedBytes returns the size of the column's blocks in bytes.
func (c *Column) storedBytes() int {
	src, name := c.stored.src, c.stored.name
	n, texts := 0, c.n
	if c.stored.flags&flagValid != 0 {
		n += c.n / 8
	}
	if c.stored.flags&flagDict != 0 {
		n, texts = n+4*c.n, c.stored.entries
	}
	if c.typ.List || c.typ.Kind.Storage().HasBytes() {
		n += 4 * texts
	}
	if c.typ.List {
		return n + c.elem.storedBytes()
	}
	if p, err := src.Pieces(name + ".d"); err == nil { // an empty block need not exist
		n += p.Len()
	}
	return n
}

// part returns the values [from, to) of a column that has not been read whole. It verifies only
// those pieces of the blocks in which the values are stored, and throws the faults that it finds;
// see package corruption.
func (c *Column) part(from, to int) *Column {
	src, name := c.stored.src, c.stored.name
	n := to - from
	out := &Column{typ: c.typ, n: n}
	if c.stored.flags&flagValid != 0 {
		out.valid = bitRange(src, name+".v", c.n, from, to)
	}
	switch data := name + ".d"; {
	case c.typ.List:
		offsets := OpenBlockOf[uint32](src, name+".o", c.n+1)
		var first, last int // elements
		out.off = append(out.off, 0)
		for i := from; i < to; i++ {
			var start int
			if start, last = Span(offsets, i, c.elem.n); i == from {
				first = start
			}
			out.off = append(out.off, uint32(last-first))
		}
		out.elem = c.elem.part(first, last)
	case c.typ.Kind.Storage().HasBytes():
		c.textPart(out, from, to)
	default:
		switch c.typ.Kind.Storage() {
		case value.InBits:
			out.bits = bitRange(src, data, c.n, from, to)
		case value.InInt32, value.InUint32:
			out.w32 = OpenBlockOf[int32](src, data, c.n).Range(from, to)
		case value.InInt64, value.InUint64:
			out.w64 = c.stored.current(c.typ.Kind, OpenBlockOf[int64](src, data, c.n).Range(from, to))
		case value.InFloat32:
			out.f32 = OpenBlockOf[float32](src, data, c.n).Range(from, to)
		case value.InVector:
			out.f32 = OpenBlockOf[float32](src, data, c.n*c.typ.Dim).Range(from*c.typ.Dim, to*c.typ.Dim)
		case value.InFloat64:
			out.f64 = OpenBlockOf[float64](src, data, c.n).Range(from, to)
		case value.InText, value.InBytes, value.InNone:
		}
	}
	return out
}

// textPart sets the texts of the column `out` to the texts [from, to) of c, without a dictionary.
func (c *Column) textPart(out *Column, from, to int) {
	src, name, texts := c.stored.src, c.stored.name, c.n
	var codes Block[uint32]
	if c.stored.flags&flagDict != 0 {
		codes, texts = OpenBlockOf[uint32](src, name+".x", c.n), c.stored.entries
	}
	offsets := OpenBlockOf[uint32](src, name+".o", texts+1)
	out.off = []uint32{0}
	var data Block[byte]
	for i := from; i < to; i++ {
		at := i
		if codes.n > 0 {
			at = int(codes.At(i))
			if at >= texts {
				faultyCode(src, name, i, uint32(at), texts)
			}
		}
		a, b := Span(offsets, at, int(offsets.At(texts)))
		if a < b && data.n == 0 {
			data = OpenBlockOf[byte](src, name+".d", int(offsets.At(texts)))
		}
		switch {
		case a == b:
		case to-from == 1:
			out.data = data.Range(a, b)
		default:
			out.data = append(out.data, data.Range(a, b)...)
		}
		out.off = append(out.off, out.off[len(out.off)-1]+uint32(b-a))
	}
}

// bitRange returns the bits [from, to) of a block of n bits.
func bitRange(src Source, name string, n, from, to int) engine.Bitmap {
	out := engine.NewBitmap(to - from)
	words := OpenBlockOf[uint64](src, name, (n+63)/64)
	if from == to {
		return out
	}
	all := engine.Bitmap(words.Range(from/64, (to-1)/64+1))
	for i := from; i < to; i++ {
		if all.Get(i - from/64*64) {
			out.Set(i - from)
		}
	}
	return out
}
