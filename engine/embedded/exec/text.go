package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/text"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// defaultEdits is the distance of fuzzy when none is given, and the largest.
const defaultEdits = 2

// textMatch is a bound text match.
type textMatch struct {
	kind  plan.TextKind
	prop  *expr
	query *expr
	edits *expr // nil for the default
}

// textQuery is the query text of a match in one run.
type textQuery struct {
	ready  bool
	tokens []string
	edits  int
	buf    []string
}

// matchText tells for each row of a frame whether a text match holds.
func (st *state) matchText(id int, f *frame, yield func(i int, ok bool)) {
	m, q := st.texts[id], &st.queries[id]
	if !q.ready {
		q.ready, q.tokens, q.edits = true, q.tokens[:0], defaultEdits
		if v := st.constant(m.query); !v.IsNull() {
			q.tokens = text.AppendTokens(q.tokens, v.Str())
		}
		if m.edits != nil {
			if v := st.constant(m.edits); !v.IsNull() {
				q.edits = int(max(0, min(defaultEdits, int64(v.Bits()))))
			}
		}
	}
	vec := st.eval(m.prop, f)
	for i := range f.n {
		if vec.IsNull(i) || len(q.tokens) == 0 {
			yield(i, false)
			continue
		}
		q.buf = text.AppendTokens(q.buf[:0], vec.Strings[i])
		yield(i, q.matches(m.kind))
	}
}

// matches compares the tokens of a row with those of the query.
func (q *textQuery) matches(kind plan.TextKind) bool {
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
				if text.Within(t, w, q.edits) {
					return true
				}
			}
		}
	}
	return false
}
