package value

import (
	"math"
	"math/big"
	"strconv"
)

// Castable says which values of one kind are values of another.
type Castable int

// The answers of [Type.CastsTo].
const (
	CastsNone Castable = iota // no value has a meaning in the other type, or only some have one
	CastsSome                 // the values for which [Cast] reports true
	CastsAll                  // every value
)

// CastsTo reports which values of type t are values of another type `to`, apart from nulls and the values of enums:
//
//   - A number is every number that is equal to it. If the other one is a Decimal, a float that is no integer is the number of
//     its shortest text.
//   - A String is a float if it is that float's shortest text as a number, or equal to a float that is an integer.
//   - Every scalar but a Blob is the String of its canonical text; see [AppendText].
//   - A String is the number, Bool, Date, DateTime or Duration that it spells.
//   - A Date is the DateTime of its midnight in UTC, and the reverse.
//   - A list is the list of its elements.
func (t Type) CastsTo(to Type) Castable {
	k, o := t.Kind, to.Kind
	number := func(k Kind) bool { return k.IsNumeric() || k == Decimal }
	switch {
	case t.List != to.List, k == Vector && t.Dim != to.Dim:
		return CastsNone
	case k == Decimal && o == Decimal:
		return allOrSome(to.Scale() >= t.Scale() && to.whole() >= t.whole())
	case k == o || k.Widens(o):
		return CastsAll
	case !k.IsScalarText() || !o.IsScalarText():
		return CastsNone
	case o == Decimal && k.IsInteger():
		return allOrSome(to.whole() >= k.digits())
	case o == String, k == Date && o == DateTime:
		return CastsAll
	case k == String, k == DateTime && o == Date, number(k) && number(o):
		return CastsSome
	}
	return CastsNone
}

// allOrSome returns CastsAll if `all` is true.
func allOrSome(all bool) Castable {
	if all {
		return CastsAll
	}
	return CastsSome
}

// whole returns the largest number of digits before the point of a value of a Decimal type.
func (t Type) whole() int { return t.Precision() - t.Scale() }

// digits returns the largest number of digits of a value of an integer kind.
func (k Kind) digits() int {
	switch storages[k] {
	case InUint64:
		return 20
	case InInt64:
		return 19
	}
	return 10
}

// IsScalarText reports whether values of the kind have a canonical text that people read: all but Blob and Vector.
func (k Kind) IsScalarText() bool { return k.IsKind() && k != Blob && k != Vector }

// Cast converts a value to another type; see [Type.CastsTo]. A list is cast element by element. It reports false, and
// returns null, for a value that the other type does not have exactly. Null stays null.
func Cast(v Value, t Type) (Value, bool) {
	switch to := t.Kind; {
	case v.IsNull() || v.kind == to && to != Decimal:
		return v, true
	case v.list:
		elems := make([]Value, len(v.Elems()))
		for i, e := range v.Elems() {
			var ok bool
			if elems[i], ok = Cast(e, t.Elem()); !ok {
				return Null, false
			}
		}
		return OfList(to, elems), true
	case v.kind.Widens(to):
		return Widen(v, to), true
	case v.Type().CastsTo(t.Elem()) == CastsNone:
		return Null, false
	case to == Decimal:
		return toDecimal(v, t)
	case to == String:
		return OfString(Text(v)), true
	case v.kind == String:
		return parseExactly(v.str, to)
	case v.kind == Date: // to DateTime
		return OfDateTime(DateTimeValue(v.Int() * dayMicros)), true
	case v.kind == DateTime: // to Date
		day := floorDiv(v.Int(), dayMicros)
		return exactly(OfDate(DateValue(day)), day*dayMicros == v.Int())
	case v.kind == Decimal && to.IsInteger():
		if whole, ok := v.Rescale(0); ok {
			return parseExactly(Text(whole), to)
		}
		return Null, false
	case v.kind == Decimal: // to a float
		f, _ := ParseNumber(Text(v), to)
		back, ok := toDecimal(f, v.Type())
		return exactly(f, ok && Equal(back, v))
	}
	return number(v, t.Kind)
}

