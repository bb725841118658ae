package exec

import (
	"math/bits"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/text"
)

// defaultEdits is the edit distance of `fuzzy` when the query gives none. It is also the maximum.
const defaultEdits = 2

// indexAfter is the number of rows of a run that are matched by tokenizing their texts. For more
// rows the run uses the index, although the index may have to be built.
const indexAfter = 64

// textMatch is a bound text match.
type textMatch struct {
	src   plan.TextMatch // the match in the plan
	kind  plan.TextKind  // any token, phrase or fuzzy
	prop  *expr          // the property to search in
	query *expr          // the search text
	edits *expr          // nil for the default
}

// text binds a text match and returns its position in b.texts.
func (b *binder) text(m plan.TextMatch) (int, error) {
	if i, ok := b.boundText(m); ok {
		return i, nil
	}
	t := &textMatch{src: m, kind: m.Kind}
	var err error
	if t.prop, err = b.expr(m.Prop); err != nil {
		return 0, err
	}
	if t.query, err = b.expr(m.Query); err != nil {
		return 0, err
	}
	if t.prop.typ.Kind != value.String || t.prop.typ.List {
		return 0, mismatch("%s cannot search a property of type %s", m.Kind, t.prop.typ)
	}
	if !isText(t.query) {
		return 0, mismatch("%s cannot search for a value of type %s", m.Kind, t.query.typ)
	}
	if t.query.kind != exprConst {
		return 0, &engine.Unsupported{Construct: m.Kind.String() + " with a search text that differs from row to row"}
	}
	if m.MaxEdits != nil {
		if t.edits, err = b.expr(m.MaxEdits); err != nil {
			return 0, err
		}
		if t.edits.kind != exprConst {
			return 0, &engine.Unsupported{Construct: "fuzzy with a distance that differs from row to row"}
		}
	}
	key := keyOf(plan.Matched{Match: m})
	if b.textsOf == nil {
		b.textsOf = map[string][]int{}
	}
	b.textsOf[key] = append(b.textsOf[key], len(b.texts))
	b.texts = append(b.texts, t)
	return len(b.texts) - 1, nil
}

// isText reports whether the query of a text search is a text or null.
func isText(query *expr) bool {
	if lit, ok := query.src.(plan.Lit); ok && lit.Value.IsNull() {
		return true
	}
	return query.typ.Kind == value.String && !query.typ.List
}

// boundText finds a text match that is already bound.
func (b *binder) boundText(m plan.TextMatch) (int, bool) {
	for _, i := range b.textsOf[keyOf(plan.Matched{Match: m})] {
		b.step(1)
		if reflect.DeepEqual(b.texts[i].src, m) {
			return i, true
		}
	}
	return 0, false
}

// textQuery is the query of a text match in one run.
type textQuery struct {
	ready  bool     // whether the fields below are set for this run
	tokens []string // of the search text
	edits  int      // greatest edit distance of a fuzzy match
	buf    []string // tokens of the text that is compared
	seen   int      // number of rows matched so far
	// Used for a phrase that is matched against many texts, so that each word is stemmed
	// only once.
	analyzer *text.Analyzer
	phrase   []uint32 // numbers of the query's tokens in analyzer
	numbers  []uint32 // numbers of the compared text's tokens in analyzer
	// found is true once the field `set` holds the ordinals that the index proposes: the texts that
	// match, or, for a phrase, the texts that contain its tokens.
	found bool
	set   engine.Bitmap // see found
}

// textQuery returns the query of a match in this run.
func (ev *evaluator) textQuery(id int) (*textMatch, *textQuery) {
	m, q := ev.texts[id], &ev.queries[id]
	if q.ready {
		return m, q
	}
	q.ready, q.tokens, q.edits, q.seen, q.found = true, q.tokens[:0], defaultEdits, 0, false
	if v := ev.constant(m.query); !v.IsNull() {
		q.tokens = tokensFor(m.kind, q.tokens, v.Str())
	}
	if m.edits != nil {
		if v := ev.constant(m.edits); !v.IsNull() {
			q.edits = int(max(0, min(defaultEdits, int64(v.Bits()))))
		}
	}
	return m, q
}

