package value

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// MaxDigits is the largest precision of a Decimal, in digits.
const MaxDigits = 38

// decimalPattern is a regular expression for the texts that ParseDecimal accepts. It does not bound
// the digits before and after the point as a type does.
const decimalPattern = `^[-+]?[0-9]+([.][0-9]+)?$`

// maxDecimalText bounds the texts that are parsed as a Decimal, in bytes.
const maxDecimalText = 200

// powers holds the powers of ten up to 10^MaxDigits.
var powers = func() (p [MaxDigits + 1]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

// PowerOfTen returns 10^n for n up to MaxDigits. The caller must not change it.
func PowerOfTen(n int) *big.Int { return powers[n] }

// DecimalOf returns the required type Decimal(precision, scale).
func DecimalOf(precision, scale int) Type { return Type{Kind: Decimal, Dim: precision<<8 | scale} }

// IsDecimal reports whether a Decimal may have so many digits, and so many of them after the point.
func IsDecimal(precision, scale int) bool {
	return precision >= 1 && precision <= MaxDigits && scale >= 0 && scale <= precision
}

// Precision returns the largest number of digits that a value of a Decimal type has.
func (t Type) Precision() int { return t.Dim >> 8 }

// Scale returns the number of digits after the point of a value of a Decimal type.
func (t Type) Scale() int { return t.Dim & 0xff }

// Example returns a value of the type as JSON: that of its kind, or a Decimal that fits.
func (t Type) Example() string {
	if t.Kind != Decimal {
		return t.Kind.Example()
	}
	n := powers[t.Scale()]
	if t.Precision() == t.Scale() {
		n = powers[t.Scale()-1]
	}
	v, _ := OfDecimal(n, t.Scale())
	return `"` + Text(v) + `"`
}

// OfDecimal returns the Decimal unscaled × 10^−scale. It reports false if that has more than MaxDigits digits.
//
// The payload is the scale, then a byte that is 0x80 plus the number of bytes of the magnitude, then the
// magnitude with the most significant byte first. A negative number has 0x80 minus the number of bytes, and
// the complement of the magnitude. So the payloads of one scale have the order of the numbers, and equal
// numbers of one scale have equal payloads.
func OfDecimal(unscaled *big.Int, scale int) (Value, bool) {
	if scale < 0 || scale > MaxDigits || unscaled.CmpAbs(powers[MaxDigits]) >= 0 {
		return Null, false
	}
	var b [18]byte
	n := (unscaled.BitLen() + 7) / 8
	unscaled.FillBytes(b[2 : 2+n])
	b[0], b[1] = byte(scale), byte(0x80+n)
	if unscaled.Sign() < 0 {
		b[1] = byte(0x80 - n)
		for i := range n {
			b[2+i] = ^b[2+i]
		}
	}
	return Value{kind: Decimal, str: string(b[:2+n])}, true
}

// Scale returns the number of digits after the point of a Decimal.
func (v Value) Scale() int {
	v.want(v.kind == Decimal)
	if v.str == "" {
		return 0
	}
	return min(int(v.str[0]), MaxDigits)
}

// Unscaled returns a Decimal times 10^Scale.
func (v Value) Unscaled() *big.Int {
	v.want(v.kind == Decimal)
	if len(v.str) < 2 {
		return new(big.Int)
	}
	b, negative := []byte(v.str[2:]), v.str[1] < 0x80
	if negative {
		for i := range b {
			b[i] = ^b[i]
		}
	}
	n := new(big.Int).SetBytes(b)
	if negative {
		n.Neg(n)
	}
	return n
}

// Scaled returns an integer or a Decimal times 10^scale. The scale must not be below that of the Decimal.
func (v Value) Scaled(scale int) *big.Int {
	n, from := new(big.Int), 0
	switch {
	case v.kind == Decimal:
		n, from = v.Unscaled(), v.Scale()
	case v.kind == U64:
		n.SetUint64(v.bits)
	default:
		n.SetInt64(v.Int())
	}
	return n.Mul(n, powers[scale-from])
}

// Float64 returns the float that is nearest to a Decimal.
func (v Value) Float64() float64 {
	f, _ := new(big.Rat).SetFrac(v.Unscaled(), powers[v.Scale()]).Float64()
	return f
}

// Rescale returns the equal Decimal with another number of digits after the point. It reports false if there is
// none.
func (v Value) Rescale(scale int) (Value, bool) {
	n, from := v.Unscaled(), v.Scale()
	if scale < from {
		var rest big.Int
		n.QuoRem(n, powers[from-scale], &rest)
		if rest.Sign() != 0 {
			return Null, false
		}
	} else {
		n.Mul(n, powers[scale-from])
	}
	return OfDecimal(n, scale)
}

// compareDecimals orders two Decimals by their numbers.
func compareDecimals(a, b Value) int {
	x, y, from, to := a.Unscaled(), b.Unscaled(), a.Scale(), b.Scale()
	if from < to {
		x.Mul(x, powers[to-from])
	} else {
		y.Mul(y, powers[from-to])
	}
	return x.Cmp(y)
}

// CheckDecimal returns an error if a Decimal has another scale than its type, or more digits than its precision.
func (t Type) CheckDecimal(v Value) error {
	switch n := v.Unscaled(); {
	case v.Scale() != t.Scale():
		return fmt.Errorf("%s has %d digits after the point, expected %d", Text(v), v.Scale(), t.Scale())
	case n.CmpAbs(powers[min(t.Precision(), MaxDigits)]) >= 0:
		return fmt.Errorf("%s has more than %d digits before the point, and %s has no place for them", Text(v), t.Precision()-t.Scale(), t.Required())
	}
	return nil
}

// ParseDecimal parses a number as a value of a Decimal type: a sign, digits, and a point with digits. The text may have
// fewer digits after the point than the type, and zeros beyond these. It has no exponent. A number that the type would
// round is refused.
func ParseDecimal(s string, t Type) (Value, error) {
	v, err := parseDecimal(s, t.Scale())
	if err == nil {
		err = t.CheckDecimal(v)
	}
	if err != nil {
		if len(s) > 60 {
			s = s[:60] + "…"
		}
		return Null, fmt.Errorf("%q is not a %s: %w", s, Type{Kind: Decimal, Dim: t.Dim}, err)
	}
	return v, nil
}

// parseDecimal parses a number with at most `scale` digits after the point, apart from zeros.
func parseDecimal(s string, scale int) (Value, error) {
	if len(s) > maxDecimalText {
		return Null, fmt.Errorf("the text is longer than %d bytes", maxDecimalText)
	}
	digits := strings.TrimLeft(s, "+-")
	whole, fraction, point := strings.Cut(digits, ".")
	switch {
	case len(s)-len(digits) > 1 || leadingDigits(whole) != len(whole) || leadingDigits(fraction) != len(fraction),
		whole == "", point && fraction == "":
		return Null, errors.New("write digits, and a point with digits if there is a fraction, such as 12.50")
	}
	if len(fraction) > scale {
		if strings.Trim(fraction[scale:], "0") != "" {
			return Null, fmt.Errorf("it has more than %d digits after the point", scale)
		}
		fraction = fraction[:scale]
	}
	n, _ := new(big.Int).SetString(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
	if s[0] == '-' {
		n.Neg(n)
	}
	v, ok := OfDecimal(n, scale)
	if !ok {
		return Null, fmt.Errorf("it has more than %d digits", MaxDigits)
	}
	return v, nil
}

// appendDecimal appends the canonical text of a Decimal: a digit before the point at least, and as many after it as the
// scale.
func appendDecimal(dst []byte, v Value) []byte {
	n, scale := v.Unscaled(), v.Scale()
	if n.Sign() < 0 {
		dst = append(dst, '-')
		n.Neg(n)
	}
	at := len(dst)
	dst = n.Append(dst, 10)
	if have := len(dst) - at; have <= scale {
		zeros := scale + 1 - have
		dst = append(dst, make([]byte, zeros)...)
		copy(dst[at+zeros:], dst[at:at+have])
		for i := range zeros {
			dst[at+i] = '0'
		}
	}
	if scale > 0 {
		dst = append(dst, 0)
		copy(dst[len(dst)-scale:], dst[len(dst)-scale-1:])
		dst[len(dst)-scale-1] = '.'
	}
	return dst
}

// OfRaw returns the value of a kind that is stored as bytes, with the bytes that [Value.Raw] returned.
func OfRaw(k Kind, raw string) Value {
	if !storages[k].HasBytes() {
		panic("value: OfRaw does not accept the kind " + k.String())
	}
	return Value{kind: k, str: raw}
}

// Raw returns the bytes that store a String, a Blob or a Decimal.
func (v Value) Raw() string { v.want(storages[v.kind].HasBytes()); return v.str }

// DecimalValue is a Decimal in generated code and in JSON: its text, such as 12.50.
type DecimalValue string
