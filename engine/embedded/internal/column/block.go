package column

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A column is stored as a descriptor and up to four blocks, little-endian:
//
//	descriptor  kind     1 byte, the number of the value.Kind
//	            flags    1 byte: list 1, validity 2, dictionary 4, microseconds 8
//	            dim      uvarint, the length of a Vector, 0 for every other kind
//	            n        uvarint, number of values
//	            entries  uvarint, size of the dictionary; 0 without one
//	            element  descriptor of the elements, for a list only
//	name.v      validity, one bit per value in 64-bit words, set if not null
//	name.x      dictionary codes, 4 bytes each
//	name.o      offsets, 4 bytes each, one more than there are texts or lists
//	name.d      fixed-width values, Bool as bits in 64-bit words; or bytes of text
//	name.e.*    the element column of a list
const (
	// flagList marks a column of lists, flagValid a column with nulls, flagDict a column whose texts
	// are in a dictionary, and flagMicros one of instants in microseconds; format 10 has milliseconds.
	flagList = 1 << iota
	flagValid
	flagDict
	flagMicros
)

// maxDim is the maximum length of a stored vector.
const maxDim = 1 << 24

// AppendDescriptor appends the column's descriptor.
func (c *Column) AppendDescriptor(dst []byte) []byte {
	c.ready()
	var flags byte
	entries := 0
	if c.typ.List {
		flags |= flagList
	}
	if c.valid != nil {
		flags |= flagValid
	}
	if c.code != nil {
		flags |= flagDict
		entries = len(c.off) - 1
	}
	if c.typ.Kind == value.DateTime && !c.typ.List {
		flags |= flagMicros
	}
	dst = append(dst, byte(c.typ.Kind), flags)
	dst = binary.AppendUvarint(dst, uint64(c.typ.Dim))
	dst = binary.AppendUvarint(dst, uint64(c.n))
	dst = binary.AppendUvarint(dst, uint64(entries))
	if c.typ.List {
		dst = c.elem.AppendDescriptor(dst)
	}
	return dst
}

// Blocks calls `add` for each block of the column.
func (c *Column) Blocks(name string, add func(name string, data []byte) error) error {
	c.ready()
	put := func(suffix string, data []byte) error {
		if data == nil {
			return nil
		}
		return add(name+suffix, data)
	}
	if err := put(".v", Bytes([]uint64(c.valid))); err != nil {
		return err
	}
	if err := put(".x", Bytes(c.code)); err != nil {
		return err
	}
	if err := put(".o", Bytes(c.off)); err != nil {
		return err
	}
	if c.typ.List {
		return c.elem.Blocks(name+".e", add)
	}
	data := c.data
	switch {
	case c.bits != nil:
		data = Bytes([]uint64(c.bits))
	case c.w32 != nil:
		data = Bytes(c.w32)
	case c.w64 != nil:
		data = Bytes(c.w64)
	case c.f32 != nil:
		data = Bytes(c.f32)
	case c.f64 != nil:
		data = Bytes(c.f64)
	}
	return put(".d", data)
}

// Decode decodes a column's descriptor at the start of desc, and returns the rest of desc.
// The first use of the column reads and verifies its blocks, and throws the faults that it
// finds; see package corruption. The column aliases the blocks and keeps src. Any error is a
// *engine.Corrupt.
func Decode(desc []byte, name string, src Source) (c *Column, rest []byte, err error) {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: src.Name(), Detail: "column " + name + ": " + fmt.Sprintf(format, args...)}
	}
	var nums [3]uint64
	if len(desc) < 2 {
		return nil, nil, corrupt("the descriptor is truncated")
	}
	kind, flags := value.Kind(desc[0]), desc[1]
	rest = desc[2:]
	for i := range nums {
		n, k := binary.Uvarint(rest)
		if k <= 0 || n > 1<<32 {
			return nil, nil, corrupt("the descriptor is truncated")
		}
		nums[i], rest = n, rest[k:]
	}
	if nums[0] > maxDim || !kind.IsKind() || (kind == value.Vector || kind == value.Decimal) != (nums[0] > 0) {
		return nil, nil, corrupt("kind %d of length %d", kind, nums[0])
	}
	c = &Column{typ: value.Type{Kind: kind, List: flags&flagList != 0, Dim: int(nums[0])}, n: int(nums[1])}
	c.stored = stored{src: src, name: name, flags: flags, entries: int(nums[2])}
	c.pending.Defer()
	if c.typ.List {
		if flags&flagDict != 0 {
			return nil, nil, corrupt("a column of lists cannot have a dictionary")
		}
		if c.elem, rest, err = Decode(rest, name+".e", src); err != nil {
			return nil, nil, err
		}
		if e := c.elem.typ; e.Kind != kind || e.List {
			return nil, nil, corrupt("the elements are of type %s, expected kind %s", e, kind)
		}
	} else if flags&flagDict != 0 && kind != value.String {
		return nil, nil, corrupt("a column of kind %s cannot have a dictionary", kind)
	}
	return c, rest, nil
}