// tokensFor appends the tokens of a text that matter to a kind of match.
func tokensFor(kind plan.TextKind, dst []string, s string) []string {
	if kind == plan.Fuzzy {
		return text.AppendBoth(dst, s)
	}
	return text.AppendTokens(dst, s)
}

// propose asks the index for the ordinals that may match.
func (ev *evaluator) propose(m *textMatch, q *textQuery) {
	if q.found {
		return
	}
	q.found = true
	table := ev.table(m.prop.v)
	words := (int(table.Ordinals()) + 63) / 64
	q.set = slices.Grow(q.set[:0], words)[:words]
	clear(q.set)
	if len(q.tokens) == 0 {
		return
	}
	view := ev.text(table, m.prop.prop)
	switch m.kind {
	case plan.Search:
		view.Any(q.tokens, q.set)
	case plan.Phrase:
		view.All(q.tokens, q.set)
		q.beginPhrase()
	case plan.Fuzzy:
		view.Near(q.tokens, q.edits, q.set)
	}
}

// matchPresent is matchText for a frame in which the variable of the text is never null.
func (ev *evaluator) matchPresent(id int, f *frame, yield func(i int, ok bool)) {
	m, q := ev.textQuery(id)
	if q.seen += f.n; q.seen > indexAfter {
		ev.propose(m, q)
	}
	if !q.found {
		vec := ev.eval(m.prop, f)
		for i := range f.n {
			yield(i, len(q.tokens) > 0 && !vec.IsNull(i) && q.holds(m.kind, vec.Strings[i]))
		}
		return
	}
	verify := m.kind == plan.Phrase && len(q.tokens) > 1
	table := ev.table(m.prop.v)
	for i, ord := range f.cols[m.prop.v][:f.n] {
		ok := q.set.Get(int(ord))
		if ok && verify {
			v := table.Value(ord, m.prop.prop)
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
		q.analyzer = text.NewAnalyzer()
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
				if text.Within(t, w, q.edits) {
					return true
				}
			}
		}
	}
	return false
}

// textScan binds a variable to the entities that the index proposes for a text match. The
// filter for the match still runs afterwards, because the index may propose texts that do not match.
type textScan struct {
	v    plan.VarID   // the variable that it binds
	text int          // position in query.texts
	vars []plan.VarID // already bound
	id   int          // position in matcher.frames of the frame for the result
}

// textFilter finds a text match on a variable and returns its position in query.texts.
func (pl *planner) textFilter(s *scope, v plan.VarID) (text int, ok bool) {
	for w := range pl.filtersOn(s, v) {
		if t := w.cond.text; t >= 0 && pl.texts[t].prop.v == v {
			return t, true
		}
	}
	return 0, false
}

// addTextScan adds a step that binds v to the entities that text match number `text` proposes.
func (pl *planner) addTextScan(s *scope, v plan.VarID, text int) {
	s.pipe.steps = append(s.pipe.steps, &textScan{v: v, text: text, vars: slices.Clip(s.vars), id: pl.frame()})
	s.bind(v)
}

// run implements step.
func (s *textScan) run(m *matcher, p *pipe, at int, f *frame) error {
	match, q := m.textQuery(s.text)
	m.propose(match, q)
	out := m.frame(s.id, s.vars)
	if cap(out.cols[s.v]) < frameSize {
		out.cols[s.v] = make([]uint32, frameSize)
	}
	for i := range f.n {
		for w, word := range q.set {
			if f.isDone(i) {
				break
			}
			if err := m.tick(1); err != nil {
				return err
			}
			for ; word != 0; word &= word - 1 {
				for _, v := range s.vars {
					out.cols[v] = out.cols[v][:frameSize]
				}
				out.copyRow(f, i, s.vars)
				out.cols[s.v] = out.cols[s.v][:frameSize]
				out.cols[s.v][out.n] = uint32(w*64 + bits.TrailingZeros64(word))
				if out.n++; out.n == frameSize {
					if err := m.flush(p, at, out); err != nil {
						return err
					}
				}
			}
		}
	}
	return m.flush(p, at, out)
}
