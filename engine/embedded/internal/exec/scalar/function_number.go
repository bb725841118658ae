package scalar

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// number converts a number to the nearest float.
func number(v value.Value) float64 {
	switch {
	case v.Kind().IsFloat():
		return v.Float()
	case v.Kind() == value.U64:
		return float64(v.Uint())
	case v.Kind() == value.Decimal:
		return v.Float64()
	}
	return float64(v.Int())
}

// Widen converts a number to the kind `to` (I64, U64 or F64), in which operators compute. It
// returns every other value unchanged.
func Widen(v value.Value, to value.Kind) value.Value {
	switch {
	case v.Kind() == to || v.IsList() || !v.Kind().IsNumeric():
		return v
	case to.IsFloat():
		return value.OfF64(number(v))
	}
	return value.OfBits(to, v.Bits())
}

// positiveZero is added to each float result. The addition turns −0 into 0, so that two results
// that are equal are also the same value.
const positiveZero = 0.0

// finite returns a float as a value, or ErrRange if the float is infinite or NaN.
func finite(f float64) (value.Value, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return value.Null, ErrRange
	}
	return value.OfF64(f + positiveZero), nil
}

// arithmetic makes an operator from functions that compute with Decimals of one scale, signed integers, unsigned integers
// and floats. The first one is nil for the product, whose operands need no common scale.
func arithmetic(decimals func(z, a, b *big.Int) *big.Int, ints func(a, b int64) (int64, bool), uints func(a, b uint64) (uint64, bool), floats func(a, b float64) float64) function {
	return func(typ value.Type, args []value.Value) (value.Value, error) {
		switch typ.Kind {
		case value.Decimal:
			a, b, n := args[0], args[1], new(big.Int)
			if decimals == nil {
				n.Mul(a.Scaled(scaleOf(a)), b.Scaled(scaleOf(b)))
			} else {
				decimals(n, a.Scaled(typ.Scale()), b.Scaled(typ.Scale()))
			}
			return decimalOf(n, typ.Scale())
		case value.F64:
			return finite(floats(number(args[0]), number(args[1])))
		case value.U64:
			if n, ok := uints(args[0].Uint(), args[1].Uint()); ok {
				return value.OfU64(n), nil
			}
		default:
			if n, ok := ints(args[0].Int(), args[1].Int()); ok {
				return value.OfI64(n), nil
			}
		}
		return value.Null, ErrRange
	}
}

// scaleOf returns the number of digits after the point of a Decimal or an integer.
func scaleOf(v value.Value) int {
	if v.Kind() == value.Decimal {
		return v.Scale()
	}
	return 0
}

// The operators on integers report false if the result is out of range.

// addInts returns the sum of a and b, and whether it is in range.
func addInts(a, b int64) (int64, bool) {
	n := a + b
	return n, (n > a) == (b > 0) || fault.On(fault.SumWraps)
}

// subtractInts returns a minus b, and whether it is in range.
func subtractInts(a, b int64) (int64, bool) {
	n := a - b
	return n, (n < a) == (b > 0)
}

