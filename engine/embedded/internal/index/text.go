package index

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/internal/text"
)

// Text is an immutable inverted index of texts: a sorted dictionary, and for each term the
// documents that contain it. A document is the text of one row of an entity; its number is
// its position in ordinal order.
type Text struct {
	ords []uint32 // by document: its ordinal; ascending
	rows []uint32 // by document: its row
	lens []uint32 // by document: number of tokens
	sum  uint64   // sum of lens

	terms     []string          // the dictionary, in ascending order
	off       []uint32          // by term: start of its postings; one more element for the end
	docs      []uint32          // by posting: its document
	freqs     []uint8           // by posting: occurrences; manyTimes if they are in manyFreqs
	manyFreqs map[uint32]uint32 // by posting: occurrences, if there are manyTimes or more
	peaks     [][]uint8         // by term: see peaked; nil for a rare term

	name   string        // of the segment that holds it; empty until it is stored
	source column.Source // the arrays alias it, if they were read from storage
}

// manyTimes in Text.freqs means that Text.manyFreqs has the number of occurrences.
const manyTimes = 255

// textDoc is a document to index.
type textDoc struct {
	ord, row uint32
	text     string
}

// Work limits the construction of an index.
type Work struct {
	Ctx context.Context
	// Spend, if set, reserves memory, in bytes. Its error ends the work.
	Spend func(bytes int) error
}

// buildText indexes the documents at n places, in ascending order of ordinals. each yields
// the documents of a range of places. buildText indexes several ranges concurrently. The
// error is the context's, or that of Spend.
func (w Work) buildText(n int, each func(from, to int, yield func(textDoc) bool)) (*Text, error) {
	parts := make([]*Text, runtime.GOMAXPROCS(0)) // by range; there are at most this many ranges
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
	return concatTexts(parts), nil
}

// chunkSize is the number of postings that a builder allocates at a time.
const chunkSize = 1 << 15

// textBuilder indexes documents one by one.
type textBuilder struct {
	spend     func(bytes int) bool // returns false to abort
	x         Text                 // the index that is built
	a         *text.Analyzer
	tokens    []uint32   // of the current document
	count     []uint32   // by token: occurrences in the current document
	df        []uint32   // by token: number of documents that contain it
	ends      []uint32   // by document: number of postings up to and including it
	terms     [][]uint32 // by posting, in document order
	freqs     [][]uint8  // by posting, in document order
	n         uint32     // number of postings so far
	manyFreqs map[uint32]uint32
	failed    bool // spend returned false
}

// add indexes a document. It returns false if spend does.
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
				room = len(b.tokens) // there may be few tokens
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

