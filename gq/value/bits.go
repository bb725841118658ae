package value

import (
	"fmt"
	"math"
)

// OfBits returns the value of a kind of fixed width whose [Value.Bits] are bits. Bits beyond the
// width of the kind do not count. OfBits panics for a kind that is a text, bytes or a vector.
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
		panic("value: bits of " + k.String())
	}
	return Value{kind: k, bits: bits}
}

// HasBits reports whether [OfBits] takes the kind.
func (k Kind) HasBits() bool { return storages[k].IsFixed() || storages[k].IsFloat() }

// Parse returns the value of a kind with [Kind.HasText] from its text.
func (k Kind) Parse(s string) (Value, error) {
	n, err := k.row().parse(s)
	if err != nil {
		return Null, err
	}
	return OfBits(k, uint64(n)), nil
}

// ParseBits is like Parse, and returns the integer that is stored.
func (k Kind) ParseBits(s string) (int64, error) { return k.row().parse(s) }

// AppendText appends the text of the integer n as the stored form of a value of the kind, which
// must satisfy [Kind.HasText].
func (k Kind) AppendText(dst []byte, n int64) []byte { return k.row().format(dst, n) }

// Integer describes the values that a load accepts for the kind if it also accepts an integer in
// place of the text, and returns "" otherwise.
func (k Kind) Integer() string { return k.row().integer }

// CheckInteger returns an error if the kind has no value that is stored as n. It is for kinds for
// which Integer is not "".
func (k Kind) CheckInteger(n int64) error {
	if inside := k.row().inside; inside != nil {
		return inside(n)
	}
	return fmt.Errorf("%s is not written as an integer", k)
}