// multiplyInts returns the product of a and b, and whether it is in range.
func multiplyInts(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	n := a * b
	return n, n/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

// addUints returns the sum of a and b, and whether it is in range.
func addUints(a, b uint64) (uint64, bool) {
	n, carry := bits.Add64(a, b, 0)
	return n, carry == 0
}

// subtractUints returns a minus b, and whether it is in range.
func subtractUints(a, b uint64) (uint64, bool) { return a - b, a >= b }

// multiplyUints returns the product of a and b, and whether it is in range.
func multiplyUints(a, b uint64) (uint64, bool) {
	high, n := bits.Mul64(a, b)
	return n, high == 0
}

// divide returns the quotient of two numbers as a float.
func divide(_ value.Type, args []value.Value) (value.Value, error) {
	by := number(args[1])
	if by == 0 {
		return value.Null, ErrZero
	}
	return finite(number(args[0]) / by)
}

// modulo returns the remainder, which has the sign of the dividend.
func modulo(typ value.Type, args []value.Value) (value.Value, error) {
	switch a, b := args[0], args[1]; {
	case number(b) == 0:
		return value.Null, ErrZero
	case typ.Kind == value.F64:
		return finite(math.Mod(number(a), number(b)))
	case typ.Kind == value.U64:
		return value.OfU64(a.Uint() % b.Uint()), nil
	case b.Int() == -1:
		return value.OfI64(0), nil
	default:
		return value.OfI64(a.Int() % b.Int()), nil
	}
}

// abs returns the absolute value of a number, in the number's own type.
func abs(_ value.Type, args []value.Value) (value.Value, error) {
	v := args[0]
	switch k := v.Kind(); {
	case k == value.Decimal:
		n := v.Unscaled()
		return decimalOf(n.Abs(n), v.Scale())
	case k.IsFloat():
		return value.OfBits(k, math.Float64bits(math.Abs(v.Float()))), nil
	case k == value.U32 || k == value.U64 || v.Int() >= 0:
		return v, nil
	case k == value.I32 && v.Int() == math.MinInt32, v.Int() == math.MinInt64:
		return value.Null, ErrRange
	default:
		return value.OfBits(k, uint64(-v.Int())), nil
	}
}

// whole rounds a float with the function `rounding`, and a Decimal away from zero if the function `away` says so; see wholeDecimal. It
// returns an integer unchanged.
func whole(v value.Value, rounding func(float64) float64, away func(negative bool, half int) bool) (value.Value, error) {
	switch {
	case v.Kind() == value.Decimal:
		return wholeDecimal(v, away)
	case !v.Kind().IsFloat():
		return v, nil
	}
	return value.OfBits(v.Kind(), math.Float64bits(rounding(v.Float())+positiveZero)), nil
}

// wholeDecimal rounds a Decimal. If it has a fraction, `away` decides whether away from zero or towards it. The argument `half` is negative
// if the fraction is less than a half, 0 if it is a half, and positive otherwise.
func wholeDecimal(v value.Value, away func(negative bool, half int) bool) (value.Value, error) {
	one, rest, n := value.PowerOfTen(v.Scale()), new(big.Int), v.Unscaled()
	n.QuoRem(n, one, rest)
	if rest.Sign() != 0 && away(rest.Sign() < 0, new(big.Int).Lsh(rest, 1).CmpAbs(one)) {
		n.Add(n, big.NewInt(int64(rest.Sign())))
	}
	return decimalOf(n.Mul(n, one), v.Scale())
}

// decimalOf returns a Decimal, or ErrDigits if it has too many digits.
func decimalOf(unscaled *big.Int, scale int) (value.Value, error) {
	if v, ok := value.OfDecimal(unscaled, scale); ok {
		return v, nil
	}
	return value.Null, ErrDigits
}

func round(_ value.Type, args []value.Value) (value.Value, error) {
	return whole(args[0], math.Round, func(_ bool, half int) bool { return half >= 0 })
}

func floor(_ value.Type, args []value.Value) (value.Value, error) {
	return whole(args[0], math.Floor, func(negative bool, _ int) bool { return negative })
}

func ceil(_ value.Type, args []value.Value) (value.Value, error) {
	return whole(args[0], math.Ceil, func(negative bool, _ int) bool { return !negative })
}

// toInt converts a number or a text to an I64 and rounds towards zero. The result is null if the
// text is not a number, or if the number does not fit into an I64.
func toInt(_ value.Type, args []value.Value) (value.Value, error) {
	v := args[0]
	if v.Kind() == value.String {
		s, ok := decimal(v.Str())
		if !ok {
			return value.Null, nil
		}
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return value.OfI64(n), nil
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return value.Null, nil
		}
		v = value.OfF64(f)
	}
	switch k := v.Kind(); {
	case k == value.Decimal:
		n := v.Unscaled()
		if n.Quo(n, value.PowerOfTen(v.Scale())); !n.IsInt64() {
			return value.Null, nil
		}
		return value.OfI64(n.Int64()), nil
	case k == value.U64 && v.Uint() > math.MaxInt64:
		return value.Null, nil
	case !k.IsFloat():
		return value.OfI64(int64(v.Bits())), nil
	}
	f := math.Trunc(v.Float())
	if !(f >= -(1<<63) && f < 1<<63) {
		return value.Null, nil
	}
	return value.OfI64(int64(f)), nil
}

// toFloat converts a number or a text to an F64. The result is null if the text is not a finite
// number.
func toFloat(_ value.Type, args []value.Value) (value.Value, error) {
	v := args[0]
	if v.Kind() != value.String {
		return value.OfF64(number(v)), nil
	}
	s, ok := decimal(v.Str())
	if !ok {
		return value.Null, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return value.Null, nil
	}
	return value.OfF64(f + positiveZero), nil
}

// decimal reports whether a text is a decimal number: an optional sign, digits, an optional
// fraction and an optional exponent. It also returns the text itself.
func decimal(s string) (string, bool) {
	rest := s
	sign := func() {
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			rest = rest[1:]
		}
	}
	digits := func() bool {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		rest = rest[n:]
		return n > 0
	}
	sign()
	ok := digits()
	if ok && rest != "" && rest[0] == '.' {
		rest = rest[1:]
		ok = digits()
	}
	if ok && rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		sign()
		ok = digits()
	}
	return s, ok && rest == ""
}
