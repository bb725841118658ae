package sink

import (
	"encoding/binary"
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// appendGroupKey appends an encoding of value i to dst. Two values have the same encoding
// exactly if they are equal.
func appendGroupKey(dst []byte, v *column.Vec, i int) []byte {
	if v.IsNull(i) {
		if fault.On(fault.NullsApart) {
			dst = append(dst, byte(i), byte(i>>8))
		}
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.Type.List {
		return appendListKey(dst, v.Lists[i])
	}
	switch v.Type.Kind.Storage() {
	case value.InText, value.InBytes:
		dst = binary.AppendUvarint(dst, uint64(len(v.Strings[i])))
		return append(dst, v.Strings[i]...)
	case value.InFloat32, value.InFloat64:
		return binary.LittleEndian.AppendUint64(dst, floatKey(v.Floats[i]))
	case value.InVector:
		for _, x := range v.Vectors[i] {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
		return dst
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.Ints[i]))
}

// appendListKey appends the bytes of a list to a group key. Lists that belong to the same group
// have the same bytes.
func appendListKey(dst []byte, v value.Value) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
	for _, e := range v.Elems() {
		switch {
		case e.Kind().Storage().HasBytes():
			dst = binary.AppendUvarint(dst, uint64(len(e.Raw())))
			dst = append(dst, e.Raw()...)
		case e.Kind().IsFloat():
			dst = binary.LittleEndian.AppendUint64(dst, floatKey(e.Float()))
		default:
			dst = binary.LittleEndian.AppendUint64(dst, e.Bits())
		}
	}
	return dst
}

// floatKey returns the bits of f, and the same bits for −0 and 0, because they are equal.
func floatKey(f float64) uint64 {
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}
