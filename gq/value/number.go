package value

import "strconv"

// ParseNumber parses a decimal as a value of a numeric kind. It reports whether s is a number
// that the kind can hold.
func ParseNumber(s string, k Kind) (Value, bool) {
	switch k {
	case I32:
		n, err := strconv.ParseInt(s, 10, 32)
		return OfI32(int32(n)), err == nil
	case I64:
		n, err := strconv.ParseInt(s, 10, 64)
		return OfI64(n), err == nil
	case U32:
		n, err := strconv.ParseUint(s, 10, 32)
		return OfU32(uint32(n)), err == nil
	case U64:
		n, err := strconv.ParseUint(s, 10, 64)
		return OfU64(n), err == nil
	case F32:
		f, err := strconv.ParseFloat(s, 32)
		return OfF32(float32(f)), err == nil
	case F64:
		f, err := strconv.ParseFloat(s, 64)
		return OfF64(f), err == nil
	}
	return Null, false
}
