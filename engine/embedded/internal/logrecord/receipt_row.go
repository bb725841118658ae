package logrecord

import (
	"encoding/binary"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// rowMark is the first byte of a mutation's row in a receipt. In the receipt of a schema change,
// the encoding of a catalog takes the place of the row; it is JSON and starts with another byte.
const rowMark = 1

// appendReturned appends the row that a mutation returned, or nothing if it is nil:
//
//	mark     rowMark
//	count    uvarint
//	values   each: uvarint of twice the kind, plus 1 for a list; 0 for null. For a vector its length
//	         (uvarint); for a list the number of elements (uvarint). Then scalars as in a row.
func appendReturned(dst []byte, row []value.Value) []byte {
	if row == nil {
		return dst
	}
	dst = binary.AppendUvarint(append(dst, rowMark), uint64(len(row)))
	for _, v := range row {
		if v.IsNull() {
			dst = append(dst, 0)
			continue
		}
		if v.IsList() {
			dst = binary.AppendUvarint(dst, uint64(v.Kind())<<1|1)
			dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
			for _, e := range v.Elems() {
				dst = codec.AppendScalar(dst, e)
			}
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(v.Kind())<<1)
		if v.Kind() == value.Vector {
			dst = binary.AppendUvarint(dst, uint64(len(v.Vector())))
		}
		dst = codec.AppendScalar(dst, v)
	}
	return dst
}

// readReturned reads a row that appendReturned wrote. The caller must have read the mark.
func readReturned(r *codec.Reader) []value.Value {
	row := make([]value.Value, r.Count())
	for i := range row {
		n := r.Uvarint()
		typ := value.Of(value.Kind(n >> 1))
		switch {
		case r.Err != nil:
			return nil
		case n == 0:
			continue
		case n&1 != 0:
			elems := make([]value.Value, r.Count())
			for k := range elems {
				elems[k] = r.Scalar(typ)
			}
			row[i] = value.OfList(typ.Kind, elems)
			continue
		case typ.Kind == value.Vector:
			typ.Dim = r.Count()
		}
		row[i] = r.Scalar(typ)
	}
	return row
}
