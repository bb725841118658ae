package value

import (
	"encoding/base64"
	"math"
	"strconv"
)

// AppendText appends the canonical text of a scalar: integers in decimal, Bool as true or false,
// floats in their shortest form with −0 as 0, Date as YYYY-MM-DD, DateTime as RFC 3339 with
// milliseconds in UTC, and Blob as base64. The ids of keyed nodes are made of this text.
// AppendText panics for lists, vectors and null.
func AppendText(dst []byte, v Value) []byte {
	if v.list {
		panic("value: text of a list")
	}
	switch v.kind {
	case String:
		return append(dst, v.str...)
	case Bool:
		return strconv.AppendBool(dst, v.bits != 0)
	case I32, I64, U32:
		return strconv.AppendInt(dst, int64(v.bits), 10)
	case U64:
		return strconv.AppendUint(dst, v.bits, 10)
	case F32:
		return AppendFloat(dst, v.Float(), 32)
	case F64:
		return AppendFloat(dst, v.Float(), 64)
	case Date:
		return DateValue(v.bits).Append(dst)
	case DateTime:
		return DateTimeValue(v.bits).Append(dst)
	case Blob:
		return base64.StdEncoding.AppendEncode(dst, []byte(v.str))
	}
	panic("value: text of " + v.Type().String())
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
