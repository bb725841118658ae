package textindex

import (
	"math"
	"slices"
)

// The parameters k1 and b of BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009, section 3.4).
const (
	saturation  = 1.2  // k1 of BM25: the lower it is, the less further occurrences of a term count
	lengthShare = 0.75 // b of BM25: how much the length of a text counts
)

// impactUnit is the unit of an impact. An impact is one byte, and 255 units equal saturation + 1,
// which is the upper limit of a contribution without the idf.
const impactUnit = (saturation + 1) / 255

// slack compensates for rounding in the bounds.
const slack = 1 + 1e-9

// impactOf returns the impact of a posting: the contribution to a score without the idf, rounded up
// to units. The parameter `average` is the average number of tokens of the texts in the index.
func impactOf(freq, length uint32, average float64) uint8 {
	f := float64(freq)
	share := f * (saturation + 1) / (f + normOf(length, average))
	return uint8(min(255, math.Ceil(share/impactUnit)))
}

// normOf returns the length normalization of BM25. The conversions to float64 keep the
// compiler from fusing a multiplication with an addition, so that scores are the same on
// every machine.
func normOf(length uint32, average float64) float64 {
	relative := float64(length) / average
	return float64(saturation * (1 - lengthShare + float64(lengthShare*relative)))
}

// Scorer computes BM25 scores for a query in a view. It is not safe for concurrent use.
type Scorer struct {
	view    *View        // the indexed texts to score
	average float64      // average number of tokens in a text
	norms   [128]float64 // by length, for short texts
	terms   []scoredTerm // terms of the query
	runs    []runWindows // by run of the view
	top     topSearch    // memory for the search for the best entities
}

// runWindows caches parts of the arrays of a run.
type runWindows struct{ ords, lens window }

// scoredTerm is a token of the query.
type scoredTerm struct {
	idf float64   // inverse document frequency
	in  []termRun // by run of the view
}

// termRun reads the postings of a term in a run, block by block.
type termRun struct {
	postings
	at   int  // the current block
	open bool // block holds the current block
	block
	cache window // of the bytes of the blocks
}

// Begin prepares the scorer for the tokens of a query. It sorts tokens in place.
func (s *Scorer) Begin(v *View, tokens []string) {
	s.view, s.terms = v, s.terms[:0]
	if v.docs == 0 {
		return
	}
	count := float64(v.docs)
	s.average = float64(v.sum) / count
	for i := range s.norms {
		s.norms[i] = normOf(uint32(i), s.average)
	}
	s.runs = slices.Grow(s.runs[:0], len(v.runs))[:len(v.runs)]
	clear(s.runs)
	slices.Sort(tokens)
	for _, token := range slices.Compact(tokens) {
		if len(s.terms) < cap(s.terms) {
			s.terms = s.terms[:len(s.terms)+1]
		} else {
			s.terms = append(s.terms, scoredTerm{})
		}
		t := &s.terms[len(s.terms)-1]
		t.in = slices.Grow(t.in[:0], len(v.runs))[:len(v.runs)]
		clear(t.in)
		for i := range v.runs {
			t.in[i].postings, _ = v.runs[i].find(token)
		}
		n := float64(v.frequency(token, func(i int) *postings { return &t.in[i].postings }))
		if n == 0 {
			s.terms = s.terms[:len(s.terms)-1]
			continue
		}
		t.idf = math.Log(1 + (count-n+0.5)/(n+0.5))
	}
}

// End drops the references to the view.
func (s *Scorer) End() {
	s.view = nil
	clear(s.runs)
	for i := range s.terms[:cap(s.terms)] {
		clear(s.terms[:cap(s.terms)][i].in)
	}
	s.top.end()
}

// Score returns the score of a live entity: 0 if its text has no token of the query. It is
// fastest when called with ascending ordinals.
func (s *Scorer) Score(ord uint32) float64 {
	if len(s.terms) == 0 {
		return 0
	}
	for i := range s.view.runs {
		r := &s.view.runs[i]
		d, ok := r.document(&s.runs[i].ords, ord)
		if !ok || r.dead != nil && r.dead.Get(int(d)) {
			continue
		}
		score := 0.0
		for k := range s.terms {
			t := &s.terms[k]
			in := &t.in[i]
			if in.at > 0 && (in.at >= in.blocks() || d < in.postings.first(in.at)) {
				in.at, in.open = 0, false // d comes before the document of the last call, so search from the start
			}
			if at, ok := in.seekTo(r.Text, d); ok {
				score += s.weight(t.idf, in.freq(at), s.length(i, d))
			}
		}
		return score
	}
	return 0
}

// length returns the number of tokens of a document.
func (s *Scorer) length(run int, d uint32) uint32 {
	return s.view.runs[run].lens.at(&s.runs[run].lens, d)
}

// seekTo finds the posting of document d. It searches the current block and the blocks after it.
func (t *termRun) seekTo(x *Text, d uint32) (at int, ok bool) {
	if !t.advance(d) {
		return 0, false
	}
	t.load(x)
	if d < t.block.first {
		return 0, false
	}
	at = t.seek(d)
	return at, at < t.block.n && t.doc(at) == d
}

// advance moves forward to the first block that ends with document d or a greater one; ok is false
// if there is no such block.
func (t *termRun) advance(d uint32) (ok bool) {
	lo, hi := t.at, t.blocks()
	if lo >= hi {
		return false
	}
	if t.postings.last(lo) >= d {
		return true
	}
	// Before each step, last(lo) < d.
	for step := 1; lo+step < hi; step *= 2 {
		if t.postings.last(lo+step) >= d {
			hi = lo + step
			break
		}
		lo += step
	}
	for lo+1 < hi {
		if mid := (lo + hi) / 2; t.postings.last(mid) < d {
			lo = mid
		} else {
			hi = mid
		}
	}
	t.at, t.open = hi, false
	return hi < t.blocks()
}

// load reads the current block unless it has been read.
func (t *termRun) load(x *Text) {
	if !t.open {
		x.read(&t.postings, t.at, &t.block, &t.cache)
		t.open = true
	}
}

// weight returns the contribution of a token to a score.
func (s *Scorer) weight(idf float64, freq, length uint32) float64 {
	var norm float64
	if length < uint32(len(s.norms)) {
		norm = s.norms[length]
	} else {
		norm = normOf(length, s.average)
	}
	f := float64(freq)
	return float64(idf * float64(f*(saturation+1)) / (f + norm))
}
