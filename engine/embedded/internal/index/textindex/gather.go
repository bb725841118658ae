package textindex

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// gathered contains the postings of a range of documents.
type gathered struct {
	ords []uint32 // by document: its ordinal; ascending
	rows []uint32 // by document: its row
	lens []uint32 // by document: number of tokens, without words as written
	sum  uint64   // sum of lens

	terms  []string // by token
	sorted []uint32 // the tokens in ascending order of their terms
	// lists and postings contain the postings of each token, in order of documents. A posting is a
	// uvarint: twice the distance from the document before it (from -1 for the first one), plus one
	// if the term occurs once. Otherwise the number of occurrences follows, another uvarint.
	lists    []byteList
	postings byteLists
}

// textBuilder indexes documents one by one.
type textBuilder struct {
	spend  func(bytes int) bool // returns false to abort
	x      gathered
	a      *tokenizer.Analyzer
	tokens []uint32 // of the current document: the stems
	forms  []uint32 // of the current document: the words as written that differ from their stems
	count  []uint32 // by token: occurrences in the current document
	next   []uint32 // by token: the document after the last one that contains it
	pages  int      // number of pages of postings that are paid for
	failed bool     // spend returned false
}

// add indexes a document. It returns false if the function `spend` returned false.
func (b *textBuilder) add(doc textDoc) bool {
	if b.a == nil {
		b.a = tokenizer.NewAnalyzer()
	}
	x, a := &b.x, b.a
	b.tokens, b.forms = a.AppendBoth(b.tokens[:0], b.forms[:0], doc.text)
	d := uint32(len(x.ords))
	x.ords, x.rows, x.lens = append(x.ords, doc.ord), append(x.rows, doc.row), append(x.lens, uint32(len(b.tokens)))
	x.sum += uint64(len(b.tokens))
	for len(b.count) < len(a.Tokens) {
		b.count, b.next, x.lists = append(b.count, 0), append(b.next, 0), append(x.lists, byteList{})
	}
	b.put(d, b.tokens)
	b.put(d, b.forms)
	if n := len(x.postings.pages); n > b.pages {
		if !b.spend((n - b.pages) * pageBytes) {
			b.failed = true
			return false
		}
		b.pages = n
	}
	return true
}

// put adds the postings of a document for some of its tokens.
func (b *textBuilder) put(d uint32, tokens []uint32) {
	x := &b.x
	for _, t := range tokens {
		b.count[t]++
	}
	var buf [2 * binary.MaxVarintLen64]byte
	for _, t := range tokens {
		n := b.count[t]
		if n == 0 {
			continue // added at its first occurrence
		}
		b.count[t] = 0
		distance := uint64(d-b.next[t]+1) << 1
		b.next[t] = d + 1
		if n == 1 {
			x.postings.put(&x.lists[t], binary.AppendUvarint(buf[:0], distance|1))
		} else {
			x.postings.put(&x.lists[t], binary.AppendUvarint(binary.AppendUvarint(buf[:0], distance), uint64(n)))
		}
	}
}

// finish sorts the terms and returns the postings. The caller may go on to add documents only to
// another builder.
func (b *textBuilder) finish() *gathered {
	if b.failed || b.a == nil {
		return &gathered{}
	}
	x := &b.x
	x.terms, x.sorted = b.a.Tokens, make([]uint32, len(b.a.Tokens))
	for i := range x.sorted {
		x.sorted[i] = uint32(i)
	}
	slices.SortFunc(x.sorted, func(p, q uint32) int { return strings.Compare(x.terms[p], x.terms[q]) })
	return x
}

// textBytes returns the approximate size, in bytes, of an index of the gathered postings in memory.
func textBytes(parts []*gathered) int {
	n := 0
	for _, x := range parts {
		n += 12*len(x.ords) + 2*pageBytes*len(x.postings.pages) + 36*len(x.terms)
	}
	return n
}

// term returns the term at a position in the order of the terms.
func (x *gathered) term(i int) string { return x.terms[x.sorted[i]] }

// each calls f with each posting of the term at a position in the order of the terms.
func (x *gathered) each(i int, f func(doc, freq uint32)) {
	r := x.postings.read(&x.lists[x.sorted[i]])
	for doc := ^uint32(0); r.more(); {
		n := r.uvarint()
		doc += uint32(n >> 1)
		if n&1 != 0 {
			f(doc, 1)
		} else {
			f(doc, uint32(r.uvarint()))
		}
	}
}
