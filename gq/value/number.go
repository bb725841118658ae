package value

import (
	"math"
	"strconv"
)

// ParseNumber parses a decimal as a value of a numeric kind. It reports whether s is a number
// that the kind can hold.
func ParseNumber(s string, k Kind) (Value, bool) {
	if !k.IsNumeric() {
		return Null, false
	}
	var bits uint64
	var err error
	switch storages[k] {
	case InInt32:
		bits, err = signed(s, 32)
	case InInt64:
		bits, err = signed(s, 64)
	case InUint32:
		bits, err = strconv.ParseUint(s, 10, 32)
	case InUint64:
		bits, err = strconv.ParseUint(s, 10, 64)
	case InFloat32:
		bits, err = float(s, 32)
	case InFloat64:
		bits, err = float(s, 64)
	case InNone, InBits, InText, InBytes, InVector:
	}
	return OfBits(k, bits), err == nil
}

// signed parses a signed integer of the given number of bits.
func signed(s string, size int) (uint64, error) {
	n, err := strconv.ParseInt(s, 10, size)
	return uint64(n), err
}

// float parses a number of the given number of bits, and returns the bits of a float64.
func float(s string, size int) (uint64, error) {
	f, err := strconv.ParseFloat(s, size)
	return math.Float64bits(f), err
}
