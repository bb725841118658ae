// Package tokenizer cuts texts into the tokens that full-text search uses.
package tokenizer

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// AppendTokens appends the tokens of a text: the stems, by Porter2, of its words (by UAX #29) that hold
// a letter or a digit, without Snowball's English stop words. Words are folded first: case, width,
// apostrophes, the marks of Latin and Greek letters, and composition make no difference.
func AppendTokens(dst []string, s string) []string {
	return appendTokens(dst, s, false)
}

// AppendBoth is like AppendTokens, and appends after a stem also the folded word if it differs.
func AppendBoth(dst []string, s string) []string {
	return appendTokens(dst, s, true)
}

// appendTokens appends the stems of a text, and the folded words that differ from them if `both` is set.
func appendTokens(dst []string, s string, both bool) []string {
	it := words.FromString(segmented(s))
	var env *snowballstem.Env
	for it.Next() {
		if env == nil {
			env = snowballstem.NewEnv("")
		}
		stem, written, ok := tokensOf(it.Value(), env)
		if ok {
			dst = append(dst, stem)
		}
		if ok && both && written != stem {
			dst = append(dst, written)
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
