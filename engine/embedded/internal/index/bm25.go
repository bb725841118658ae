package index

import (
	"math"
	"slices"
	"sort"
)

// The parameters k1 and b of BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009, section 3.4).
const (
	saturation  = 1.2  // k1 of BM25: how soon further occurrences count little
	lengthShare = 0.75 // b of BM25: how much the length of a text counts
)

// A window is a run of 64 document numbers. The peak of a term in a window is the greatest
// contribution, without the idf, of the term to the score of a document in the window. It is
// computed when the index is built.
const (
	windowBits = 6
	windowSize = 1 << windowBits // number of documents in a window
)

// peakUnit is the unit of a stored peak, which is one byte: 255 units are saturation + 1,
// the upper limit of a contribution without the idf.
const peakUnit = (saturation + 1) / 255

// slack compensates for rounding in the bounds.
const slack = 1 + 1e-9

// findPeaks computes the peaks of the terms that are frequent enough; see peaked.
func (x *Text) findPeaks() {
	x.peaks = make([][]uint8, len(x.terms))
	average := float64(x.sum) / float64(max(1, len(x.ords)))
	for t := range x.terms {
		from, to := x.off[t], x.off[t+1]
		windows := x.peaked(t)
		if windows == 0 {
			continue
		}
		peaks := make([]uint8, windows)
		for p := from; p < to; p++ {
			d := x.docs[p]
			f := float64(x.freq(p))
			share := f * (saturation + 1) / (f + normOf(x.lens[d], average))
			peaks[d>>windowBits] = max(peaks[d>>windowBits], uint8(min(255, math.Ceil(share/peakUnit))))
		}
		x.peaks[t] = peaks
	}
}

// peaked returns the number of windows if term t has peaks, and 0 otherwise.
func (x *Text) peaked(t int) int {
	windows := (len(x.ords) + windowSize - 1) / windowSize
	if windows < 8 || int(x.off[t+1]-x.off[t]) < windows/2 {
		return 0
	}
	return windows
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
	view    *TextView
	average float64      // average number of tokens in a text
	norms   [128]float64 // by length, for short texts
	terms   []scoredTerm // the tokens of the query that occur in the view
	bounds  []float64    // by window: upper bounds of the scores
	order   []uint32     // windows, the best bounds first
	best    []float64    // a min-heap of the best k scores
	found   []Scored
}

// Scored is an entity with its score.
type Scored struct {
	Ord   uint32
	Score float64
}

// scoredTerm is a token of the query.
type scoredTerm struct {
	idf float64   // inverse document frequency
	in  []termRun // by run of the view
}

// termRun holds the postings of a term in a run: from first up to, but not including, end.
type termRun struct {
	first, end uint32
	peaks      []uint8 // of the term in the run; see Text.peaks
	at         uint32  // a posting near the last one found
}

// Begin prepares the scorer for the tokens of a query. It sorts tokens in place.
func (s *Scorer) Begin(v *TextView, tokens []string) {
	s.view, s.terms = v, s.terms[:0]
	if v.docs == 0 {
		return
	}
	count := float64(v.docs)
	s.average = float64(v.sum) / count
	for i := range s.norms {
		s.norms[i] = normOf(uint32(i), s.average)
	}
	slices.Sort(tokens)
	for _, token := range slices.Compact(tokens) {
		df := v.Frequency(token)
		if df == 0 {
			continue
		}
		n := float64(df)
		if len(s.terms) < cap(s.terms) {
			s.terms = s.terms[:len(s.terms)+1]
		} else {
			s.terms = append(s.terms, scoredTerm{})
		}
		t := &s.terms[len(s.terms)-1]
		t.idf, t.in = math.Log(1+(count-n+0.5)/(n+0.5)), t.in[:0]
		for i := range v.runs {
			r := &v.runs[i]
			at := termRun{}
			if k, ok := r.term(token); ok {
				at = termRun{first: r.off[k], end: r.off[k+1], peaks: r.peaks[k], at: r.off[k]}
			}
			t.in = append(t.in, at)
		}
	}
}

// End drops the references to the view.
func (s *Scorer) End() {
	s.view = nil
	for i := range s.terms[:cap(s.terms)] {
		clear(s.terms[:cap(s.terms)][i].in)
	}
}

// Score returns the score of a live entity: 0 if its text has no token of the query. It is
// fastest when called with ascending ordinals.
func (s *Scorer) Score(ord uint32) float64 {
	if len(s.terms) == 0 {
		return 0
	}
	for i := range s.view.runs {
		r := &s.view.runs[i]
		d, ok := r.document(ord)
		if !ok || r.dead != nil && r.dead.Get(int(d)) {
			continue
		}
		score := 0.0
		for k := range s.terms {
			t := &s.terms[k]
			at := &t.in[i]
			if at.at = r.seek(at, d); at.at < at.end && r.docs[at.at] == d {
				score += s.weight(t.idf, r.freq(at.at), r.lens[d])
			}
		}
		return score
	}
	return 0
}

