package eval

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// defaultEdits is the edit distance of `fuzzy` when the query gives none. It is also the maximum.
const defaultEdits = 2

// indexAfter is the number of rows of a run that are matched by tokenizing their texts. For more
// rows the run uses the index, although the index may have to be built.
const indexAfter = 64

// textQuery is the query of a text match in one run.
type textQuery struct {
	ready  bool     // whether the fields below are set for this run
	tokens []string // of the search text
	edits  int      // greatest edit distance of a fuzzy match
	buf    []string // tokens of the text that is compared
	seen   int      // number of rows matched so far
	// Used for a phrase that is matched against many texts, so that each word is stemmed
	// only once.
	analyzer *tokenizer.Analyzer
	phrase   []uint32 // numbers of the query's tokens in analyzer
	numbers  []uint32 // numbers of the compared text's tokens in analyzer
	// found is true once the field Set holds the ordinals that the index proposes: the texts that
	// match, or, for a phrase, the texts that contain its tokens.
	found bool
	Set   engine.Bitmap // see found
}

// TextQuery returns the query of a match in this run.
func (ev *Evaluator) TextQuery(id int) (*ir.TextMatch, *textQuery) {
	m, q := ev.Texts[id], &ev.queries[id]
	if q.ready {
		return m, q
	}
	q.ready, q.tokens, q.edits, q.seen, q.found = true, q.tokens[:0], defaultEdits, 0, false
	if v := ev.Constant(m.Query); !v.IsNull() {
		q.tokens = tokensFor(m.Kind, q.tokens, v.Str())
	}
	if m.Edits != nil {
		if v := ev.Constant(m.Edits); !v.IsNull() {
			q.edits = int(max(0, min(defaultEdits, int64(v.Bits()))))
		}
	}
	return m, q
}

// tokensFor appends the tokens of a text that matter to a kind of match.
func tokensFor(kind plan.TextKind, dst []string, s string) []string {
	if kind == plan.Fuzzy {
		return tokenizer.AppendBoth(dst, s)
	}
	return tokenizer.AppendTokens(dst, s)
}

// Propose asks the index for the ordinals that may match.
func (ev *Evaluator) Propose(m *ir.TextMatch, q *textQuery) {
	if q.found {
		return
	}
	q.found = true
	table := ev.Table(m.Prop.Var)
	words := (int(table.Ordinals()) + 63) / 64
	q.Set = slices.Grow(q.Set[:0], words)[:words]
	clear(q.Set)
	if len(q.tokens) == 0 {
		return
	}
	view := ev.text(table, m.Prop.Prop)
	switch m.Kind {
	case plan.Search:
		view.Any(q.tokens, q.Set)
	case plan.Phrase:
		view.All(q.tokens, q.Set)
		q.beginPhrase()
	case plan.Fuzzy:
		view.Near(q.tokens, q.edits, q.Set)
	}
}

// matchPresent is matchText for a frame in which the variable of the text is never null.
func (ev *Evaluator) matchPresent(id int, f *Frame, yield func(i int, ok bool)) {
	m, q := ev.TextQuery(id)
	if q.seen += f.N; q.seen > indexAfter {
		ev.Propose(m, q)
	}
	if !q.found {
		vec := ev.Eval(m.Prop, f)
		for i := range f.N {
			yield(i, len(q.tokens) > 0 && !vec.IsNull(i) && q.holds(m.Kind, vec.Strings[i]))
		}
		return
	}
	verify := m.Kind == plan.Phrase && len(q.tokens) > 1
	table := ev.Table(m.Prop.Var)
	for i, ord := range f.Cols[m.Prop.Var][:f.N] {
		ok := q.Set.Get(int(ord))
		if ok && verify {
			v := table.Value(ord, m.Prop.Prop)
			ok = q.holdsPhrase(v.Str())
		}
		yield(i, ok)
	}
}

// maxSpellings is the maximum number of spellings in an analyzer that a query keeps for the next
// run.
const maxSpellings = 1 << 14

// beginPhrase prepares holdsPhrase.
func (q *textQuery) beginPhrase() {
	if q.analyzer == nil || q.analyzer.Size() > maxSpellings {
		q.analyzer = tokenizer.NewAnalyzer()
	}
	q.phrase = q.phrase[:0]
	for _, t := range q.tokens {
		q.phrase = append(q.phrase, q.analyzer.Number(t))
	}
}

// holdsPhrase reports whether a text contains the tokens of the query consecutively.
func (q *textQuery) holdsPhrase(s string) bool {
	q.numbers = q.analyzer.Append(q.numbers[:0], s)
	for i := 0; i+len(q.phrase) <= len(q.numbers); i++ {
		if slices.Equal(q.numbers[i:i+len(q.phrase)], q.phrase) {
			return true
		}
	}
	return false
}

// holds reports whether the tokens of a text match those of the query.
func (q *textQuery) holds(kind plan.TextKind, s string) bool {
	q.buf = tokensFor(kind, q.buf[:0], s)
	switch kind {
	case plan.Search:
		for _, t := range q.buf {
			if slices.Contains(q.tokens, t) {
				return true
			}
		}
	case plan.Phrase:
		for i := 0; i+len(q.tokens) <= len(q.buf); i++ {
			if slices.Equal(q.buf[i:i+len(q.tokens)], q.tokens) {
				return true
			}
		}
	case plan.Fuzzy:
		for _, t := range q.buf {
			for _, w := range q.tokens {
				if tokenizer.Within(t, w, q.edits) {
					return true
				}
			}
		}
	}
	return false
}
