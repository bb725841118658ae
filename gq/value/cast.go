package value

import (
	"math"
	"math/big"
	"strconv"
)

// Castable says which values of one kind are values of another.
type Castable int

// The answers of [Kind.CastsTo].
const (
	CastsNone Castable = iota // no value has a meaning in the other kind, or only some have one
	CastsSome                 // the values for which [Cast] reports true
	CastsAll                  // every value
)

// CastsTo reports which values of kind k are values of another kind `to`:
//
//   - A number is every number that is equal to it.
//   - Every scalar but a Blob is the String of its canonical text; see [AppendText].
//   - A String is the number, Bool, Date, DateTime or Duration that it spells.
//   - A Date is the DateTime of its midnight in UTC, and the reverse.
//   - A Decimal is no value of another kind, and no other value is a Decimal.
func (k Kind) CastsTo(to Kind) Castable {
	switch {
	case k == to || k.Widens(to):
		return CastsAll
	case !k.IsScalarText() || !to.IsScalarText() || k == Decimal || to == Decimal:
		return CastsNone
	case to == String, k == Date && to == DateTime:
		return CastsAll
	case k == String, k == DateTime && to == Date, k.IsNumeric() && to.IsNumeric():
		return CastsSome
	}
	return CastsNone
}

// IsScalarText reports whether values of the kind have a canonical text that people read: all but Blob and Vector.
func (k Kind) IsScalarText() bool { return k.IsKind() && k != Blob && k != Vector }

// Cast converts a value to another kind; see [Kind.CastsTo]. A list is cast element by element. It reports false, and
// returns null, for a value that the other kind does not have exactly. Null stays null.
func Cast(v Value, to Kind) (Value, bool) {
	switch {
	case v.IsNull() || v.kind == to:
		return v, true
	case v.list:
		elems := make([]Value, len(v.Elems()))
		for i, e := range v.Elems() {
			var ok bool
			if elems[i], ok = Cast(e, to); !ok {
				return Null, false
			}
		}
		return OfList(to, elems), true
	case v.kind.Widens(to):
		return Widen(v, to), true
	case v.kind.CastsTo(to) == CastsNone:
		return Null, false
	case to == String:
		return OfString(Text(v)), true
	case v.kind == String:
		return parseExactly(v.str, to)
	case v.kind == Date: // to DateTime
		return OfDateTime(DateTimeValue(v.Int() * dayMicros)), true
	case v.kind == DateTime: // to Date
		day := floorDiv(v.Int(), dayMicros)
		return exactly(OfDate(DateValue(day)), day*dayMicros == v.Int())
	}
	return number(v, to)
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
	// A float is written in its shortest form, so the text keeps all its digits if it equals that form as a number.
	given, ok := new(big.Rat).SetString(s)
	shortest, _ := new(big.Rat).SetString(Text(v))
	return exactly(v, ok && given.Cmp(shortest) == 0)
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
