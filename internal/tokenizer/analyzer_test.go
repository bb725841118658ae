package tokenizer

import (
	"slices"
	"testing"
)

// FuzzAnalyzer compares AppendTokens with Analyzer on a text. It runs the analyzer twice, because
// the second run finds the words in its cache.
func FuzzAnalyzer(f *testing.F) {
	for _, s := range []string{"", "the Red foxes, running", "don't 3.14 naïve É é e\u0301", "\xff a\xffb", "Ⅷ ß ẞ İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := NewAnalyzer()
		want := AppendTokens(nil, s)
		for range 2 {
			var got []string
			for _, n := range a.Append(nil, s) {
				got = append(got, a.Tokens[n])
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	})
}

func FuzzWithin(f *testing.F) {
	f.Add("fox", "fxo", 2)
	f.Add("", "ab", 1)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		if limit < 0 || limit > 3 || len(a) > 60 || len(b) > 60 {
			return
		}
		if got, want := Within(a, b, limit), distance([]rune(a), []rune(b)) <= limit; got != want && a != b {
			t.Fatalf("%q and %q within %d: %t, want %t", a, b, limit, got, want)
		}
	})
}

// distance computes the Levenshtein distance directly from its recurrence.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			d := diagonal
			if x != y {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
