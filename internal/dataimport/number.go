package dataimport

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// numberFormat is the way in which a source writes numbers.
type numberFormat struct {
	point string // before the fraction; "" if the pattern has none
	group string // between groups of three digits; "" for none
}

// parseNumberFormat reads the pattern of the number 1234.56, such as 1.234,56 or 1 234,5.
func parseNumberFormat(pattern string) (numberFormat, error) {
	var f numberFormat
	var marks []string
	digits := []string{""}
	for _, r := range pattern {
		if r >= '0' && r <= '9' {
			digits[len(digits)-1] += string(r)
			continue
		}
		marks = append(marks, string(r))
		digits = append(digits, "")
	}
	bad := fmt.Errorf("number is %q, expected the number 1234.56 as the source writes it, such as %q, %q or %q", pattern, "1.234,56", "1,234.56", "1234,56")
	last := len(digits) - 1
	if digits[0] == "" || digits[last] == "" || len(marks) == 0 || len(marks) > 2 {
		return f, bad
	}
	f.point = marks[len(marks)-1]
	if len(marks) == 2 {
		f.group = marks[0]
		if f.group == f.point || len(digits[1]) != 3 {
			return f, bad
		}
	} else if len(digits[last]) == 3 {
		return f, fmt.Errorf("number is %q, which does not say whether the mark is before the fraction or between thousands; write the number 1234.56 as the source writes it", pattern)
	}
	return f, nil
}

// plain returns the number in the notation of JSON.
func (f numberFormat) plain(text string) (string, error) {
	sign := ""
	rest := text
	if r, ok := strings.CutPrefix(rest, "-"); ok {
		sign, rest = "-", r
	} else if r, ok := strings.CutPrefix(rest, "−"); ok {
		sign, rest = "-", r
	}
	whole, fraction, hasPoint := strings.Cut(rest, f.point)
	if f.group != "" && strings.Contains(whole, f.group) || f.group == " " && strings.ContainsAny(whole, "\u00a0\u202f") {
		if f.group == " " {
			whole = strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(whole)
		}
		groups := strings.Split(whole, f.group)
		for i, g := range groups {
			if len(g) != 3 && i > 0 || len(g) == 0 || len(g) > 3 {
				return "", fmt.Errorf("expected a number as the map says: groups of three digits with %q between them, and %q before the fraction", f.group, f.point)
			}
		}
		whole = strings.Join(groups, "")
	}
	if !isDigits(whole) || hasPoint && !isDigits(fraction) {
		marks := fmt.Sprintf("%q before the fraction", f.point)
		if f.group != "" {
			marks += fmt.Sprintf(" and %q between thousands", f.group)
		}
		return "", fmt.Errorf("expected a number as the map says, with %s", marks)
	}
	if hasPoint {
		return sign + whole + "." + fraction, nil
	}
	return sign + whole, nil
}

// isDigits reports whether a text has digits alone, at least one.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// decimal is a decimal number: the digits before and after the point.
type decimal struct {
	negative        bool
	whole, fraction string // without zeros at the front of whole and at the end of fraction
}

// maxExponent bounds the digits that an exponent adds to a number.
const maxExponent = 400

// parseDecimal parses a number in the notation of JSON, also with a plus sign, zeros in front, or without digits before the
// point.
func parseDecimal(s string) (decimal, bool) {
	var d decimal
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		d.negative, s = true, rest
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		digits := strings.TrimPrefix(s[i+1:], "+")
		negative := strings.HasPrefix(digits, "-")
		digits = strings.TrimPrefix(digits, "-")
		if !isDigits(digits) {
			return d, false
		}
		for _, c := range digits {
			if exponent = 10*exponent + int(c-'0'); exponent > maxExponent {
				return d, false
			}
		}
		if negative {
			exponent = -exponent
		}
		s = s[:i]
	}
	whole, fraction, hasPoint := strings.Cut(s, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" || hasPoint && fraction == "" && whole == "" {
		return d, false
	}
	for ; exponent > 0; exponent-- {
		if fraction == "" {
			whole += strings.Repeat("0", exponent)
			break
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; exponent < 0; exponent++ {
		if whole == "" {
			fraction = strings.Repeat("0", -exponent) + fraction
			break
		}
		last := len(whole) - 1
		whole, fraction = whole[:last], whole[last:]+fraction
	}
	d.whole, d.fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	return d, true
}

// String returns the number without an exponent.
func (d decimal) String() string {
	s := cmp.Or(d.whole, "0") + "." + cmp.Or(d.fraction, "0")
	if d.negative {
		s = "-" + s
	}
	return s
}

// integer returns the digits of a whole number. If the number has a fraction, integer rounds half away from zero if `round` is
// set, and fails otherwise.
func (d decimal) integer(round bool) (string, error) {
	whole := d.whole
	if d.fraction != "" {
		if !round {
			return "", errors.New("the number has a fraction, and the property takes whole numbers; write round: integer in the map to round it")
		}
		if d.fraction[0] >= '5' {
			whole = increment(whole)
		}
	}
	if whole == "" {
		return "0", nil
	}
	if d.negative {
		return "-" + whole, nil
	}
	return whole, nil
}

// increment adds one to a number of digits.
func increment(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}

// twoReadings says how a text that is no number of JSON could be read as one.
func twoReadings(text string) error {
	var ways []string
	for _, pattern := range []string{"1,234.56", "1.234,56", "1 234,56"} {
		f, err := parseNumberFormat(pattern)
		if err != nil {
			panic(err)
		}
		if plain, err := f.plain(text); err == nil {
			ways = append(ways, fmt.Sprintf("%s with number: %q", plain, pattern))
		}
	}
	switch len(ways) {
	case 0:
		return errors.New("expected a number")
	case 1:
		return fmt.Errorf("expected a number such as 1234.56; in the map the text is %s", ways[0])
	}
	return fmt.Errorf("the text could be two numbers; say which in the map: %s", strings.Join(ways, ", or "))
}

// trimBlanks removes blanks around a text.
func trimBlanks(s string) string {
	if s != "" && (s[0] > ' ' && s[0] < utf8.RuneSelf) && s[len(s)-1] > ' ' && s[len(s)-1] < utf8.RuneSelf {
		return s
	}
	return strings.TrimSpace(s)
}
