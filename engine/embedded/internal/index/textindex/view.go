package textindex

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// View is the inverted index of a table's texts in one state. It consists of indexes
// built for earlier states, each with the set of documents that died since. A View is
// immutable, and shares its indexes with the earlier views from which it was made.
type View struct {
	runs []textRun  // the larger ones first
	rows index.Rows // the rows in this state
	next uint32     // number of ordinals assigned in this state
	docs uint64     // number of live texts
	sum  uint64     // number of their tokens

	stored *storedView // nil if the view was not stored; see Unread

	mu sync.Mutex        // guards df
	df map[string]uint32 // cache: document frequencies of terms, for views with dead documents
}

// textRun is an index and the set of its dead documents.
type textRun struct {
	*Text
	dead  engine.Bitmap // nil for none
	gone  int           // number of dead documents
	owned bool          // `dead` belongs to the view under construction
}

// Source returns the text of a row; ok is false if the text is null.
type Source func(row uint32) (text string, ok bool)

// NewView indexes the texts of the live entities with ordinals less than `next`.
func NewView(next uint32, rows index.Rows, source Source) *View {
	return free(Build(index.Work{Ctx: context.Background()}, next, rows, source))
}

// free returns v. It panics on an error, which cannot occur without limits.
func free(v *View, err error) *View {
	if err != nil {
		panic("textindex: " + err.Error())
	}
	return v
}

// Build is [NewView] within limits. The only possible errors are that of the context and that of
// Spend.
func Build(w index.Work, next uint32, rows index.Rows, source Source) (*View, error) {
	v := &View{rows: rows, next: next}
	err := v.push(w, int(next), rangeOf(w, 0, rows, source))
	return v, err
}

// rangeOf returns a function that yields the texts of the live entities in a range of ordinals. The
// bounds of the range are relative to the ordinal `first`.
func rangeOf(w index.Work, first uint32, rows index.Rows, source Source) func(from, to int, yield func(textDoc) bool) {
	return func(from, to int, yield func(textDoc) bool) {
		for ord := first + uint32(from); ord < first+uint32(to); ord++ {
			if ord%index.CancelEvery == 0 && w.Ctx.Err() != nil {
				return
			}
			if row := rows.Get(ord); row != index.Dead {
				if s, ok := source(row); ok && !yield(textDoc{ord, row, s}) {
					return
				}
			}
		}
	}
}

// Update returns the view of a later state of the same table, in which rows have kept their
// numbers. Update takes time in proportion to the number of changes since v. Over many updates with
// n changes in all, the merges of runs bring the total to O(n log n).
func (v *View) Update(next uint32, rows index.Rows, source Source) *View {
	return free(Update(index.Work{Ctx: context.Background()}, v, next, rows, source))
}

// Update is [View.Update] within limits. The only possible errors are that of the context and
// that of Spend.
func Update(w index.Work, v *View, next uint32, rows index.Rows, source Source) (*View, error) {
	if v.stored != nil && v.stored.pending.Left() {
		v.stored.pending.Resolve(func() { v.read(source) })
	}
	if v.stored != nil && v.stored.old {
		return Build(w, next, rows, source)
	}
	u := &View{rows: rows, next: next, docs: v.docs, sum: v.sum, runs: slices.Clone(v.runs)}
	for i := range u.runs {
		u.runs[i].owned = false
	}
	var docs []textDoc
	rows.Changes(&v.rows, v.next, next, func(ord, was, is uint32) {
		if was != index.Dead {
			u.markDead(ord, was)
		}
		if is != index.Dead {
			if s, ok := source(is); ok {
				docs = append(docs, textDoc{ord, is, s})
			}
		}
	})
	err := u.push(w, len(docs), rangesOf(docs))
	if err != nil {
		return nil, err
	}
	u.compact(len(docs) > 0)
	return u, nil
}

// rangesOf returns a function that yields the documents in a range of the list docs.
func rangesOf(docs []textDoc) func(from, to int, yield func(textDoc) bool) {
	return func(from, to int, yield func(textDoc) bool) {
		for _, d := range docs[from:to] {
			if !yield(d) {
				return
			}
		}
	}
}

// push adds a run with the documents at n places, if there are any; see buildText.
func (v *View) push(w index.Work, n int, each func(from, to int, yield func(textDoc) bool)) error {
	if n == 0 {
		return nil
	}
	x, err := buildText(w, n, each)
	if err != nil {
		return err
	}
	if x.docs > 0 {
		v.docs += uint64(x.docs)
		v.sum += x.sum
		v.runs = append(v.runs, textRun{Text: x})
	}
	return nil
}

// markDead marks the document of a row as dead, if there is one.
func (v *View) markDead(ord, row uint32) {
	for i := range v.runs {
		r := &v.runs[i]
		var w window
		d, ok := r.document(&w, ord)
		if !ok || r.Text.rows.at(new(window), d) != row || r.dead != nil && r.dead.Get(int(d)) {
			continue
		}
		v.bury(r, d)
		return
	}
}

// bury marks a live document as dead.
func (v *View) bury(r *textRun, d uint32) {
	if !r.owned {
		dead := engine.NewBitmap(int(r.docs))
		copy(dead, r.dead)
		r.dead, r.owned = dead, true
	}
	r.dead.Set(int(d))
	r.gone++
	v.docs--
	v.sum -= uint64(r.lens.at(new(window), d))
}

