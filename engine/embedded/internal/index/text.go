package index

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/internal/text"
)

// Text is an immutable inverted index of texts: a sorted dictionary, and for each term the
// documents that contain it. A document is the text of one row of an entity; its number is
// its position in ordinal order. The index consists of a few arrays of bytes, which are read in
// place, either in memory or in a stored segment. textstored.go describes the arrays.
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

// Work limits the construction of an index.
type Work struct {
	Ctx context.Context // ends the work when it is done
	// Spend, if set, reserves memory, in bytes. Its error ends the work.
	Spend func(bytes int) error
}

// buildText indexes the documents at n places, in ascending order of ordinals. The function `each`
// yields the documents of a range of places. buildText indexes several ranges concurrently. The
// only possible errors are that of the context and that of Spend.
func (w Work) buildText(n int, each func(from, to int, yield func(textDoc) bool)) (*Text, error) {
	parts := make([]*gathered, runtime.GOMAXPROCS(0)) // by range; there are at most this many ranges
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
		b := &textBuilder{spend: spend, manyFreqs: map[uint32]uint32{}}
		each(from, to, b.add)
		parts[k] = b.finish()
	})]
	if failed != nil || !spend(textBytes(parts)) {
		return nil, failed
	}
	return join(parts), nil
}

// gathered contains the postings of a range of documents, sorted by term.
type gathered struct {
	ords []uint32 // by document: its ordinal; ascending
	rows []uint32 // by document: its row
	lens []uint32 // by document: number of tokens
	sum  uint64   // sum of lens

	terms     []string          // ascending
	off       []uint32          // by term: start of its postings; one more element for the end
	docs      []uint32          // by posting: its document
	freqs     []uint8           // by posting: occurrences; manyTimes if they are in manyFreqs
	manyFreqs map[uint32]uint32 // by posting: occurrences that do not fit into freqs
}

// manyTimes in gathered.freqs means that the number of occurrences is in gathered.manyFreqs.
const manyTimes = 255

// chunkSize is the number of postings that a builder allocates at a time.
const chunkSize = 1 << 15

// textBuilder indexes documents one by one.
type textBuilder struct {
	spend     func(bytes int) bool // returns false to abort
	x         gathered
	a         *text.Analyzer
	tokens    []uint32          // of the current document
	count     []uint32          // by token: occurrences in the current document
	df        []uint32          // by token: number of documents that contain it
	ends      []uint32          // by document: number of postings up to and including it
	terms     [][]uint32        // by posting, in document order
	freqs     [][]uint8         // by posting, in document order
	n         uint32            // number of postings so far
	manyFreqs map[uint32]uint32 // by posting: occurrences that do not fit into freqs
	failed    bool              // spend returned false
}

// add indexes a document. It returns false if the function `spend` returned false.
func (b *textBuilder) add(doc textDoc) bool {
	if b.a == nil {
		b.a = text.NewAnalyzer()
	}
	x, a := &b.x, b.a
	b.tokens = a.Append(b.tokens[:0], doc.text)
	x.ords, x.rows, x.lens = append(x.ords, doc.ord), append(x.rows, doc.row), append(x.lens, uint32(len(b.tokens)))
	x.sum += uint64(len(b.tokens))
	for len(b.count) < len(a.Tokens) {
		b.count, b.df = append(b.count, 0), append(b.df, 0)
	}
	for _, t := range b.tokens {
		b.count[t]++
	}
	for _, t := range b.tokens {
		n := b.count[t]
		if n == 0 {
			continue // counted at its first occurrence
		}
		b.count[t] = 0
		b.df[t]++
		if n >= manyTimes {
			b.manyFreqs[b.n] = n
			n = manyTimes
		}
		if b.n%chunkSize == 0 {
			if !b.spend(5 * chunkSize) {
				b.failed = true
				return false
			}
			room := chunkSize
			if b.n == 0 {
				room = len(b.tokens) // the first chunk is small, because there may be few tokens
			}
			b.terms, b.freqs = append(b.terms, make([]uint32, 0, room)), append(b.freqs, make([]uint8, 0, room))
		}
		last := len(b.terms) - 1
		b.terms[last], b.freqs[last] = append(b.terms[last], t), append(b.freqs[last], uint8(n))
		b.n++
	}
	b.ends = append(b.ends, b.n)
	return true
}

// finish sorts the postings by term and returns them.
func (b *textBuilder) finish() *gathered {
	x := &b.x
	if b.failed || b.a == nil || !b.spend(5*int(b.n)) {
		return &gathered{off: []uint32{0}}
	}
	ordered := make([]uint32, len(b.a.Tokens)) // tokens in order of their text
	for i := range ordered {
		ordered[i] = uint32(i)
	}
	slices.SortFunc(ordered, func(p, q uint32) int { return strings.Compare(b.a.Tokens[p], b.a.Tokens[q]) })
	x.terms, x.off = make([]string, len(ordered)), make([]uint32, len(ordered)+1)
	at := make([]uint32, len(ordered)) // by token: index of its next posting
	for rank, t := range ordered {
		x.terms[rank] = b.a.Tokens[t]
		at[t] = x.off[rank]
		x.off[rank+1] = x.off[rank] + b.df[t]
	}
	x.docs, x.freqs = make([]uint32, b.n), make([]uint8, b.n)
	p := uint32(0)
	for d, end := range b.ends {
		for ; p < end; p++ {
			t, n := b.terms[p/chunkSize][p%chunkSize], b.freqs[p/chunkSize][p%chunkSize]
			to := at[t]
			at[t]++
			x.docs[to], x.freqs[to] = uint32(d), n
			if n == manyTimes {
				x.setMany(to, b.manyFreqs[p])
			}
		}
	}
	return x
}

// textBytes returns the approximate size, in bytes, of an index of the gathered postings in memory.
func textBytes(parts []*gathered) int {
	n := 0
	for _, x := range parts {
		n += 12*len(x.ords) + 5*len(x.docs) + 36*len(x.terms)
	}
	return n
}

// setMany records that a posting has n occurrences, too many for freqs.
func (x *gathered) setMany(posting, n uint32) {
	if x.manyFreqs == nil {
		x.manyFreqs = map[uint32]uint32{}
	}
	x.manyFreqs[posting] = n
}

// freq returns the number of occurrences of posting p.
func (x *gathered) freq(p uint32) uint32 {
	if n := x.freqs[p]; n != manyTimes {
		return uint32(n)
	}
	return x.manyFreqs[p]
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