// finish sorts the postings by term and returns the index.
func (b *textBuilder) finish() *Text {
	x := &b.x
	if b.failed || b.a == nil || !b.spend(5*int(b.n)) {
		return &Text{off: []uint32{0}}
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

// textBytes returns the approximate memory of several indexes, in bytes.
func textBytes(parts []*Text) int {
	n := 0
	for _, x := range parts {
		n += 12*len(x.ords) + 5*len(x.docs) + 36*len(x.terms)
	}
	return n
}

// concatTexts joins several indexes into one. Their documents must ascend from one to the
// next.
func concatTexts(parts []*Text) *Text {
	x := &Text{}
	docs, postings := 0, 0
	first := make([]uint32, len(parts)) // the new number of the first document of each part
	for i, p := range parts {
		first[i] = uint32(docs)
		docs += len(p.ords)
		postings += len(p.docs)
		x.sum += p.sum
	}
	x.ords, x.rows, x.lens = make([]uint32, 0, docs), make([]uint32, 0, docs), make([]uint32, 0, docs)
	for _, p := range parts {
		x.ords, x.rows, x.lens = append(x.ords, p.ords...), append(x.rows, p.rows...), append(x.lens, p.lens...)
	}
	if len(parts) == 1 {
		p := parts[0]
		x.terms, x.off, x.docs, x.freqs, x.manyFreqs = p.terms, p.off, p.docs, p.freqs, p.manyFreqs
		x.findPeaks()
		return x
	}
	x.docs, x.freqs = make([]uint32, 0, postings), make([]uint8, 0, postings)
	x.off = []uint32{0}
	next := make([]int, len(parts)) // the next term of each part
	for {
		least, any := "", false
		for i, p := range parts {
			if next[i] < len(p.terms) && (!any || p.terms[next[i]] < least) {
				least, any = p.terms[next[i]], true
			}
		}
		if !any {
			break
		}
		for i, p := range parts {
			if next[i] == len(p.terms) || p.terms[next[i]] != least {
				continue
			}
			from, to := p.off[next[i]], p.off[next[i]+1]
			next[i]++
			for k := from; k < to; k++ {
				if p.freqs[k] == manyTimes {
					x.setMany(uint32(len(x.docs)), p.freq(k))
				}
				x.docs, x.freqs = append(x.docs, first[i]+p.docs[k]), append(x.freqs, p.freqs[k])
			}
		}
		x.terms, x.off = append(x.terms, least), append(x.off, uint32(len(x.docs)))
	}
	x.findPeaks()
	return x
}

// setMany sets the number of occurrences of a posting that occurs manyTimes or more.
func (x *Text) setMany(posting, n uint32) {
	if x.manyFreqs == nil {
		x.manyFreqs = map[uint32]uint32{}
	}
	x.manyFreqs[posting] = n
}

// freq returns the number of occurrences of posting p.
func (x *Text) freq(p uint32) uint32 {
	if n := x.freqs[p]; n != manyTimes {
		return uint32(n)
	}
	return x.manyFreqs[p]
}

// term finds a term. Its postings are off[i] up to, but not including, off[i+1].
func (x *Text) term(t string) (i int, ok bool) { return slices.BinarySearch(x.terms, t) }

// document finds the document of an ordinal.
func (x *Text) document(ord uint32) (d uint32, ok bool) {
	n := len(x.ords)
	if n == 0 {
		return 0, false
	}
	if first := x.ords[0]; x.ords[n-1]-first == uint32(n-1) {
		return ord - first, ord >= first && ord-first < uint32(n) // no gaps
	}
	i := sort.Search(n, func(i int) bool { return x.ords[i] >= ord })
	return uint32(i), i < n && x.ords[i] == ord
}

// mergeTexts makes one index of the live documents of a and b. No ordinal may have a live
// document in both.
func mergeTexts(a, b *Text, deadA, deadB engine.Bitmap) *Text {
	x := &Text{}
	n := len(a.ords) + len(b.ords)
	const gone = ^uint32(0)
	toA, toB := make([]uint32, len(a.ords)), make([]uint32, len(b.ords))
	x.ords, x.rows, x.lens = make([]uint32, 0, n), make([]uint32, 0, n), make([]uint32, 0, n)
	take := func(from *Text, dead engine.Bitmap, to []uint32, d int) {
		if dead != nil && dead.Get(d) {
			to[d] = gone
			return
		}
		to[d] = uint32(len(x.ords))
		x.ords, x.rows, x.lens = append(x.ords, from.ords[d]), append(x.rows, from.rows[d]), append(x.lens, from.lens[d])
		x.sum += uint64(from.lens[d])
	}
	for i, j := 0, 0; i < len(a.ords) || j < len(b.ords); {
		if j == len(b.ords) || i < len(a.ords) && a.ords[i] <= b.ords[j] {
			take(a, deadA, toA, i)
			i++
		} else {
			take(b, deadB, toB, j)
			j++
		}
	}
	x.docs, x.freqs = make([]uint32, 0, len(a.docs)+len(b.docs)), make([]uint8, 0, len(a.docs)+len(b.docs))
	x.off = append(x.off, 0)
	add := func(from *Text, p, d uint32) {
		if from.freqs[p] == manyTimes {
			x.setMany(uint32(len(x.docs)), from.freq(p))
		}
		x.docs, x.freqs = append(x.docs, d), append(x.freqs, from.freqs[p])
	}
	for i, j := 0, 0; i < len(a.terms) || j < len(b.terms); {
		var p, pEnd, q, qEnd uint32
		var t string
		inA := j == len(b.terms) || i < len(a.terms) && a.terms[i] <= b.terms[j]
		inB := i == len(a.terms) || j < len(b.terms) && b.terms[j] <= a.terms[i]
		if inA {
			t, p, pEnd = a.terms[i], a.off[i], a.off[i+1]
			i++
		}
		if inB {
			t, q, qEnd = b.terms[j], b.off[j], b.off[j+1]
			j++
		}
		for {
			for p < pEnd && toA[a.docs[p]] == gone {
				p++
			}
			for q < qEnd && toB[b.docs[q]] == gone {
				q++
			}
			if p < pEnd && (q == qEnd || toA[a.docs[p]] < toB[b.docs[q]]) {
				add(a, p, toA[a.docs[p]])
				p++
			} else if q < qEnd {
				add(b, q, toB[b.docs[q]])
				q++
			} else {
				break
			}
		}
		if end := uint32(len(x.docs)); end > x.off[len(x.off)-1] {
			x.terms, x.off = append(x.terms, t), append(x.off, end)
		}
	}
	x.findPeaks()
	return x
}
