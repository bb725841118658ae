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

// OfInteger returns the value that a load writes as the integer n, such as the milliseconds of a
// DateTime. It returns an error if there is none. Call it only if Integer of the kind is not ""; for
// other kinds it always returns an error.
func (k Kind) OfInteger(n int64) (Value, error) {
	of := k.row().ofInteger
	if of == nil {
		return Null, fmt.Errorf("%s is not written as an integer", k)
	}
	stored, err := of(n)
	if err != nil {
		return Null, err
	}
	return OfBits(k, uint64(stored)), nil
}

// Code returns the number that stands for a value in plans, in records and in hashes: the same as
// [Value.Bits], except for a DateTime of whole milliseconds, whose number is these. So the numbers
// from before a DateTime kept microseconds stay valid.
func (v Value) Code() uint64 {
	if v.kind == DateTime && !v.list {
		return uint64(DateTimeValue(v.bits).code())
	}
	return v.Bits()
}

// OfCode returns the value of kind k with the given [Value.Code]. It panics where [OfBits] does.
func OfCode(k Kind, code uint64) Value {
	if k == DateTime {
		return OfDateTime(ofCode(int64(code)))
	}
	return OfBits(k, code)
}
