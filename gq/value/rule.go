package value

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds are the ends of a range of numbers. Both ends are inclusive. If Min or Max is nil, the
// range has no limit on that side.
type Bounds struct{ Min, Max *Value }

// Check returns an error that names the bound if v is outside the range. NaN is outside every range
// that has an end.
func (b Bounds) Check(v Value) error {
	if b.Min != nil {
		if order, ok := Compare(v, *b.Min); !ok || order < 0 {
			return fmt.Errorf("found %s, expected at least %s", Text(v), Text(*b.Min))
		}
	}
	if b.Max != nil {
		if order, ok := Compare(v, *b.Max); !ok || order > 0 {
			return fmt.Errorf("found %s, expected at most %s", Text(v), Text(*b.Max))
		}
	}
	return nil
}

// String returns the bounds as @range writes them, such as `1..100` or `0..`.
func (b Bounds) String() string {
	var s strings.Builder
	if b.Min != nil {
		s.WriteString(Text(*b.Min))
	}
	s.WriteString("..")
	if b.Max != nil {
		s.WriteString(Text(*b.Max))
	}
	return s.String()
}

// Pattern is a regular expression in RE2 syntax. It matches a String if it matches any part of the
// String. A Pattern is immutable.
type Pattern struct{ re *regexp.Regexp }

// NewPattern compiles a regular expression.
func NewPattern(text string) (*Pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &Pattern{re}, nil
}

// String returns the regular expression.
func (p *Pattern) String() string { return p.re.String() }

// Equal reports whether two patterns have the same text. Either may be nil.
func (p *Pattern) Equal(q *Pattern) bool {
	return p == q || p != nil && q != nil && p.String() == q.String()
}

// maxShown is the maximum number of bytes of a String that an error of [Pattern.Check] quotes.
const maxShown = 200

// Check returns an error that names the regular expression if the String v does not match it.
func (p *Pattern) Check(v Value) error {
	s := v.Str()
	if p.re.MatchString(s) {
		return nil
	}
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return fmt.Errorf("found %q, expected a text that matches %s", s, p)
}
