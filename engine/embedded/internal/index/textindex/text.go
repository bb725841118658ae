// Package textindex finds entities by the words of their texts, ranked with BM25.
//
// A view of a state of a table consists of immutable runs: the base, which is built at once, and a run for each group of later
// changes. It returns only entities that are alive in its state.
package textindex

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
)

// Text is an immutable inverted index of texts: a sorted dictionary, and for each term the
// documents that contain it. A document is the text of one row of an entity; its number is
// its position in ordinal order. A term is a token, or tokenizer.Written and a word as written that differs
// from its stem; only fuzzy matches use the latter. The index consists of a few arrays of bytes, which are read in
// place, either in memory or in a stored segment. stored.go describes the arrays.
type Text struct {
	docs uint32  // number of documents
	sum  uint64  // number of their tokens
	ords numbers // by document: its ordinal; ascending
	rows numbers // by document: its row
	lens numbers // by document: number of tokens

	terms      int  // number of terms
	groups     blob // by group of terms: where it starts
	dictionary blob // the terms, ascending
	postings   blob // by term: the documents that contain it, and how often

	limit  uint32        // exclusive upper bound of the ordinals
	source column.Source // the blobs alias it, if they were read from storage
	// segment is the name of the segment in which the index is stored; nil until it is stored. The
	// goroutine that writes manifests sets it while Verify may run, so it is atomic.
	segment atomic.Pointer[string]
}

// textDoc is a document to index.
type textDoc struct {
	ord, row uint32 // the entity's ordinal and its row
	text     string // the text to index
}

// buildText indexes the documents at n places, in memory; see gather.
func buildText(w index.Work, n int, each func(from, to int, yield func(textDoc) bool)) (*Text, error) {
	parts, err := gather(w, n, each)
	if err != nil {
		return nil, err
	}
	if w.Spend != nil {
		if err := w.Spend(textBytes(parts)); err != nil {
			return nil, err
		}
	}
	var t textWriter
	if err := t.join(parts); err != nil {
		return nil, err
	}
	return t.finish(), nil
}

// gather collects the postings of the documents at n places, in ascending order of ordinals. The
// function `each` yields the documents of a range of places. gather handles several ranges
// concurrently. The only possible errors are that of the context and that of Spend.
func gather(w index.Work, n int, each func(from, to int, yield func(textDoc) bool)) ([]*gathered, error) {
	parts := make([]*gathered, parallel.Processors()) // by range; there are at most this many ranges
	var mu sync.Mutex
	var failed error
	spend := func(bytes int) bool {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = w.Ctx.Err()
		}
		if failed == nil && w.Spend != nil {
			failed = w.Spend(bytes)
		}
		return failed == nil
	}
	parts = parts[:parallel.Ranges(n, len(parts), 1<<12, func(k, from, to int) {
		b := &textBuilder{spend: spend}
		each(from, to, b.add)
		parts[k] = b.finish()
	})]
	if failed == nil {
		failed = w.Ctx.Err()
	}
	return parts, failed
}

// document finds the document of an ordinal.
func (x *Text) document(w *window, ord uint32) (d uint32, ok bool) {
	if x.ords.width == 0 {
		return ord - x.ords.base, ord >= x.ords.base && ord-x.ords.base < x.docs
	}
	i := sort.Search(int(x.docs), func(i int) bool { return x.ords.at(w, uint32(i)) >= ord })
	return uint32(i), i < int(x.docs) && x.ords.at(w, uint32(i)) == ord
}

// ord returns the ordinal of a document.
func (x *Text) ord(w *window, d uint32) uint32 {
	ord := x.ords.at(w, d)
	if ord >= x.limit {
		x.ords.array.fail("document %d has ordinal %d, expected one below %d", d, ord, x.limit)
	}
	return ord
}
