package value

import (
	"fmt"
	"math"
)

// OfBits returns the value of kind k with the given [Value.Bits]. It cuts the bits to the width of
// the kind; a Bool is true if any bit is set. OfBits panics for texts, bytes and vectors, which
// have no fixed width.
func OfBits(k Kind, bits uint64) Value {
	switch storages[k] {
	case InBits:
		return Value{kind: k, bits: min(bits, 1)}
	case InInt32:
		bits = uint64(int64(int32(bits)))
	case InUint32:
		bits = uint64(uint32(bits))
	case InFloat32:
		bits = math.Float64bits(float64(float32(math.Float64frombits(bits))))
	case InInt64, InUint64, InFloat64:
	case InNone, InText, InBytes, InVector:
		panic("value: OfBits does not accept the kind " + k.String())
	}
	return Value{kind: k, bits: bits}
}

// HasBits reports whether [OfBits] accepts the kind.
func (k Kind) HasBits() bool { return storages[k].IsFixed() || storages[k].IsFloat() }

// Parse parses the text of a value. The kind must satisfy [Kind.HasText].
func (k Kind) Parse(s string) (Value, error) {
	n, err := k.row().parse(s)
	if err != nil {
		return Null, err
	}
	return OfBits(k, uint64(n)), nil
}

// ParseBits is like Parse but returns the integer that represents the value in storage.
func (k Kind) ParseBits(s string) (int64, error) { return k.row().parse(s) }

// AppendText appends the text of the value that is stored as the integer n. The kind must satisfy
// [Kind.HasText].
func (k Kind) AppendText(dst []byte, n int64) []byte { return k.row().format(dst, n) }

// Integer describes the integers that a load accepts for the kind in place of a text. It returns ""
// if a load accepts no integers for the kind.
func (k Kind) Integer() string { return k.row().integer }

// CheckInteger returns an error unless the kind has a value that is stored as n. Call it only if
// Integer of the kind is not ""; for other kinds it always returns an error.
func (k Kind) CheckInteger(n int64) error {
	if inside := k.row().inside; inside != nil {
		return inside(n)
	}
	return fmt.Errorf("%s is not written as an integer", k)
}