// seek returns the first posting of a term whose document is d or greater.
func (r *textRun) seek(in *termRun, d uint32) uint32 {
	lo, hi := in.first, in.end
	if in.at < hi && r.docs[in.at] <= d {
		lo = in.at
	} else if in.at > lo && in.at <= hi {
		hi = in.at
	}
	for step := uint32(1); lo+step < hi; step *= 2 {
		if r.docs[lo+step] >= d {
			hi = lo + step + 1
			break
		}
		lo += step
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; r.docs[mid] < d {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
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

// Top returns the k entities with the greatest scores, and all that tie with the last of
// them, in no particular order. It omits entities without a token of the query. The slice
// is valid until the next call.
func (s *Scorer) Top(k int) []Scored {
	s.best, s.found = s.best[:0], s.found[:0]
	if len(s.terms) == 0 || k <= 0 {
		return nil
	}
	for i := range s.view.runs {
		s.searchRun(i, k)
	}
	if least := s.threshold(k); least > 0 {
		s.found = slices.DeleteFunc(s.found, func(f Scored) bool { return f.Score < least })
	}
	return s.found
}

// threshold returns the score that an entity must reach to be among the best k.
func (s *Scorer) threshold(k int) float64 {
	if len(s.best) < k {
		return 0
	}
	return s.best[0]
}

// searchRun searches one run for the best entities. The sum of its terms' peaks bounds the
// scores in a window. searchRun scans the windows with the greatest bounds first, which raises
// the threshold for the rest.
func (s *Scorer) searchRun(run, k int) {
	r := &s.view.runs[run]
	windows := (len(r.ords) + windowSize - 1) / windowSize
	s.bounds = slices.Grow(s.bounds[:0], windows)[:windows]
	clear(s.bounds)
	// The weights may have grown since the index was built, because the average length
	// changed, but by no more than the ratio of the averages.
	built := float64(r.sum) / float64(max(1, len(r.ords)))
	scale := max(1, s.average/built) * slack
	for i := range s.terms {
		t := &s.terms[i]
		in := &t.in[run]
		if in.peaks != nil {
			unit := t.idf * peakUnit * scale
			for w, p := range in.peaks {
				s.bounds[w] += unit * float64(p)
			}
			continue
		}
		for p := in.first; p < in.end; {
			w := r.docs[p] >> windowBits
			peak := 0.0
			for ; p < in.end && r.docs[p]>>windowBits == w; p++ {
				peak = max(peak, s.weight(t.idf, r.freq(p), r.lens[r.docs[p]]))
			}
			s.bounds[w] += peak * slack
		}
	}
	first := s.bestWindows(min(windows, 64, 4+k/8))
	for _, w := range first {
		if s.bounds[w] > 0 && s.bounds[w] >= s.threshold(k) {
			s.scan(r, run, w, k)
		}
		s.bounds[w] = 0
	}
	for w, bound := range s.bounds {
		if bound > 0 && bound >= s.threshold(k) {
			s.scan(r, run, uint32(w), k)
		}
	}
}

// bestWindows returns the n windows with the greatest bounds, in descending order of bounds.
func (s *Scorer) bestWindows(n int) []uint32 {
	list := s.order[:0]
	for w, bound := range s.bounds {
		if len(list) == n && bound <= s.bounds[list[n-1]] {
			continue
		}
		if len(list) == n {
			list = list[:n-1]
		}
		i := sort.Search(len(list), func(i int) bool { return s.bounds[list[i]] < bound })
		list = slices.Insert(list, i, uint32(w))
	}
	s.order = list
	return list
}

// scan scores the documents of one window.
func (s *Scorer) scan(r *textRun, run int, w uint32, k int) {
	var scores [windowSize]float64
	base := w << windowBits
	for i := range s.terms {
		t := &s.terms[i]
		in := &t.in[run]
		if in.first == in.end {
			continue
		}
		p := r.seek(in, base)
		for ; p < in.end && r.docs[p]-base < windowSize; p++ {
			d := r.docs[p]
			scores[d-base] += s.weight(t.idf, r.freq(p), r.lens[d])
		}
		in.at = p
	}
	least := max(s.threshold(k), math.SmallestNonzeroFloat64)
	for i, score := range scores {
		if score < least {
			continue
		}
		d := base + uint32(i)
		if r.dead != nil && r.dead.Get(int(d)) {
			continue
		}
		s.found = append(s.found, Scored{r.ords[d], score})
		s.addScore(score, k)
		least = max(least, s.threshold(k))
	}
}

// addScore adds a score to the heap of the best k.
func (s *Scorer) addScore(score float64, k int) {
	h := s.best
	if len(h) < k {
		h = append(h, score)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] > h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		s.best = h
		return
	}
	if score <= h[0] {
		return
	}
	h[0] = score
	for i := 0; ; {
		c := 2*i + 1
		if c >= k {
			return
		}
		if c+1 < k && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
