// Package codec has the binary forms of the values in log records, manifests and metadata of segments.
//
// A Reader reads what the functions Append… wrote. It reports the first fault of the bytes as an *engine.Corrupt.
package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The row codec. A row holds the values of a type's properties in schema order. The storage of a
// kind determines the form of its values:
//
//	null bits   one bit a property, least significant first, set for a null
//	values      of the properties that are not null
//
//	InBits             1 byte
//	InInt32 InInt64    varint (zigzag) of value.Value.Code
//	InUint32 InUint64  uvarint
//	InFloat32          4 bytes, IEEE 754, little-endian
//	InFloat64          8 bytes, the same
//	InText InBytes     uvarint length, bytes
//	InVector           Dim × 4 bytes
//	a list             uvarint count, values

// AppendRow appends the encoding of a row to dst; `vals` returns the value of property p.
func AppendRow(dst []byte, props []*catalog.Property, vals func(p int) value.Value) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (len(props)+7)/8)...)
	for p, prop := range props {
		v := vals(p)
		if v.IsNull() {
			dst[at+p/8] |= 1 << (p % 8)
			continue
		}
		if !prop.Type.List {
			dst = AppendScalar(dst, v)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
		for _, e := range v.Elems() {
			dst = AppendScalar(dst, e)
		}
	}
	return dst
}

// AppendScalar appends the encoding of a value that is neither null nor a list to dst.
func AppendScalar(dst []byte, v value.Value) []byte {
	switch v.Kind().Storage() {
	case value.InBits:
		return append(dst, byte(v.Bits()))
	case value.InInt32, value.InInt64:
		return binary.AppendVarint(dst, int64(v.Code()))
	case value.InUint32, value.InUint64:
		return binary.AppendUvarint(dst, v.Uint())
	case value.InFloat32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float())))
	case value.InFloat64:
		return binary.LittleEndian.AppendUint64(dst, v.Bits())
	case value.InText:
		return AppendText(dst, v.Str())
	case value.InBytes:
		return AppendText(dst, v.Raw())
	case value.InVector:
		for _, f := range v.Vector() {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
		}
		return dst
	}
	panic("codec: value of type " + v.Type().String())
}

// AppendText appends the length of s and its bytes.
func AppendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// AppendTexts appends the number of texts, then each text.
func AppendTexts(dst []byte, all []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for _, s := range all {
		dst = AppendText(dst, s)
	}
	return dst
}

// AppendULID appends the 16 bytes of a commit id to dst.
func AppendULID(dst []byte, id string) []byte {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		panic("codec: commit id " + id + " is not a ULID")
	}
	return append(dst, u[:]...)
}

// Reader decodes what the functions above encode. After the first error it returns zeros and err is set.
type Reader struct {
	Rest []byte // the bytes not read yet
	Err  error  // the first error
}

// decoded names in errors what a reader decodes.
const decoded = "log record or manifest"

// Fail sets Err, unless it is set already.
func (r *Reader) Fail(what string) {
	if r.Err == nil {
		r.Err = &engine.Corrupt{Object: decoded, Detail: fmt.Sprintf("%s, with %d bytes left", what, len(r.Rest))}
		r.Rest = nil
	}
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.Rest) {
		r.Fail(fmt.Sprintf("expected %d more bytes", n))
		return nil
	}
	out := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return out
}

// Byte reads one byte; 0 after an error.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Format reads a format number, and fails if the program does not read that number.
func (r *Reader) Format(k format.Kind) byte {
	n := r.Byte()
	if err := k.Check(decoded, "", uint32(n)); r.Err == nil && err != nil {
		r.Err, r.Rest = err, nil
	}
	return n
}

// Uvarint reads an unsigned number in the varint encoding; 0 after an error.
func (r *Reader) Uvarint() uint64 {
	n, k := binary.Uvarint(r.Rest)
	if k <= 0 {
		r.Fail("the varint is not valid")
		return 0
	}
	r.Rest = r.Rest[k:]
	return n
}

// Varint reads a signed number in the varint encoding; 0 after an error.
func (r *Reader) Varint() int64 {
	n, k := binary.Varint(r.Rest)
	if k <= 0 {
		r.Fail("the varint is not valid")
		return 0
	}
	r.Rest = r.Rest[k:]
	return n
}

// Count reads a number of elements. Each element takes at least one byte, so the number must not
// exceed the number of bytes left.
func (r *Reader) Count() int {
	n := r.Uvarint()
	if n > uint64(len(r.Rest)) {
		r.Fail(fmt.Sprintf("found a list of %d elements, but only %d bytes are left", n, len(r.Rest)))
		return 0
	}
	return int(n)
}

// Index reads a number, which must be below `limit`.
func (r *Reader) Index(limit int) int {
	n := r.Uvarint()
	if n >= uint64(limit) {
		r.Fail(fmt.Sprintf("found the number %d, expected one below %d", n, limit))
		return 0
	}
	return int(n)
}

// Ordinal reads a number of at most 32 bits.
func (r *Reader) Ordinal() uint32 {
	n := r.Uvarint()
	if n > math.MaxUint32 {
		r.Fail(fmt.Sprintf("found the number %d, which exceeds 32 bits", n))
		return 0
	}
	return uint32(n)
}

// Text reads a length and as many bytes.
func (r *Reader) Text() string { return string(r.Bytes(r.Count())) }

// Texts reads a count and as many texts.
func (r *Reader) Texts() (all []string) {
	for range r.Count() {
		all = append(all, r.Text())
	}
	return all
}

// Row reads a row that AppendRow wrote.
func (r *Reader) Row(props []*catalog.Property) []value.Value {
	nulls := r.Bytes((len(props) + 7) / 8)
	vals := make([]value.Value, len(props))
	for p := range vals {
		if r.Err != nil {
			return vals
		}
		if nulls[p/8]>>(p%8)&1 != 0 {
			continue
		}
		typ := props[p].Type
		if !typ.List {
			vals[p] = r.Scalar(typ)
			continue
		}
		elems := make([]value.Value, r.Count())
		for i := range elems {
			elems[i] = r.Scalar(typ)
		}
		vals[p] = value.OfList(typ.Kind, elems)
	}
	return vals
}

// Scalar reads a value that AppendScalar wrote.
func (r *Reader) Scalar(typ value.Type) value.Value {
	switch typ.Kind.Storage() {
	case value.InBits:
		return value.OfBool(r.Byte() != 0)
	case value.InInt32, value.InInt64:
		return value.OfCode(typ.Kind, uint64(r.Varint()))
	case value.InUint32, value.InUint64:
		return value.OfBits(typ.Kind, r.Uvarint())
	case value.InFloat32:
		if b := r.Bytes(4); b != nil {
			return value.OfF32(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case value.InFloat64:
		if b := r.Bytes(8); b != nil {
			return value.OfF64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case value.InText:
		return value.OfString(r.Text())
	case value.InBytes:
		return value.OfRaw(typ.Kind, string(r.Bytes(r.Count())))
	case value.InVector:
		b := r.Bytes(4 * typ.Dim)
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return value.OfVector(v)
	case value.InNone:
	}
	return value.Null
}

// ULID reads an id of 16 bytes and returns its text.
func (r *Reader) ULID() string {
	var id ulid.ULID
	copy(id[:], r.Bytes(len(id)))
	return id.String()
}
