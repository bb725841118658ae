package naive

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// castAll casts a value to each type in turn, or the elements of a list to those of the type. It reports false if a type
// does not have the value exactly.
func castAll(v value.Value, types []value.Type) (value.Value, bool) {
	for _, t := range types {
		if v.IsNull() {
			break
		}
		if v.IsList() {
			elems := make([]value.Value, len(v.Elems()))
			for i, e := range v.Elems() {
				c, ok := castAll(e, []value.Type{t})
				if !ok {
					return value.Null, false
				}
				elems[i] = c
			}
			v = value.OfList(t.Kind, elems)
			continue
		}
		var ok bool
		if v, ok = cast(v, t); !ok {
			return value.Null, false
		}
	}
	return v, true
}

// cast casts a scalar to a type. It reports false if the type does not have exactly this value; then the result has no meaning. A
// case assumes that no earlier one fits.
func cast(v value.Value, t value.Type) (value.Value, bool) {
	const day = 24 * 60 * 60 * 1000_000 // microseconds
	switch k := t.Kind; {
	case k == value.Decimal && (v.Kind() == value.Decimal || v.Kind().IsNumeric() || v.Kind() == value.String && decimalForm.MatchString(v.Str())):
		return roundless(allDigits(v), t)
	case k == value.Decimal:
		return value.Null, false
	case v.Kind() == k:
		return v, true
	case k == value.String:
		return value.OfString(value.Text(v)), true
	case v.Kind() == value.Date:
		return value.OfDateTime(value.DateTimeValue(v.Int() * day)), k == value.DateTime
	case v.Kind() == value.DateTime:
		return value.OfDate(value.DateValue(math.Floor(float64(v.Int()) / day))), k == value.Date && v.Int()%day == 0
	case v.Kind() == value.String:
		return castText(v.Str(), k)
	case v.Kind() == value.Decimal:
		return castDecimal(value.Text(v), k)
	}
	c, err := convert(v, t)
	if err != nil {
		return value.Null, false
	}
	order, ok := value.Compare(v, c)
	return c, ok && order == 0
}

// castText casts a String to another kind, like cast.
func castText(text string, k value.Kind) (value.Value, bool) {
	switch {
	case k == value.Bool:
		return value.OfBool(text == "true"), text == "true" || text == "false"
	case k.HasText():
		parsed, err := k.Parse(text)
		return parsed, err == nil
	case k.IsFloat(): // the text has the digits of the shortest text of the float or, for an integer, all its digits
		parsed, ok := value.ParseNumber(text, k)
		return parsed, ok && (sameDigits(text, value.Text(parsed)) || sameDigits(text, allDigits(parsed)))
	}
	return value.ParseNumber(text, k)
}

// castDecimal casts a Decimal, given as text, to another kind of number, like cast.
func castDecimal(text string, k value.Kind) (value.Value, bool) {
	if k.IsFloat() { // the Decimal has all the digits of the float
		parsed, ok := value.ParseNumber(text, k)
		return parsed, ok && sameDigits(text, allDigits(parsed))
	}
	whole, _, _ := strings.Cut(text, ".")
	parsed, ok := value.ParseNumber(whole, k)
	return parsed, ok && sameDigits(text, value.Text(parsed)) // the Decimal is an integer
}

// allDigits returns the text of a number, with all the digits of a float that is an integer.
func allDigits(v value.Value) string {
	if v.Kind().IsFloat() && !math.IsNaN(v.Float()) {
		if n, exact := big.NewFloat(v.Float()).Int(nil); exact == big.Exact && n != nil {
			return n.String()
		}
	}
	return value.Text(v)
}

// roundless returns the Decimal of a type that has the digits of a number, which may have an exponent. It reports false if
// the type has no place for one of them.
func roundless(text string, t value.Type) (value.Value, bool) {
	digits, point := significant(text)
	bare := strings.TrimPrefix(digits, "-")
	switch {
	case bare == "":
		point = 0
	case point > t.Precision()-t.Scale() || len(bare)-point > t.Scale():
		return value.Null, false
	}
	n, _ := new(big.Int).SetString(strings.TrimSuffix(digits, bare)+"0"+bare+strings.Repeat("0", t.Scale()+point-len(bare)), 10)
	return value.OfDecimal(n, t.Scale())
}

// sameDigits reports whether two decimals have the same sign, significant digits and magnitude.
func sameDigits(a, b string) bool {
	x, exponentX := significant(a)
	y, exponentY := significant(b)
	return x == y && (exponentX == exponentY || x == "")
}

// significant returns the sign and the digits of a decimal without zeros at their ends, and the power of ten of the
// first digit. The digits of zero are empty. The exponent is -1<<62 for a text that is no decimal.
func significant(s string) (digits string, exponent int) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			digits = "-"
		}
		s = s[1:]
	}
	point, seen := 0, false
	var all []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			if all = append(all, c); !seen {
				point++
			}
		case c == '.':
			seen = true
		case c == 'e' || c == 'E':
			n, err := strconv.Atoi(s[i+1:])
			if err != nil || len(s)-i > 5 {
				return "none", -1 << 62
			}
			point += n
			i = len(s)
		default:
			return "none", -1 << 62
		}
	}
	for len(all) > 0 && all[0] == '0' {
		all, point = all[1:], point-1
	}
	for len(all) > 0 && all[len(all)-1] == '0' {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return "", 0
	}
	return digits + string(all), point
}
