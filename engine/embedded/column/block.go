package column

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A column is stored as a descriptor and up to four blocks, little-endian:
//
//	descriptor  kind     1 byte, value.Kind
//	            flags    1 byte: list 1, validity 2, dictionary 4
//	            dim      uvarint, the length of a Vector, 0 for every other kind
//	            n        uvarint, values
//	            entries  uvarint, of the dictionary; 0 without one
//	            element  descriptor, of a list
//	name.v      validity, one bit a value in 64-bit words, set when not null
//	name.x      dictionary codes, 4 bytes each
//	name.o      offsets, 4 bytes each, one more than there are texts or lists
//	name.d      values of their width, Bool as bits in 64-bit words; bytes of text
//	name.e.*    the element column of a list
const (
	flagList = 1 << iota
	flagValid
	flagDict
)

// maxDim bounds the length of a stored vector.
const maxDim = 1 << 24

// AppendDescriptor appends the column's descriptor.
func (c *Column) AppendDescriptor(dst []byte) []byte {
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
	dst = append(dst, byte(c.typ.Kind), flags)
	dst = binary.AppendUvarint(dst, uint64(c.typ.Dim))
	dst = binary.AppendUvarint(dst, uint64(c.n))
	dst = binary.AppendUvarint(dst, uint64(entries))
	if c.typ.List {
		dst = c.elem.AppendDescriptor(dst)
	}
	return dst
}

// Blocks hands each block of the column to add.
func (c *Column) Blocks(name string, add func(name string, data []byte) error) error {
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

// Decode reads a column from its descriptor, of which it returns the rest, and the
// blocks that get knows. The column aliases the blocks. The error is a
// *engine.Corrupt, or get's.
func Decode(desc []byte, name string, get func(name string) ([]byte, error)) (c *Column, rest []byte, err error) {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: "column " + name, Detail: fmt.Sprintf(format, args...)}
	}
	var nums [3]uint64
	if len(desc) < 2 {
		return nil, nil, corrupt("the descriptor is cut off")
	}
	kind, flags := value.Kind(desc[0]), desc[1]
	rest = desc[2:]
	for i := range nums {
		n, k := binary.Uvarint(rest)
		if k <= 0 || n > 1<<32 {
			return nil, nil, corrupt("the descriptor is cut off")
		}
		nums[i], rest = n, rest[k:]
	}
	if nums[0] > maxDim || kind == value.Invalid || kind > value.Vector || (kind == value.Vector) != (nums[0] > 0) {
		return nil, nil, corrupt("kind %d of length %d", kind, nums[0])
	}
	c = &Column{typ: value.Type{Kind: kind, List: flags&flagList != 0, Dim: int(nums[0])}, n: int(nums[1])}
	n := c.n
	if flags&flagValid != 0 {
		if c.valid, err = block[uint64](get, name+".v", (n+63)/64, corrupt); err != nil {
			return nil, nil, err
		}
	}
	texts := n
	if flags&flagDict != 0 {
		if c.code, err = block[uint32](get, name+".x", n, corrupt); err != nil {
			return nil, nil, err
		}
		texts = int(nums[2])
		for i, x := range c.code {
			if int(x) >= texts {
				return nil, nil, corrupt("value %d has code %d of %d", i, x, texts)
			}
		}
	}
	if c.typ.List || kind == value.String || kind == value.Blob {
		if c.off, err = block[uint32](get, name+".o", texts+1, corrupt); err != nil {
			return nil, nil, err
		}
		for i := 1; i < len(c.off); i++ {
			if c.off[i] < c.off[i-1] {
				return nil, nil, corrupt("offset %d goes back", i)
			}
		}
	}
	if c.typ.List {
		if c.elem, rest, err = Decode(rest, name+".e", get); err != nil {
			return nil, nil, err
		}
		if int(c.off[texts]) != c.elem.n || c.elem.typ.Kind != kind || c.elem.typ.List {
			return nil, nil, corrupt("%d elements of type %s, wanted %d of kind %s", c.elem.n, c.elem.typ, c.off[texts], kind)
		}
		return c, rest, nil
	}
	data := name + ".d"
	switch kind {
	case value.String, value.Blob:
		c.data, err = block[byte](get, data, int(c.off[texts]), corrupt)
	case value.Bool:
		var w []uint64
		w, err = block[uint64](get, data, (n+63)/64, corrupt)
		c.bits = w
	case value.I32, value.U32, value.Date:
		c.w32, err = block[int32](get, data, n, corrupt)
	case value.I64, value.U64, value.DateTime:
		c.w64, err = block[int64](get, data, n, corrupt)
	case value.F32:
		c.f32, err = block[float32](get, data, n, corrupt)
	case value.Vector:
		c.f32, err = block[float32](get, data, n*c.typ.Dim, corrupt)
	case value.F64:
		c.f64, err = block[float64](get, data, n, corrupt)
	case value.Invalid:
	}
	return c, rest, err
}

// Fixed is a value of fixed width that arrays are made of.
type Fixed interface {
	~byte | ~uint32 | ~int32 | ~float32 | ~uint64 | ~int64 | ~float64
}

// Bytes returns the little-endian bytes of an array, which they alias where the
// machine is little-endian.
func Bytes[T Fixed](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	width := int(unsafe.Sizeof(s[0]))
	b := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*width)
	if littleEndian || width == 1 {
		return b
	}
	return swapped(b, width)
}

// Array is the inverse of [Bytes]: it returns n values, or false when the bytes have
// another length.
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
		b = swapped(b, width)
	}
	if uintptr(unsafe.Pointer(&b[0]))%uintptr(width) != 0 {
		s := make([]T, n)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(b)), b)
		return s, true
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n), true
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func swapped(b []byte, width int) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i-i%width+width-1-i%width]
	}
	return out
}

func block[T Fixed](get func(string) ([]byte, error), name string, n int, corrupt func(string, ...any) error) ([]T, error) {
	if n == 0 {
		return []T{}, nil
	}
	b, err := get(name)
	if err != nil {
		return nil, err
	}
	s, ok := Array[T](b, n)
	if !ok {
		return nil, corrupt("block %s has %d bytes, which are not %d values", name, len(b), n)
	}
	return s, nil
}