// toDecimal converts a number or its text to a Decimal type. It reports false for a text of no number, and for a number
// that the type would round or that has too many digits.
func toDecimal(v Value, t Type) (out Value, ok bool) {
	switch {
	case v.kind == String:
		var err error
		out, err = ParseDecimal(v.str, t)
		return exactly(out, err == nil)
	case v.kind.IsFloat(): // all digits of an integer, or else the shortest text that parses to the float, without an exponent
		bits, digits := 64, -1
		if v.kind == F32 {
			bits = 32
		}
		if isWhole(v.Float()) {
			digits = 0
		}
		var err error
		out, err = parseDecimal(strconv.FormatFloat(v.Float(), 'f', digits, bits), t.Scale())
		ok = err == nil
	case v.kind == Decimal:
		out, ok = v.Rescale(t.Scale())
	default:
		out, ok = OfDecimal(v.Scaled(t.Scale()), t.Scale())
	}
	return exactly(out, ok && t.CheckDecimal(out) == nil)
}

// number converts a number to another numeric kind. It reports whether the results are equal.
func number(v Value, to Kind) (Value, bool) {
	var out Value
	switch whole := v.kind.IsInteger(); {
	case to == F32 || to == F64:
		f := v.asFloat()
		if to == F32 {
			f = float64(float32(f))
		}
		out = OfBits(to, math.Float64bits(f))
	case whole && v.kind == U64:
		out, _ = ParseNumber(strconv.FormatUint(v.bits, 10), to)
	case whole:
		out, _ = ParseNumber(strconv.FormatInt(int64(v.bits), 10), to)
	default:
		n, _ := big.NewFloat(finite(v.Float())).Int(nil)
		out, _ = ParseNumber(n.String(), to)
	}
	c, ok := Compare(v, out)
	return exactly(out, ok && c == 0)
}

// exactly returns v, or null if ok is false.
func exactly(v Value, ok bool) (Value, bool) {
	if !ok {
		return Null, false
	}
	return v, true
}

// isWhole reports whether a float is an integer.
func isWhole(f float64) bool { return !math.IsInf(f, 0) && f == math.Trunc(f) }

// finite returns f, or a fraction if f is infinite or not a number, so that it equals no integer.
func finite(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0.5
	}
	return f
}

// asFloat returns the number as a float64, rounded.
func (v Value) asFloat() float64 {
	switch {
	case v.kind.IsFloat():
		return v.Float()
	case v.kind == U64:
		return float64(v.bits)
	}
	return float64(int64(v.bits))
}

// maxNumberText bounds the texts that are cast to a float, in bytes. It is more than the digits of the exact text of
// every float64.
const maxNumberText = 1100

// parseExactly parses a text as a value of a kind. It reports false for a text of no value, and for a number that the
// kind would round.
func parseExactly(s string, to Kind) (Value, bool) {
	switch {
	case to == Bool:
		return exactly(OfBool(s == "true"), s == "true" || s == "false")
	case to.HasText():
		v, err := to.Parse(s)
		return exactly(v, err == nil)
	}
	v, ok := ParseNumber(s, to)
	switch {
	case !ok || to.IsFloat() && (len(s) > maxNumberText || !decimal(s)):
		return Null, false
	case to.IsInteger():
		return v, true
	}
	// A float is written in its shortest form, so the text keeps all its digits if it equals that form as a number. The shortest
	// form of a large integer has zeros for its last digits.
	given, ok := new(big.Rat).SetString(s)
	shortest, _ := new(big.Rat).SetString(Text(v))
	return exactly(v, ok && (given.Cmp(shortest) == 0 || isWhole(v.Float()) && given.Cmp(new(big.Rat).SetFloat64(v.Float())) == 0))
}

// decimal reports whether a text that strconv accepts as a float is a decimal with an exponent of at most four
// characters, so that its exact value is small.
func decimal(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '-', c == '.', c == '+' && i > 0:
		case c == 'e' || c == 'E':
			return len(s)-i <= 5
		default:
			return false
		}
	}
	return true
}
