package value

import (
	"cmp"
	"math"
	"slices"
)

// Value is a scalar, a list of scalars, a vector, or null. The zero Value is null. Values are
// immutable. An accessor panics if the value is of a kind that the accessor does not return.
type Value struct {
	kind Kind   // of the value; for a list, of its elements
	list bool   // whether the value is a list; `ref` then holds the elements
	bits uint64 // the payload of a kind of fixed width: two's complement, or the bits of a float64
	str  string // a text, or bytes, or the payload of a Decimal
	ref  any    // []Value of a list, []float32 of a Vector
}

// Null is the null value.
var Null = Value{}

// OfString returns a String value.
func OfString(s string) Value { return Value{kind: String, str: s} }

// OfBool returns a Bool value.
func OfBool(b bool) Value {
	if b {
		return Value{kind: Bool, bits: 1}
	}
	return Value{kind: Bool}
}

// OfI32 returns an I32 value.
func OfI32(n int32) Value { return Value{kind: I32, bits: uint64(int64(n))} }

// OfI64 returns an I64 value.
func OfI64(n int64) Value { return Value{kind: I64, bits: uint64(n)} }

// OfU32 returns a U32 value.
func OfU32(n uint32) Value { return Value{kind: U32, bits: uint64(n)} }

// OfU64 returns a U64 value.
func OfU64(n uint64) Value { return Value{kind: U64, bits: n} }

// OfF32 returns an F32 value.
func OfF32(f float32) Value { return Value{kind: F32, bits: math.Float64bits(float64(f))} }

// OfF64 returns an F64 value.
func OfF64(f float64) Value { return Value{kind: F64, bits: math.Float64bits(f)} }

// OfDate returns a Date value.
func OfDate(d DateValue) Value { return Value{kind: Date, bits: uint64(int64(d))} }

// OfDateTime returns a DateTime value.
func OfDateTime(t DateTimeValue) Value { return Value{kind: DateTime, bits: uint64(t)} }

// OfBlob returns a Blob value holding a copy of b.
func OfBlob(b []byte) Value { return Value{kind: Blob, str: string(b)} }

// OfVector returns a Vector value. It keeps v, so the caller must not change v afterwards.
func OfVector(v []float32) Value { return Value{kind: Vector, ref: v} }

// OfList returns a list of scalars of kind k. It keeps the slice `elems`, so the caller must not
// change this slice afterwards.
func OfList(k Kind, elems []Value) Value { return Value{kind: k, list: true, ref: elems} }

// OfRecords returns a list of records. Each record holds the values of the fields in the order of its
// type; a value may be null. The elements of the list are lists, and their kind has no meaning. OfRecords
// keeps the slices, so the caller must not change them afterwards.
func OfRecords(records [][]Value) Value {
	elems := make([]Value, len(records))
	for i, r := range records {
		elems[i] = OfRecord(r)
	}
	return Value{kind: String, list: true, ref: elems}
}

// OfRecord returns a record with the values of its fields, in the order of its type. A value may be null. The
// record is a list, whose kind has no meaning. OfRecord keeps the slice, so the caller must not change it
// afterwards.
func OfRecord(fields []Value) Value { return Value{kind: String, list: true, ref: fields} }

// Kind returns the kind of a scalar, the kind of a list's elements, or Invalid for null.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Invalid }

// IsList reports whether v is a list.
func (v Value) IsList() bool { return v.list }

// want panics if v is a list, or if ok is false.
func (v Value) want(ok bool) {
	if v.list || !ok {
		panic("value: wrong accessor for " + v.Type().String())
	}
}

// Str returns the text of a String.
func (v Value) Str() string { v.want(v.kind == String); return v.str }

// Bool returns the value of a Bool.
func (v Value) Bool() bool { v.want(v.kind == Bool); return v.bits != 0 }

// Int returns the integer that represents v: the number of an I32, I64 or U32, the days of a Date,
// or the microseconds of a DateTime. The kind of v must be one that is stored in 32 bits or as an
// int64.
func (v Value) Int() int64 {
	v.want(storages[v.kind].IsSigned() && v.kind != Bool)
	return int64(v.bits)
}

// Uint returns the number of a U32 or U64.
func (v Value) Uint() uint64 { v.want(v.kind == U32 || v.kind == U64); return v.bits }

// Float returns the number of an F32 or F64.
func (v Value) Float() float64 { v.want(v.kind.IsFloat()); return math.Float64frombits(v.bits) }

