package textindex

import (
	"math"
	"math/bits"
	"slices"
)

// Scored is an entity with its score.
type Scored struct {
	Ord   uint32  // ordinal of the entity
	Score float64 // its BM25 score
}

const (
	// minSpan and maxSpan are the limits of the number of documents in a span; see spanFor.
	minSpan = 1 << 9
	maxSpan = 1 << 15 // see minSpan
	// spanPostings is the approximate number of postings in a span. With fewer, a search spends
	// more time on its spans than on the postings. With more, the maximum impact of a block is a
	// less exact bound of the scores.
	spanPostings = 512
	// lookupPostings is the number of postings that can be read in order in the time of the lookup of
	// one document. With the impacts of a block compared at once, most postings are never unpacked.
	lookupPostings = 48
)

// topSearch is the state of one search for the best entities.
type topSearch struct {
	k     int
	best  []float64 // a min-heap of the best k scores
	found []Scored  // entities found so far, with their scores

	terms  []topTerm // the terms that occur in the current run, in order of their texts
	active []int     // positions in `terms` of the terms in the current span, in order of bound
	below  []float64 // by position in `active`: sum of the bounds up to that position
	margin float64   // a factor greater than 1 that covers rounding in a sum of 4-byte numbers

	base       uint32               // first document of the span
	span       uint32               // number of documents in a span, a power of two
	sums       *[maxSpan]float32    // by document of the span: upper bound of the score, if marked
	marks      [maxSpan / 64]uint64 // one bit for each document of the span
	candidates []candidate          // documents of the span that can be among the best
	histogram  [256]int             // number of candidates by range of their bounds

	block  block             // memory for the method `above`
	placed [blockSize]placed // memory for the result of the method `above`
}

// topTerm is a term in the current run.
type topTerm struct {
	*termRun
	idf   float64 // inverse document frequency of the term
	unit  float64 // upper bound of the contribution of one unit of impact
	from  int     // the first block that overlaps the span
	to    int     // the block after the last one that does
	bound float64 // upper bound of the contribution in the span
}

// end releases the memory of the indexes after a search.
func (t *topSearch) end() {
	clear(t.terms[:cap(t.terms)])
	t.terms, t.block = t.terms[:0], block{}
}

// Top returns the k entities with the greatest scores, and all that tie with the last of
// them, in no particular order. It omits entities without a token of the query. The slice
// is valid until the next call.
//
// Top implements MaxScore (Turtle and Flood, Query evaluation: strategies and optimizations, 1995)
// over spans of documents, with the maxima of the blocks in a span as bounds (Ding and Suel, Faster
// top-k document retrieval using block-max indexes, SIGIR 2011). It skips spans, blocks and
// postings that cannot raise a score to the k-th best score so far. The scores in the result equal
// those of Score bit for bit.
func (s *Scorer) Top(k int) []Scored {
	t := &s.top
	t.k, t.best, t.found = k, t.best[:0], t.found[:0]
	if len(s.terms) == 0 || k <= 0 {
		return nil
	}
	if t.sums == nil {
		t.sums = new([maxSpan]float32)
	}
	t.margin = 1 + 2e-7*float64(len(s.terms)+1)
	for i := range s.view.runs {
		s.searchRun(i)
	}
	if least := t.threshold(); least > 0 {
		t.found = slices.DeleteFunc(t.found, func(f Scored) bool { return f.Score < least })
	}
	return t.found
}

// threshold returns the score that an entity must reach to be among the best k.
func (t *topSearch) threshold() float64 {
	if len(t.best) < t.k {
		return 0
	}
	return t.best[0]
}

// searchRun searches one run for the best entities.
func (s *Scorer) searchRun(run int) {
	r, t := &s.view.runs[run], &s.top
	// The weights may have grown since the index was built, because the average length has changed.
	// They have grown by no more than the ratio of the two averages.
	built := float64(r.sum) / float64(max(1, r.docs))
	scale := max(1, s.average/built) * slack
	t.terms = t.terms[:0]
	for i := range s.terms {
		if in := &s.terms[i].in[run]; in.postings.n > 0 {
			in.at, in.open = 0, false
			t.terms = append(t.terms, topTerm{termRun: in, idf: s.terms[i].idf, unit: s.terms[i].idf * impactUnit * scale})
		}
	}
	t.span = t.spanFor(r.docs)
	for base := uint64(0); base < uint64(r.docs); base += uint64(t.span) {
		t.base = uint32(base)
		if t.enter() {
			s.searchSpan(run)
		}
	}
}

