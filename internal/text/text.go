// Package text cuts texts into the tokens that full-text search uses.
package text

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// AppendTokens appends the tokens of a text. They are the words (by UAX #29) that hold a letter or
// a digit, lower-cased, without Snowball's English stop words, and stemmed by Porter2.
func AppendTokens(dst []string, s string) []string {
	it := words.FromString(s)
	var env *snowballstem.Env
	for it.Next() {
		if env == nil {
			env = snowballstem.NewEnv("")
		}
		if token, ok := tokenOf(it.Value(), env); ok {
			dst = append(dst, token)
		}
	}
	return dst
}

// Within reports whether the Levenshtein distance of two texts, in code points, is `limit` or less.
func Within(a, b string, limit int) bool {
	if a == b {
		return true
	}
	if d := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); d > limit || -d > limit {
		return false
	}
	var runes [2 * 32]rune
	x, y := appendRunes(runes[:0:32], a), appendRunes(runes[32:32], b)
	if len(x) > len(y) {
		x, y = y, x
	}
	var short [33]int
	row := short[:]
	if len(x) >= len(short) {
		row = make([]int, len(x)+1)
	}
	for i := range row {
		row[i] = i
	}
	for j, r := range y {
		diagonal := row[0]
		row[0] = j + 1
		best := row[0]
		for i, q := range x {
			d := diagonal
			if q != r {
				d = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], d
			best = min(best, d)
		}
		if best > limit {
			return false
		}
	}
	return row[len(x)] <= limit
}

// appendRunes appends the code points of s.
func appendRunes(dst []rune, s string) []rune {
	for _, r := range s {
		dst = append(dst, r)
	}
	return dst
}
