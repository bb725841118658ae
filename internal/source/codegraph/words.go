package codegraph

import (
	"strings"
	"unicode"
)

// Words splits identifiers as split does, and joins the words in lower
// case with spaces: HTTPServer2 becomes http server 2.
func Words(identifiers ...string) string {
	var out []string
	for _, id := range identifiers {
		out = append(out, split(id)...)
	}
	return strings.Join(out, " ")
}

// split splits an identifier into words in lower case: at case changes, at digits, and at characters
// that are neither letters nor digits.
func split(id string) []string {
	var out []string
	rs := []rune(id)
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(string(rs[start:end])))
		}
		start = end
	}
	for i, c := range rs {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c):
			flush(i)
			start = i + 1
		case i == start:
		case unicode.IsDigit(c) != unicode.IsDigit(rs[i-1]):
			flush(i)
		case unicode.IsUpper(c) && !unicode.IsUpper(rs[i-1]):
			flush(i)
		case unicode.IsLower(c) && i >= 2 && unicode.IsUpper(rs[i-1]) && unicode.IsUpper(rs[i-2]) && i-1 > start:
			flush(i - 1) // the S of HTTPServer begins a word
		}
	}
	flush(len(rs))
	return out
}