// maxMerged is the maximum size, in bytes, of a run that the method compact makes from two runs. It
// bounds the time and the memory of an update of a view. Tests lower it.
var maxMerged = 64 << 20

// size returns the approximate size of the index in bytes.
func (x *Text) size() int { return 12*int(x.docs) + x.dictionary.size + x.postings.size }

// compact drops the dead documents of each run that has many of them. If there is a new run,
// compact also merges the last two runs, again and again, until the first of the two has more than
// twice as many documents as the second, or the two together would exceed maxMerged.
func (v *View) compact(newRun bool) {
	for i := range v.runs {
		if r := &v.runs[i]; r.gone > 64 && r.gone > int(r.docs)/4 {
			*r = textRun{Text: mergeTexts(*r)}
		}
	}
	for n := len(v.runs); newRun && n > 1 && v.runs[n-2].docs <= 2*v.runs[n-1].docs && v.runs[n-2].size()+v.runs[n-1].size() <= maxMerged; n = len(v.runs) {
		v.runs = append(v.runs[:n-2], textRun{Text: mergeTexts(v.runs[n-2], v.runs[n-1])})
	}
}

// Documents returns the number of live texts.
func (v *View) Documents() uint64 { return v.docs }

// Frequency returns the number of live texts that contain a token.
func (v *View) Frequency(token string) uint32 {
	lists := make([]postings, len(v.runs))
	for i := range v.runs {
		lists[i], _ = v.runs[i].find(token)
	}
	return v.frequency(token, func(i int) *postings { return &lists[i] })
}

// frequency does the work of Frequency for a token. The function `in` returns the token's postings
// in run i.
func (v *View) frequency(token string, in func(i int) *postings) uint32 {
	n, dying := uint32(0), false
	for i := range v.runs {
		if p := in(i); p.n > 0 {
			n += p.n
			dying = dying || v.runs[i].dead != nil
		}
	}
	if !dying {
		return n
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n, ok := v.df[token]; ok {
		return n
	}
	n = 0
	for i := range v.runs {
		n += v.runs[i].count(in(i))
	}
	if v.df == nil {
		v.df = map[string]uint32{}
	}
	v.df[token] = n
	return n
}

// Any finds the texts that contain any of the tokens, and adds their ordinals to the bitmap `set`.
func (v *View) Any(tokens []string, set engine.Bitmap) {
	for _, t := range tokens {
		v.postings(t, func(ord uint32) { set.Set(int(ord)) })
	}
}

// All finds the texts that contain all of the tokens, and adds their ordinals to the bitmap `set`,
// which must be empty.
func (v *View) All(tokens []string, set engine.Bitmap) {
	tokens = slices.Clone(tokens)
	slices.Sort(tokens)
	tokens = slices.Compact(tokens)
	var other engine.Bitmap
	for i, t := range tokens {
		if i == 0 {
			v.Any(tokens[:1], set)
			continue
		}
		if other == nil {
			other = make(engine.Bitmap, len(set))
		}
		clear(other)
		v.postings(t, func(ord uint32) { other.Set(int(ord)) })
		for w := range set {
			set[w] &= other[w]
		}
	}
}

// Near finds the texts that contain a token or a word as written that is similar to one of the given
// tokens: their edit distance is at most `edits`. It adds the ordinals of the texts to the bitmap `set`.
func (v *View) Near(tokens []string, edits int, set engine.Bitmap) {
	for i := range v.runs {
		r := &v.runs[i]
		terms := termReader{x: r.Text}
		for e := (termEntry{}); terms.next(&e); {
			if slices.ContainsFunc(tokens, func(w string) bool { return tokenizer.Within(strings.TrimPrefix(e.str(), tokenizer.Written), w, edits) }) {
				p := r.postingsOf(&e)
				r.eachOrd(&p, func(ord uint32) { set.Set(int(ord)) })
			}
		}
	}
}

// postings calls f with the ordinals of the live texts that contain a token.
func (v *View) postings(token string, f func(ord uint32)) {
	for i := range v.runs {
		if p, ok := v.runs[i].find(token); ok {
			v.runs[i].eachOrd(&p, f)
		}
	}
}

// count returns the number of live documents of a term.
func (r *textRun) count(p *postings) (n uint32) {
	// Looking up one document costs as much as reading about 16 postings in order.
	if r.gone > int(p.n)/16 {
		r.live(p, func(uint32) { n++ })
		return n
	}
	n = p.n
	at := termRun{postings: *p}
	for w, word := range r.dead {
		for ; word != 0; word &= word - 1 {
			if _, ok := at.seekTo(r.Text, uint32(w*64+bits.TrailingZeros64(word))); ok {
				n--
			}
		}
	}
	return n
}

// live calls f with the live documents of a term.
func (r *textRun) live(p *postings, f func(d uint32)) {
	r.each(p, func(d, _ uint32) {
		if r.dead == nil || !r.dead.Get(int(d)) {
			f(d)
		}
	})
}

// eachOrd calls f with the ordinals of the live documents of a term.
func (r *textRun) eachOrd(p *postings, f func(ord uint32)) {
	var w window
	r.live(p, func(d uint32) { f(r.ord(&w, d)) })
}