// stored is the location of a column's blocks.
type stored struct {
	src     Source // the segment that contains the blocks
	name    string // the blocks' names begin with it
	flags   byte   // flags of the descriptor, such as flagList
	entries int    // number of entries of the dictionary
}

// current returns stored 64-bit values of a kind as a column holds them: instants that are stored in
// milliseconds as microseconds.
func (s *stored) current(k value.Kind, w64 []int64) []int64 {
	if k != value.DateTime || s.flags&flagMicros != 0 {
		return w64
	}
	out := make([]int64, len(w64)) // w64 may alias the file
	for i, ms := range w64 {
		out[i] = 1000 * ms
	}
	return out
}

// Load reads the blocks of a stored column immediately, and throws the faults that it
// finds.
func (c *Column) Load() { c.ready() }

// ready reads the blocks, unless they have been read already.
func (c *Column) ready() {
	if c.pending.Left() {
		c.fetch()
	}
}

//go:noinline
func (c *Column) fetch() { c.pending.Resolve(c.read) }

// read reads the arrays of a stored column from its blocks.
func (c *Column) read() {
	src, name, n := c.stored.src, c.stored.name, c.n
	if c.stored.flags&flagValid != 0 {
		c.valid = Read[uint64](src, name+".v", (n+63)/64)
	}
	texts := n
	if c.stored.flags&flagDict != 0 {
		texts = c.stored.entries
		c.code = Read[uint32](src, name+".x", n)
		for i, x := range c.code {
			if int(x) >= texts {
				faultyCode(src, name, i, x, texts)
			}
		}
	}
	kind := c.typ.Kind
	if c.typ.List || kind.Storage().HasBytes() {
		c.off = Read[uint32](src, name+".o", texts+1)
		end := int(c.off[texts])
		if c.typ.List {
			end = c.elem.n
		}
		CheckOffsets(src, name+".o", c.off, end)
	}
	if c.typ.List {
		c.elem.ready()
		return
	}
	data := name + ".d"
	switch kind.Storage() {
	case value.InText, value.InBytes:
		c.data = Read[byte](src, data, int(c.off[texts]))
	case value.InBits:
		c.bits = Read[uint64](src, data, (n+63)/64)
	case value.InInt32, value.InUint32:
		c.w32 = Read[int32](src, data, n)
	case value.InInt64, value.InUint64:
		c.w64 = c.stored.current(c.typ.Kind, Read[int64](src, data, n))
	case value.InFloat32:
		c.f32 = Read[float32](src, data, n)
	case value.InVector:
		c.f32 = Read[float32](src, data, n*c.typ.Dim)
	case value.InFloat64:
		c.f64 = Read[float64](src, data, n)
	case value.InNone:
	}
}

// faultyCode throws the fault that the code of value i is not in the dictionary.
func faultyCode(src Source, name string, i int, code uint32, entries int) {
	corruption.Corrupt(src.Name(), "block %q: value %d has code %d, but there are only %d codes", name+".x", i, code, entries)
}

// Fixed is a fixed-width element type of an array.
type Fixed interface {
	~byte | ~int8 | ~uint32 | ~int32 | ~float32 | ~uint64 | ~int64 | ~float64
}

// Bytes returns the little-endian bytes of an array. On a little-endian machine they alias
// the array.
func Bytes[T Fixed](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	width := int(unsafe.Sizeof(s[0]))
	b := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*width)
	if littleEndian || width == 1 {
		return b
	}
	return swapBytes(b, width)
}

// Array is the inverse of [Bytes]. It returns n values, or false if b has a different
// length.
func Array[T Fixed](b []byte, n int) ([]T, bool) {
	var zero T
	width := int(unsafe.Sizeof(zero))
	if len(b) != n*width {
		return nil, false
	}
	if n == 0 {
		return []T{}, true
	}
	if !littleEndian && width > 1 {
		b = swapBytes(b, width)
	}
	if uintptr(unsafe.Pointer(&b[0]))%uintptr(width) != 0 {
		s := make([]T, n)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(b)), b)
		return s, true
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n), true
}

// littleEndian reports whether this processor stores the lowest byte of a number first.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// swapBytes returns a copy of b with the bytes of each value of the given width reversed.
func swapBytes(b []byte, width int) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i-i%width+width-1-i%width]
	}
	return out
}
