package scalar

import (
	"fmt"
	"math"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Convert converts a number, or a list of numbers, to another numeric kind. It rounds
// integers to floats, and converts floats to integers only if they are whole. A result out
// of range is an error. A value that is not a number is returned unchanged; the type check
// will reject it.
func Convert(v value.Value, to value.Kind) (value.Value, error) {
	if v.IsList() {
		elems := make([]value.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			var err error
			if elems[i], err = Convert(e, to); err != nil {
				return value.Null, err
			}
		}
		return value.OfList(to, elems), nil
	}
	from := v.Kind()
	if from == to || !from.IsNumeric() || !to.IsNumeric() {
		return v, nil
	}
	outside := fmt.Errorf("%s is not a value of type %s", value.Text(v), to)
	if to.IsFloat() {
		var f float64
		switch {
		case from.IsFloat():
			f = v.Float()
		case from == value.U64:
			f = float64(v.Uint())
		default:
			f = float64(v.Int())
		}
		if to == value.F64 {
			return value.OfF64(f), nil
		}
		if math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0) {
			return value.Null, outside
		}
		return value.OfF32(float32(f)), nil
	}
	if from.IsFloat() {
		f := v.Float()
		switch {
		case f != math.Trunc(f) || math.IsInf(f, 0):
			return value.Null, outside
		case f >= 0 && f < 1<<64:
			v = value.OfU64(uint64(f))
		case f >= -(1<<63) && f < 0:
			v = value.OfI64(int64(f))
		default:
			return value.Null, outside
		}
	}
	// Here v is an integer. A U64 above the int64 range fits only into U64.
	if v.Kind() == value.U64 && v.Uint() > math.MaxInt64 {
		if to == value.U64 {
			return v, nil
		}
		return value.Null, outside
	}
	n := int64(v.Bits())
	switch s := to.Storage(); {
	case s == value.InInt32 && n != int64(int32(n)), s == value.InUint32 && n != int64(uint32(n)), s == value.InUint64 && n < 0:
		return value.Null, outside
	}
	return value.OfBits(to, uint64(n)), nil
}
