package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// defaultMaxEdits is the maximum edit distance of a fuzzy match that does not specify one.
const defaultMaxEdits = 2

// matchesText reports whether a text match holds. It does not hold if either side is null, or if
// the query text has no tokens.
func (ev *evaluation) matchesText(m plan.TextMatch) bool {
	document, query := ev.eval(m.Prop), ev.eval(m.Query)
	if document.IsNull() || query.IsNull() {
		return false
	}
	have, want := tokenizer.AppendTokens(nil, document.Str()), tokenizer.AppendTokens(nil, query.Str())
	if len(want) == 0 {
		return false
	}
	has := func(w string) bool { return slices.Contains(have, w) }
	switch m.Kind {
	case plan.Search:
		if ev.g.fault == AnyTokenIsAll {
			return !slices.ContainsFunc(want, func(w string) bool { return !has(w) })
		}
		return slices.ContainsFunc(want, has)
	case plan.Phrase:
		if ev.g.fault == PhraseUnordered {
			return !slices.ContainsFunc(want, func(w string) bool { return !has(w) })
		}
		for i := 0; i+len(want) <= len(have); i++ {
			if slices.Equal(have[i:i+len(want)], want) {
				return true
			}
		}
		return false
	case plan.Fuzzy:
		most := defaultMaxEdits
		if m.MaxEdits != nil {
			most = int(toFloat(ev.eval(m.MaxEdits)))
		}
		if ev.g.fault == FuzzyShort {
			most--
		}
		have, want = tokenizer.AppendBoth(nil, document.Str()), tokenizer.AppendBoth(nil, query.Str())
		return slices.ContainsFunc(want, func(w string) bool {
			return slices.ContainsFunc(have, func(h string) bool { return edits([]rune(w), []rune(h)) <= most })
		})
	}
	panic("naive: unknown text match")
}

// edits computes the Levenshtein distance in code points directly from its recurrence.
func edits(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
		}
	}
	return table[len(a)][len(b)]
}
