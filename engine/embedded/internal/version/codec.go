package version

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
//	InInt32 InInt64    varint (zigzag)
//	InUint32 InUint64  uvarint
//	InFloat32          4 bytes, IEEE 754, little-endian
//	InFloat64          8 bytes, the same
//	InText InBytes     uvarint length, bytes
//	InVector           Dim × 4 bytes
//	a list             uvarint count, values

// appendRow appends the encoding of a row to dst; `vals` returns the value of property p.
func appendRow(dst []byte, props []*catalog.Property, vals func(p int) value.Value) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (len(props)+7)/8)...)
	for p, prop := range props {
		v := vals(p)
		if v.IsNull() {
			dst[at+p/8] |= 1 << (p % 8)
			continue
		}
		if !prop.Type.List {
			dst = appendScalar(dst, v)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
		for _, e := range v.Elems() {
			dst = appendScalar(dst, e)
		}
	}
	return dst
}

// appendScalar appends the encoding of a value that is neither null nor a list to dst.
func appendScalar(dst []byte, v value.Value) []byte {
	switch v.Kind().Storage() {
	case value.InBits:
		return append(dst, byte(v.Bits()))
	case value.InInt32, value.InInt64:
		return binary.AppendVarint(dst, v.Int())
	case value.InUint32, value.InUint64:
		return binary.AppendUvarint(dst, v.Uint())
	case value.InFloat32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float())))
	case value.InFloat64:
		return binary.LittleEndian.AppendUint64(dst, v.Bits())
	case value.InText:
		return appendText(dst, v.Str())
	case value.InBytes:
		return appendText(dst, string(v.Bytes()))
	case value.InVector:
		for _, f := range v.Vector() {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
		}
		return dst
	}
	panic("version: value of type " + v.Type().String())
}

// appendText appends the length of s and its bytes.
func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendTexts appends the number of texts, then each text.
func appendTexts(dst []byte, all []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for _, s := range all {
		dst = appendText(dst, s)
	}
	return dst
}

// appendULID appends the 16 bytes of a commit id to dst.
func appendULID(dst []byte, id string) []byte {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		panic("version: commit id " + id + " is not a ULID")
	}
	return append(dst, u[:]...)
}

// reader decodes what the functions above encode. After the first error it returns zeros and err is set.
type reader struct {
	b   []byte // the bytes not read yet
	err error  // the first error
}

// decoded names in errors what a reader decodes.
const decoded = "log record or manifest"

// fail sets err, unless it is set already.
func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = &engine.Corrupt{Object: decoded, Detail: fmt.Sprintf("%s, with %d bytes left", what, len(r.b))}
		r.b = nil
	}
}

// bytes reads n bytes.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail(fmt.Sprintf("expected %d more bytes", n))
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// byte reads one byte; 0 after an error.
func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// formatOf reads a format number, and fails if the program does not read that number.
func (r *reader) formatOf(k format.Kind) {
	n := r.byte()
	if err := k.Check(decoded, "", uint32(n)); r.err == nil && err != nil {
		r.err, r.b = err, nil
	}
}

// uvarint reads an unsigned number in the varint encoding; 0 after an error.
func (r *reader) uvarint() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.fail("the varint is not valid")
		return 0
	}
	r.b = r.b[k:]
	return n
}

// varint reads a signed number in the varint encoding; 0 after an error.
func (r *reader) varint() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.fail("the varint is not valid")
		return 0
	}
	r.b = r.b[k:]
	return n
}

// count reads a number of elements. Each element takes at least one byte, so the number must not
// exceed the number of bytes left.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail(fmt.Sprintf("found a list of %d elements, but only %d bytes are left", n, len(r.b)))
		return 0
	}
	return int(n)
}

// index reads a number, which must be below `limit`.
func (r *reader) index(limit int) int {
	n := r.uvarint()
	if n >= uint64(limit) {
		r.fail(fmt.Sprintf("found the number %d, expected one below %d", n, limit))
		return 0
	}
	return int(n)
}

// ordinal reads a number of at most 32 bits.
func (r *reader) ordinal() uint32 {
	n := r.uvarint()
	if n > math.MaxUint32 {
		r.fail(fmt.Sprintf("found the number %d, which exceeds 32 bits", n))
		return 0
	}
	return uint32(n)
}

// text reads a length and as many bytes.
func (r *reader) text() string { return string(r.bytes(r.count())) }

// texts reads a count and as many texts.
func (r *reader) texts() (all []string) {
	for range r.count() {
		all = append(all, r.text())
	}
	return all
}

// row reads a row that appendRow wrote.
func (r *reader) row(props []*catalog.Property) []value.Value {
	nulls := r.bytes((len(props) + 7) / 8)
	vals := make([]value.Value, len(props))
	for p := range vals {
		if r.err != nil {
			return vals
		}
		if nulls[p/8]>>(p%8)&1 != 0 {
			continue
		}
		typ := props[p].Type
		if !typ.List {
			vals[p] = r.scalar(typ)
			continue
		}
		elems := make([]value.Value, r.count())
		for i := range elems {
			elems[i] = r.scalar(typ)
		}
		vals[p] = value.OfList(typ.Kind, elems)
	}
	return vals
}

// scalar reads a value that appendScalar wrote.
func (r *reader) scalar(typ value.Type) value.Value {
	switch typ.Kind.Storage() {
	case value.InBits:
		return value.OfBool(r.byte() != 0)
	case value.InInt32, value.InInt64:
		return value.OfBits(typ.Kind, uint64(r.varint()))
	case value.InUint32, value.InUint64:
		return value.OfBits(typ.Kind, r.uvarint())
	case value.InFloat32:
		if b := r.bytes(4); b != nil {
			return value.OfF32(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case value.InFloat64:
		if b := r.bytes(8); b != nil {
			return value.OfF64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case value.InText:
		return value.OfString(r.text())
	case value.InBytes:
		return value.OfBlob(r.bytes(r.count()))
	case value.InVector:
		b := r.bytes(4 * typ.Dim)
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return value.OfVector(v)
	case value.InNone:
	}
	return value.Null
}

// ulid reads an id of 16 bytes and returns its text.
func (r *reader) ulid() string {
	var id ulid.ULID
	copy(id[:], r.bytes(len(id)))
	return id.String()
}