// spanFor returns the number of documents in a span of a run with the given number of documents.
func (t *topSearch) spanFor(docs uint32) uint32 {
	postings := uint64(1)
	for i := range t.terms {
		postings += uint64(t.terms[i].postings.n)
	}
	return 1 << min(bits.Len(maxSpan-1), max(bits.Len(minSpan-1), bits.Len64(uint64(docs)*spanPostings/postings)))
}

// enter finds the terms that occur in the span and their bounds. It reports whether a document of
// the span can reach the threshold.
func (t *topSearch) enter() bool {
	t.active, t.below = t.active[:0], t.below[:0]
	end := uint64(t.base) + uint64(t.span)
	for i := range t.terms {
		m := &t.terms[i]
		m.from, m.to = 0, 0
		if !m.advance(t.base) {
			continue
		}
		peak := uint8(0)
		b, n := m.at, m.blocks()
		for ; b < n && uint64(m.postings.first(b)) < end; b++ {
			peak = max(peak, m.postings.peak(b))
		}
		if b == m.at {
			continue
		}
		m.from, m.to, m.bound = m.at, b, m.unit*float64(peak)
		at := len(t.active)
		for at > 0 && t.terms[t.active[at-1]].bound > m.bound {
			at--
		}
		t.active = slices.Insert(t.active, at, i)
	}
	sum := 0.0
	for _, i := range t.active {
		sum += t.terms[i].bound
		t.below = append(t.below, sum)
	}
	return sum > 0 && sum >= t.threshold()
}

// searchSpan searches the documents of the span. To reach the threshold, a document must contain an
// essential term. The terms that are not essential are those with the lowest bounds; the sum of
// their bounds is below the threshold.
func (s *Scorer) searchSpan(run int) {
	t, x := &s.top, s.view.runs[run].Text
	essential := 0
	for t.below[essential] < t.threshold() {
		essential++
	}
	rest := 0.0
	if essential > 0 {
		rest = t.below[essential-1]
	}
	if i := t.active[essential]; essential == len(t.active)-1 {
		t.list(x, &t.terms[i], t.least(i))
	} else {
		for _, i := range t.active[essential:] {
			t.add(x, &t.terms[i], t.least(i))
		}
		t.collect(rest)
	}
	for j := essential - 1; j >= 0 && len(t.candidates) > 0; j-- {
		rest = 0
		if j > 0 {
			rest = t.below[j-1]
		}
		m := &t.terms[t.active[j]]
		if (m.to-m.from)*blockSize < lookupPostings*len(t.candidates) {
			t.keepScanned(x, m, t.least(t.active[j]), rest)
		} else {
			t.keepFound(x, m, rest)
		}
	}
	s.scoreCandidates(run)
}

// seekIn finds document d among the postings of the term. REQUIRES: d lies in the span.
func (m *topTerm) seekIn(x *Text, d uint32) (at int, ok bool) {
	if m.at > m.from && (m.at >= m.to || d < m.postings.first(m.at)) {
		m.at, m.open = m.from, false
	}
	return m.seekTo(x, d)
}

// scoreCandidates scores the candidates. If there are many, it begins with the candidates that have
// the highest bounds. This raises the threshold for the rest.
func (s *Scorer) scoreCandidates(run int) {
	t := &s.top
	high := float32(math.MaxFloat32)
	if len(t.candidates) > 2*t.k+16 {
		high = t.highBound()
		for _, c := range t.candidates {
			if c.bound >= high {
				s.scoreCandidate(run, c)
			}
		}
	}
	for _, c := range t.candidates {
		if c.bound < high {
			s.scoreCandidate(run, c)
		}
	}
}

// scoreCandidate adds a candidate to the best entities if its score reaches the threshold.
func (s *Scorer) scoreCandidate(run int, c candidate) {
	t, r := &s.top, &s.view.runs[run]
	if c.bound < t.leastBound(0) {
		return
	}
	d := t.base + c.at
	score, length := 0.0, uint32(0)
	for i := range t.terms {
		m := &t.terms[i]
		if m.to == 0 {
			continue
		}
		if at, ok := m.seekIn(r.Text, d); ok {
			if score == 0 {
				length = s.length(run, d)
			}
			score += s.weight(m.idf, m.freq(at), length)
		}
	}
	if score < t.threshold() || score == 0 || r.dead != nil && r.dead.Get(int(d)) {
		return
	}
	t.found = append(t.found, Scored{r.ord(&s.runs[run].ords, d), score})
	t.addScore(score)
}

// addScore adds a score to the heap of the best k.
func (t *topSearch) addScore(score float64) {
	h, k := t.best, t.k
	if len(h) < k {
		h = append(h, score)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] > h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		t.best = h
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
