package value

import (
	"encoding/base64"
	"math"
	"strconv"
)

// AppendText appends the canonical text of a scalar: integers in decimal, Bool as true or false,
// floats in their shortest form with −0 as 0, Blob as base64, and a kind with [Kind.HasText] in
// its own form, such as YYYY-MM-DD. The ids of keyed nodes consist of this text. AppendText panics
// for lists, vectors and null.
func AppendText(dst []byte, v Value) []byte {
	if v.list {
		panic("value: a list has no text form")
	}
	switch {
	case v.kind == Decimal:
		return appendDecimal(dst, v)
	case v.kind.HasText():
		return v.kind.AppendText(dst, int64(v.bits))
	}
	switch storages[v.kind] {
	case InText:
		return append(dst, v.str...)
	case InBytes:
		return base64.StdEncoding.AppendEncode(dst, []byte(v.str))
	case InBits:
		return strconv.AppendBool(dst, v.bits != 0)
	case InInt32, InUint32, InInt64:
		return strconv.AppendInt(dst, int64(v.bits), 10)
	case InUint64:
		return strconv.AppendUint(dst, v.bits, 10)
	case InFloat32:
		return AppendFloat(dst, v.Float(), 32)
	case InFloat64:
		return AppendFloat(dst, v.Float(), 64)
	case InNone, InVector:
	}
	panic("value: AppendText does not accept the type " + v.Type().String())
}

// AppendFloat appends f in the shortest decimal form that parses to the same float of the given
// bit size. It writes −0 as 0.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	format := byte('f')
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, bits)
}

// Text returns the canonical text of a scalar; see [AppendText].
func Text(v Value) string { return string(AppendText(nil, v)) }
