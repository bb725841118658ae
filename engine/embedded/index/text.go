package index

import (
	"slices"
	"sort"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/text"
)

// Text is an immutable inverted index of texts: a sorted dictionary, and for each term
// the documents that hold it. A document is the state that one row gave an entity; its
// number is its place in ordinal order.
type Text struct {
	ords []uint32 // by document, ascending
	rows []uint32 // by document
	lens []uint32 // by document: tokens
	sum  uint64   // of lens

	terms []string // ascending
	off   []uint32 // by term: where its postings begin; and the end
	docs  []uint32 // by posting
	freqs []uint8  // by posting: occurrences, manyTimes for many
	many  map[uint32]uint32
	peaks [][]uint8 // by term: see peak; nil for one in few documents

	name   string        // of the segment that holds it; empty while there is none
	source column.Source // in which the arrays lie, if they were read from one
}

// manyTimes says that the number of occurrences stands in Text.many.
const manyTimes = 255

// textDoc is a document to index.
type textDoc struct {
	ord, row uint32
	text     string
}

// buildText indexes documents that ascend in ordinals.
func buildText(docs []textDoc) *Text {
	x := &Text{ords: make([]uint32, len(docs)), rows: make([]uint32, len(docs)), lens: make([]uint32, len(docs))}
	a := text.NewAnalyzer()
	var (
		tokens  []uint32
		count   []uint32 // by token: in the document at hand
		df      []uint32 // by token
		ends    = make([]uint32, len(docs))
		termOf  []uint32 // by posting in document order
		freqOf  []uint8
		manyOf  = map[uint32]uint32{}
		ordered []uint32 // tokens by rank
	)
	for d, doc := range docs {
		tokens = a.Append(tokens[:0], doc.text)
		x.ords[d], x.rows[d], x.lens[d] = doc.ord, doc.row, uint32(len(tokens))
		x.sum += uint64(len(tokens))
		for len(count) < len(a.Tokens) {
			count, df = append(count, 0), append(df, 0)
		}
		for _, t := range tokens {
			count[t]++
		}
		for _, t := range tokens {
			n := count[t]
			if n == 0 {
				continue // counted at its first occurrence
			}
			count[t] = 0
			df[t]++
			if n >= manyTimes {
				manyOf[uint32(len(termOf))] = n
				n = manyTimes
			}
			termOf, freqOf = append(termOf, t), append(freqOf, uint8(n))
		}
		ends[d] = uint32(len(termOf))
	}
	ordered = make([]uint32, len(a.Tokens))
	for i := range ordered {
		ordered[i] = uint32(i)
	}
	slices.SortFunc(ordered, func(p, q uint32) int { return strings.Compare(a.Tokens[p], a.Tokens[q]) })
	x.terms, x.off = make([]string, len(ordered)), make([]uint32, len(ordered)+1)
	at := make([]uint32, len(ordered)) // by token: where its next posting goes
	for rank, t := range ordered {
		x.terms[rank] = a.Tokens[t]
		at[t] = x.off[rank]
		x.off[rank+1] = x.off[rank] + df[t]
	}
	x.docs, x.freqs = make([]uint32, len(termOf)), make([]uint8, len(termOf))
	p := uint32(0)
	for d := range docs {
		for ; p < ends[d]; p++ {
			to := at[termOf[p]]
			at[termOf[p]]++
			x.docs[to], x.freqs[to] = uint32(d), freqOf[p]
			if freqOf[p] == manyTimes {
				x.setMany(to, manyOf[p])
			}
		}
	}
	x.findPeaks()
	return x
}

func (x *Text) setMany(posting, n uint32) {
	if x.many == nil {
		x.many = map[uint32]uint32{}
	}
	x.many[posting] = n
}

// freq returns the occurrences of posting p.
func (x *Text) freq(p uint32) uint32 {
	if n := x.freqs[p]; n != manyTimes {
		return uint32(n)
	}
	return x.many[p]
}

// term finds a term; its postings are from off[i] up to off[i+1].
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

// mergeTexts makes one index of the documents of two that are not dead. No ordinal has
// a live document in both.
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
