package naive

import (
	"math"
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// castAll casts a value to each kind in turn. It reports false if a kind does not have the value exactly.
func castAll(v value.Value, kinds []value.Kind) (value.Value, bool) {
	for _, k := range kinds {
		if v.IsNull() {
			break
		}
		if v.IsList() {
			elems := make([]value.Value, len(v.Elems()))
			for i, e := range v.Elems() {
				c, ok := castAll(e, []value.Kind{k})
				if !ok {
					return value.Null, false
				}
				elems[i] = c
			}
			v = value.OfList(k, elems)
			continue
		}
		var ok bool
		if v, ok = cast(v, k); !ok {
			return value.Null, false
		}
	}
	return v, true
}

// cast casts a scalar to a kind, and reports whether the kind has the value.
func cast(v value.Value, k value.Kind) (value.Value, bool) {
	const day = 24 * 60 * 60 * 1000_000
	switch {
	case v.Kind() == k:
		return v, true
	case k == value.String:
		return value.OfString(value.Text(v)), true
	case v.Kind() == value.Date:
		return value.OfDateTime(value.DateTimeValue(v.Int() * day)), k == value.DateTime
	case v.Kind() == value.DateTime:
		return value.OfDate(value.DateValue(math.Floor(float64(v.Int()) / day))), k == value.Date && v.Int()%day == 0
	case v.Kind() == value.String && k == value.Bool:
		return value.OfBool(v.Str() == "true"), v.Str() == "true" || v.Str() == "false"
	case v.Kind() == value.String && k.HasText():
		parsed, err := k.Parse(v.Str())
		return parsed, err == nil
	case v.Kind() == value.String && k.IsFloat():
		parsed, ok := value.ParseNumber(v.Str(), k)
		return parsed, ok && sameDigits(v.Str(), value.Text(parsed))
	case v.Kind() == value.String:
		return value.ParseNumber(v.Str(), k)
	}
	c, err := convert(v, value.Type{Kind: k})
	if err != nil {
		return value.Null, false
	}
	order, ok := value.Compare(v, c)
	return c, ok && order == 0
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
