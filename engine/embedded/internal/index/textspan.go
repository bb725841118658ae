package index

import (
	"encoding/binary"
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
// parameter `least`. It compares eight impacts at a time. The result is valid until the next call.
func (t *topSearch) above(x *Text, m *topTerm, b, least int) []placed {
	if int(m.postings.peak(b)) < least {
		return nil
	}
	k := &t.block
	x.read(&m.postings, b, k)
	shift := k.first - t.base // wraps around if the block begins before the span
	lo, hi := 0, k.n
	if k.first < t.base {
		lo = k.seek(t.base)
	}
	if uint64(k.last) >= uint64(t.base)+uint64(t.span) {
		hi = k.seek(t.base + t.span)
	}
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	y, n, docs, width := uint64(least)*ones, 0, k.docs, k.docBits
	for i := lo &^ 7; i < hi; i += 8 {
		var v uint64
		if i+8 <= len(k.impacts) {
			v = binary.LittleEndian.Uint64(k.impacts[i:])
		} else {
			for j, impact := range k.impacts[i:] {
				v |= uint64(impact) << (8 * j)
			}
		}
		// The top bit of a byte of `low` is set if the low 7 bits of that byte of v are at least
		// the low 7 bits of that byte of y.
		low := (v | tops) - (y &^ tops)
		set := (v&^y | ^(v^y)&low) & tops
		if i < lo {
			set &= ^uint64(0) << (8 * (lo - i))
		}
		if i+8 > hi {
			set &= ^uint64(0) >> (8 * (i + 8 - hi))
		}
		for ; set != 0; set &= set - 1 {
			bit := bits.TrailingZeros64(set)
			if at := shift + unpack(docs, i+bit/8, width); at < t.span {
				t.placed[n%blockSize] = placed{at, uint32(v >> (bit - 7) & 0xff)}
				n++
			}
		}
	}
	return t.placed[:n]
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

// keepMarked adds the sums of the marked documents to the bounds of the candidates and clears the
// marks. It drops candidates that cannot reach the threshold even if further terms contribute
// `rest`.
func (t *topSearch) keepMarked(rest float64) {
	least, kept := t.leastBound(rest), t.candidates[:0]
	for _, c := range t.candidates {
		if t.marks[c.at/64]>>(c.at%64)&1 != 0 {
			c.bound += t.sums[c.at]
		}
		if c.bound >= least {
			kept = append(kept, c)
		}
	}
	t.candidates = kept
	clear(t.marks[:t.span/64])
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
