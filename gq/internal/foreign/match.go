package foreign

import (
	"regexp"
	"strings"
)

// literal reads a string.
func (r *rewriter) literal() string {
	t := r.next()
	refuse(t.kind != text)
	return t.text
}

// suffix returns the operator and the operand for texts that end with a part.
func suffix(part string) string { return " matches " + quote(regexp.QuoteMeta(part)+"$") }

// like returns the operator and the operand for a pattern of LIKE, in which % stands for any text and
// _ for any character.
func like(pattern string, anyCase bool) string {
	inner := strings.Trim(pattern, "%")
	head, tail := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
	if !anyCase && !strings.ContainsAny(inner, `%_\`) {
		switch {
		case head && tail:
			return " contains " + quote(inner)
		case tail:
			return " starts_with " + quote(inner)
		case !head:
			return " = " + quote(inner)
		}
	}
	var b strings.Builder
	switch many := strings.Contains(inner, "%") || strings.Contains(inner, "_"); {
	case anyCase && many:
		b.WriteString("(?is)")
	case anyCase:
		b.WriteString("(?i)")
	case many:
		b.WriteString("(?s)") // so that . is any character
	}
	if !head {
		b.WriteByte('^')
	}
	for _, c := range inner {
		switch c {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if !tail {
		b.WriteByte('$')
	}
	return " matches " + quote(b.String())
}

// whole returns a regular expression that matches in a part of a text exactly if the pattern matches
// the whole text.
func whole(pattern string) string {
	if strings.Contains(pattern, "|") {
		return "^(?:" + pattern + ")$"
	}
	flags := ""
	if rest, ok := strings.CutPrefix(pattern, "(?i)"); ok {
		flags, pattern = "(?i)", rest
	}
	if !strings.HasPrefix(pattern, "^") {
		pattern = "^" + pattern
	}
	pattern = flags + pattern
	if !strings.HasSuffix(pattern, "$") {
		pattern += "$"
	}
	return pattern
}
