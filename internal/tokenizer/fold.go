package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// segmented returns s with apostrophes that would separate the letters around them as plain ones.
func segmented(s string) string {
	if strings.Contains(s, "´") || strings.Contains(s, "‛") {
		return apostrophes.Replace(s)
	}
	return s
}

// apostrophes replaces the apostrophes at which UAX #29 ends a word.
var apostrophes = strings.NewReplacer("´", "'", "‛", "'")

// fold returns the one form of the spellings of a word that differ in case, width, apostrophes, the
// marks of Latin and Greek letters, or composition. It reports whether the word had such marks.
func fold(w string) (folded string, marked bool) {
	if isASCII(w) {
		return strings.ToLower(w), false
	}
	var b strings.Builder
	b.Grow(len(w))
	bare := false // whether the letter before is Latin or Greek, so that its marks are dropped
	for _, r := range norm.NFD.String(width.Fold.String(w)) {
		switch {
		case !unicode.Is(unicode.Mn, r):
			bare = unicode.In(r, unicode.Latin, unicode.Greek)
		case bare:
			marked = true
			continue
		}
		switch r {
		case '\u2018', '\u2019', '\u02BB', '\u02BC':
			r = '\''
		default:
			r = unicode.ToLower(unicode.ToUpper(r)) // also folds lower-case variants, such as a final sigma
		}
		b.WriteRune(r)
	}
	return strings.Trim(norm.NFC.String(b.String()), "'"), marked
}

// isASCII reports whether all bytes of s are ASCII.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