// Bytes returns the bytes of a Blob.
func (v Value) Bytes() []byte { v.want(v.kind == Blob); return []byte(v.str) }

// Vector returns the components of a Vector; the caller must not change them.
func (v Value) Vector() []float32 { v.want(v.kind == Vector); return v.ref.([]float32) }

// Elems returns the elements of a list; the caller must not change them.
func (v Value) Elems() []Value {
	if !v.list {
		panic("value: Elems does not accept the type " + v.Type().String())
	}
	return v.ref.([]Value)
}

// Bits returns the payload of a kind of fixed width: two's complement for integers, and the bits of
// a float64 for floats. [OfBits] is the inverse.
func (v Value) Bits() uint64 { return v.bits }

// Type returns the type of a value that is not null. The type does not include the values of an
// enum.
func (v Value) Type() Type {
	t := Type{Kind: v.kind, List: v.list}
	switch {
	case v.list:
	case v.kind == Vector:
		t.Dim = len(v.ref.([]float32))
	case v.kind == Decimal:
		return DecimalOf(MaxDigits, v.Scale())
	}
	return t
}

// Equal reports whether two values are identical: the same kind, both or neither a list, and the
// same contents. NaN equals NaN, and null equals null. Equal is not the = operator of the
// languages; see [Compare] for that.
func Equal(a, b Value) bool {
	if a.kind != b.kind || a.list != b.list || a.bits != b.bits || a.str != b.str {
		return false
	}
	if a.list {
		return slices.EqualFunc(a.Elems(), b.Elems(), Equal)
	}
	if a.kind == Vector {
		return slices.EqualFunc(a.Vector(), b.Vector(), func(x, y float32) bool {
			return math.Float32bits(x) == math.Float32bits(y)
		})
	}
	return true
}

// Compare orders two scalars of the same kind. It compares two numbers of any kinds exactly, by
// their mathematical values. ok is false if either value is null or NaN, or if the kinds are not
// comparable; every comparison is then false.
func Compare(a, b Value) (order int, ok bool) {
	if a.list || b.list {
		return 0, false
	}
	switch {
	case a.kind.IsNumeric() && b.kind.IsNumeric():
		return compareNumbers(a, b)
	case a.kind != b.kind:
		return 0, false
	}
	switch s := storages[a.kind]; {
	case !a.kind.IsComparable():
		return 0, false
	case a.kind == Decimal && a.Scale() != b.Scale():
		return compareDecimals(a, b), true
	case s.HasBytes():
		return cmp.Compare(a.str, b.str), true
	case s == InUint64:
		return cmp.Compare(a.bits, b.bits), true
	default:
		return cmp.Compare(int64(a.bits), int64(b.bits)), true
	}
}

// compareNumbers compares numbers of any kinds. It reports false if one is NaN.
func compareNumbers(a, b Value) (int, bool) {
	switch {
	case a.kind.IsFloat() && b.kind.IsFloat():
		x, y := a.Float(), b.Float()
		if math.IsNaN(x) || math.IsNaN(y) {
			return 0, false
		}
		return cmp.Compare(x, y), true
	case a.kind.IsFloat():
		c, ok := compareIntFloat(b, a.Float())
		return -c, ok
	case b.kind.IsFloat():
		return compareIntFloat(a, b.Float())
	}
	aNeg, bNeg := a.kind != U64 && int64(a.bits) < 0, b.kind != U64 && int64(b.bits) < 0
	switch {
	case aNeg && bNeg:
		return cmp.Compare(int64(a.bits), int64(b.bits)), true
	case aNeg:
		return -1, true
	case bNeg:
		return 1, true
	}
	return cmp.Compare(a.bits, b.bits), true
}

// compareIntFloat orders an integer and a float without rounding the integer.
func compareIntFloat(n Value, f float64) (int, bool) {
	switch {
	case math.IsNaN(f):
		return 0, false
	case f >= 1<<64:
		return -1, true
	case f < -(1 << 63):
		return 1, true
	}
	whole := math.Floor(f)
	var m Value
	if whole < 0 {
		m = OfI64(int64(whole))
	} else {
		m = OfU64(uint64(whole))
	}
	c, _ := compareNumbers(n, m)
	if c == 0 && f > whole {
		c = -1
	}
	return c, true
}

// BlobValue is a Blob in JSON: base64 with padding.
type BlobValue []byte
