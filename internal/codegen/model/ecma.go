package model

import (
	"strings"
)

// ecmaSafe reports whether a regular expression in RE2 syntax is also valid in ECMA-262, with and
// without the u flag, and means the same there. One difference is allowed: . in ECMA-262 does not
// match a carriage return or a line separator of Unicode. ecmaSafe knows only a common subset. When
// in doubt it returns false, and the schema omits the pattern.
func ecmaSafe(re string) bool {
	inClass, classStart := false, 0
	assertion := false // the last element matches no text, so it must not be repeated
	for i := 0; i < len(re); i++ {
		c := re[i]
		if assertion && !inClass && strings.IndexByte("*+?{", c) >= 0 {
			return false
		}
		assertion = c == '^' || c == '$' || c == '\\' && i+1 < len(re) && (re[i+1] == 'b' || re[i+1] == 'B')
		switch {
		case c >= 0x80:
			return false // matches code points in RE2, UTF-16 units in ECMA-262
		case c == '\\':
			i++
			if i == len(re) || !safeEscape(re[i], inClass) {
				return false
			}
			if inClass && isClassEscape(re[i]) && nextToHyphen(re, i) {
				return false // RE2 takes the - literally; the u flag rejects it
			}
		case inClass:
			switch c {
			case '[':
				return false // a named class in RE2; an error under the v flag
			case ']':
				if i == classStart {
					return false // a literal in RE2; the end of an empty class in ECMA-262
				}
				inClass = false
			}
		case c == '[':
			inClass, classStart = true, i+1
			if strings.HasPrefix(re[i+1:], "^") {
				i++
				classStart++
			}
		case c == '(':
			if strings.HasPrefix(re[i+1:], "?") && !strings.HasPrefix(re[i+1:], "?:") {
				return false
			}
		case c == '{':
			end := strings.IndexByte(re[i:], '}')
			if end < 0 || !repetition(re[i+1:i+end]) {
				return false
			}
			i += end
		case c == '}' || c == ']':
			return false
		}
	}
	return !inClass
}

// isClassEscape reports whether \c matches a class of characters.
func isClassEscape(c byte) bool { return strings.IndexByte("dDwW", c) >= 0 }

// nextToHyphen reports whether a - stands directly before or after the escape that ends at i.
func nextToHyphen(re string, i int) bool {
	return i >= 2 && re[i-2] == '-' || i+1 < len(re) && re[i+1] == '-'
}

// safeEscape reports whether \c means the same in RE2 and in ECMA-262. inClass says that the escape
// is between brackets.
func safeEscape(c byte, inClass bool) bool {
	switch c {
	case 'd', 'D', 'w', 'W', 't', 'n', 'r', 'f', 'v':
		return true
	case 'b', 'B', '/':
		return !inClass && c != '/'
	case '-':
		return inClass
	}
	return strings.IndexByte(`^$\.*+?()[]{}|`, c) >= 0
}

// repetition reports whether s has the form "n", "n," or "n,m".
func repetition(s string) bool {
	lo, hi, comma := strings.Cut(s, ",")
	return digits(lo) && lo != "" && digits(hi) && (comma || hi == "")
}

// digits reports whether s has only ASCII digits. An empty s has.
func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
