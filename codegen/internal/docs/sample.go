package docs

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// sampleMatch returns a short text that a regular expression matches, or "" if it cannot find one
// easily.
func sampleMatch(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	sampleOf(&b, re)
	s := b.String()
	if ok, err := regexp.MatchString(pattern, s); err != nil || !ok {
		return ""
	}
	return s
}

// sampleOf writes a short text that re matches: one repetition for +, the minimum number for {n,m},
// and nothing for * and ?.
func sampleOf(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(sampleRune(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		sampleOf(b, re.Sub[0])
	case syntax.OpRepeat:
		for range min(re.Min, 100) {
			sampleOf(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sampleOf(b, sub)
		}
	case syntax.OpAlternate:
		sampleOf(b, re.Sub[0])
	}
}

// sampleRune returns a letter or digit of a class if it has one, else its first rune.
func sampleRune(ranges []rune) rune {
	for _, r := range "aA1x0" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return r
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
