package textindex

import (
	"math"
	"math/bits"
)

// candidate is a document of the span and an upper bound of its score.
type candidate struct {
	at    uint32  // the document less base
	bound float32 // upper bound of its score
}

// least returns the least impact that term i must have in a document so that the document reaches
// the threshold if all other terms contribute their maximum. It returns more than 255 if no impact
// suffices.
func (t *topSearch) least(i int) int {
	others := 0.0
	for _, o := range t.active {
		if o != i {
			others += t.terms[o].bound
		}
	}
	// The margin is for rounding: impacts are whole numbers.
	return int(max(0, min(256, math.Ceil((t.threshold()-others)/t.terms[i].unit-1e-3))))
}

// add adds the contributions of a term to sums and marks the documents. It skips postings with an
// impact lower than the parameter `least`. A sum counts only if its document is marked.
func (t *topSearch) add(x *Text, m *topTerm, least int) {
	unit := float32(m.unit)
	for b := m.from; b < m.to; b++ {
		for _, p := range t.above(x, m, b, least) {
			word, bit := &t.marks[p.at/64], uint64(1)<<(p.at%64)
			sum := unit * float32(p.impact)
			if *word&bit != 0 {
				sum += t.sums[p.at]
			}
			t.sums[p.at] = sum
			*word |= bit
		}
	}
}

// list makes candidates of the documents of a term. It skips postings with an impact lower than the
// parameter `least`.
func (t *topSearch) list(x *Text, m *topTerm, least int) {
	t.candidates = t.candidates[:0]
	unit := float32(m.unit)
	for b := m.from; b < m.to; b++ {
		for _, p := range t.above(x, m, b, least) {
			t.candidates = append(t.candidates, candidate{p.at, unit * float32(p.impact)})
		}
	}
}

// placed is a posting in the span: the document minus the span's base, and the impact.
type placed struct{ at, impact uint32 }

// above returns the postings of block b that lie in the span and have an impact not lower than the
// parameter `least`. The result is valid until the next call.
func (t *topSearch) above(x *Text, m *topTerm, b, least int) []placed {
	set := t.enterBlock(x, m, b, least)
	k, n := &t.block, 0
	shift, docs, width, impacts := k.first-t.base, k.docs, k.docBits, k.impacts // shift wraps around if the block begins before the span
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if at := shift + unpack(docs, i, width); at < t.span {
			t.placed[n%blockSize] = placed{at, uint32(impacts[i])}
			n++
		}
	}
	return t.placed[:n]
}

// fewPostings is the number of postings up to which it is faster to read them than to find out which
// of them lie in the span.
const fewPostings = 12

// enterBlock reads block b of a term. It returns a set of one bit for each posting. It contains the
// postings that lie in the span and have an impact of at least `least`, and may contain others that
// do not lie in the span.
func (t *topSearch) enterBlock(x *Text, m *topTerm, b, least int) (set uint64) {
	if int(m.postings.peak(b)) < least {
		return 0
	}
	k := &t.block
	x.read(&m.postings, b, k, &m.cache)
	set = impactsFrom(k.impacts, uint8(least))
	if bits.OnesCount64(set) <= fewPostings {
		return set
	}
	if k.first < t.base {
		set &= ^uint64(0) << k.seek(t.base)
	}
	if uint64(k.last) >= uint64(t.base)+uint64(t.span) {
		set &= 1<<k.seek(t.base+t.span) - 1
	}
	return set
}

// collect clears the marks. It makes candidates of the marked documents that can reach the
// threshold if the terms not yet added contribute `rest`.
func (t *topSearch) collect(rest float64) {
	t.candidates = t.candidates[:0]
	least := t.leastBound(rest)
	for w, word := range t.marks[:t.span/64] {
		if word == 0 {
			continue
		}
		t.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			at := uint32(w*64 + bits.TrailingZeros64(word))
			if bound := t.sums[at]; bound >= least {
				t.candidates = append(t.candidates, candidate{at, bound})
			}
		}
	}
}

// leastBound returns the least bound of a candidate that reaches the threshold if further terms
// contribute `rest`.
func (t *topSearch) leastBound(rest float64) float32 {
	return float32((t.threshold()/t.margin - rest) / t.margin)
}

// keepScanned reads the postings of a term in order and adds the contribution of the term to the
// bounds of the candidates that it finds. It drops candidates that cannot reach the threshold even if
// further terms contribute `rest`. It skips postings with an impact lower than the parameter `least`.
func (t *topSearch) keepScanned(x *Text, m *topTerm, least int, rest float64) {
	for _, c := range t.candidates {
		t.marks[c.at/64] |= 1 << (c.at % 64)
		t.sums[c.at] = c.bound
	}
	unit, k, marks := float32(m.unit), &t.block, &t.marks
	for b := m.from; b < m.to; b++ {
		set := t.enterBlock(x, m, b, least)
		shift, docs, width := k.first-t.base, k.docs, k.docBits
		for ; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			at := shift + unpack(docs, i, width)
			if at < t.span && marks[at/64%uint32(len(marks))]>>(at%64)&1 != 0 {
				t.sums[at%maxSpan] += unit * float32(k.impacts[i])
			}
		}
	}
	bound, kept := t.leastBound(rest), t.candidates[:0]
	for _, c := range t.candidates {
		t.marks[c.at/64] = 0
		if c.bound = t.sums[c.at]; c.bound >= bound {
			kept = append(kept, c)
		}
	}
	t.candidates = kept
}

// keepFound looks each candidate up in the postings of a term and adds the contribution of the term
// to the candidate's bound. It drops candidates that cannot reach the threshold even if further
// terms contribute `rest`.
func (t *topSearch) keepFound(x *Text, m *topTerm, rest float64) {
	least, with, kept := t.leastBound(rest), t.leastBound(rest+m.bound), t.candidates[:0]
	for _, c := range t.candidates {
		if c.bound < with {
			continue
		}
		if i, ok := m.seekIn(x, t.base+c.at); ok {
			c.bound += float32(m.unit * float64(m.impacts[i]))
		}
		if c.bound >= least {
			kept = append(kept, c)
		}
	}
	t.candidates = kept
}

// highBound returns a bound that at least k candidates reach, but not many more than k.
func (t *topSearch) highBound() float32 {
	most := float32(0)
	for _, c := range t.candidates {
		most = max(most, c.bound)
	}
	if most == 0 {
		return 0
	}
	clear(t.histogram[:])
	unit := float32(len(t.histogram)-1) / most
	for _, c := range t.candidates {
		t.histogram[int(c.bound*unit)]++
	}
	n := 0
	for i := len(t.histogram) - 1; i > 0; i-- {
		if n += t.histogram[i]; n >= t.k {
			return float32(i) / unit
		}
	}
	return 0
}
