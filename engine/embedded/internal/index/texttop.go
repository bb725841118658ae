package index

import (
	"math"
	"slices"
)

// Scored is an entity with its score.
type Scored struct {
	Ord   uint32
	Score float64
}

// topSearch is the state of one search for the best entities.
type topSearch struct {
	k      int
	best   []float64 // a min-heap of the best k scores
	found  []Scored
	terms  []topTerm // the terms that occur in the current run
	active []int     // positions in terms of those that occur in the current range, by bound
	rest   []float64 // see searchRange
	parts  []float64 // by term: its contribution to the current document, or 0
}

// topTerm is a term in the current run.
type topTerm struct {
	*termRun
	idf   float64
	unit  float64 // upper bound of the contribution of one unit of impact
	bound float64 // upper bound of the contribution in the current block
}

func (t *topSearch) end() {
	clear(t.terms[:cap(t.terms)])
	t.terms = t.terms[:0]
}

// Top returns the k entities with the greatest scores, and all that tie with the last of
// them, in no particular order. It omits entities without a token of the query. The slice
// is valid until the next call.
//
// It is MaxScore (Turtle and Flood, Query evaluation: strategies and optimizations, 1995) over
// the maxima of blocks (Ding and Suel, Faster top-k document retrieval using block-max indexes,
// SIGIR 2011): it skips ranges of documents in which the sum of the maxima of the terms' blocks is
// below the k-th best score so far. The scores that it returns are those of Score, bit for bit,
// because it adds the contributions in the order of the terms.
func (s *Scorer) Top(k int) []Scored {
	s.top.k, s.top.best, s.top.found = k, s.top.best[:0], s.top.found[:0]
	if len(s.terms) == 0 || k <= 0 {
		return nil
	}
	for i := range s.view.runs {
		s.searchRun(i)
	}
	if least := s.top.threshold(); least > 0 {
		s.top.found = slices.DeleteFunc(s.top.found, func(f Scored) bool { return f.Score < least })
	}
	return s.top.found
}

// threshold returns the score that an entity must reach to be among the best k.
func (t *topSearch) threshold() float64 {
	if len(t.best) < t.k {
		return 0
	}
	return t.best[0]
}

// searchRun searches one run for the best entities. It divides the documents into ranges, in each of
// which every term has one block.
func (s *Scorer) searchRun(run int) {
	r, t := &s.view.runs[run], &s.top
	// The weights may have grown since the index was built, because the average length
	// changed, but by no more than the ratio of the averages.
	built := float64(r.sum) / float64(max(1, r.docs))
	scale := max(1, s.average/built) * slack
	t.terms = t.terms[:0]
	for i := range s.terms {
		if in := &s.terms[i].in[run]; in.postings.n > 0 {
			in.at, in.open = 0, false
			t.terms = append(t.terms, topTerm{termRun: in, idf: s.terms[i].idf, unit: s.terms[i].idf * impactUnit * scale})
		}
	}
	t.parts = slices.Grow(t.parts[:0], len(t.terms))[:len(t.terms)]
	for lo := uint32(0); ; {
		hi, sum := uint32(math.MaxUint32), 0.0
		t.active = t.active[:0]
		for i := range t.terms {
			m := &t.terms[i]
			if !m.advance(lo) {
				continue
			}
			hi = min(hi, m.postings.last(m.at))
			m.bound = m.unit * float64(m.postings.peak(m.at))
			t.active = append(t.active, i)
		}
		if len(t.active) == 0 {
			return
		}
		t.active = slices.DeleteFunc(t.active, func(i int) bool { m := &t.terms[i]; return m.postings.first(m.at) > hi })
		for _, i := range t.active {
			sum += t.terms[i].bound
		}
		if sum >= t.threshold() {
			s.searchRange(run, lo, hi)
		}
		if lo = hi + 1; lo == 0 {
			return
		}
	}
}

// searchRange searches the documents from lo to hi, inclusive. The active terms have one block each.
//
// A document must have an essential term to reach the threshold: the other terms are those with
// the lowest bounds, whose sum is below the threshold. searchRange goes through the postings of each
// essential term whose impact is high enough, and looks the documents up in the blocks of the
// other terms.
func (s *Scorer) searchRange(run int, lo, hi uint32) {
	t, x := &s.top, s.view.runs[run].Text
	slices.SortFunc(t.active, func(i, j int) int {
		if t.terms[i].bound < t.terms[j].bound {
			return -1
		}
		return 1
	})
	for e := len(t.active) - 1; e >= 0; e-- {
		sum := 0.0
		for _, i := range t.active[:e+1] {
			sum += t.terms[i].bound
		}
		if sum < t.threshold() {
			return // neither this term nor any before it is essential
		}
		// rest[j] is the sum of the bounds of the first j active terms except e.
		t.rest = append(t.rest[:0], 0)
		for j, i := range t.active {
			bound := t.terms[i].bound
			if j == e {
				bound = 0
			}
			t.rest = append(t.rest, t.rest[j]+bound)
		}
		m := &t.terms[t.active[e]]
		m.load(x)
		from, to := 0, m.block.n
		if m.block.first < lo {
			from = m.seek(lo)
		}
		if m.block.last > hi {
			to = m.seek(hi + 1)
		}
		// The margin is for rounding: impacts are whole numbers.
		least := math.Ceil((t.threshold()-t.rest[len(t.active)])/m.unit - 1e-3)
		if least > 255 {
			continue
		}
		m.atLeast(uint8(max(0, least)), from, to, func(i int) { s.try(run, e, i) })
	}
}

// try scores a document: that of posting i of active term e. It stops once the document cannot
// reach the threshold, and if an active term after e has the document, because then try has seen it.
func (s *Scorer) try(run, e, i int) {
	t, r := &s.top, &s.view.runs[run]
	m := &t.terms[t.active[e]]
	d := m.doc(i)
	length := s.length(run, d)
	clear(t.parts)
	sum := s.weight(m.idf, m.freq(i), length)
	t.parts[t.active[e]] = sum
	for j := len(t.active) - 1; j >= 0; j-- {
		if j == e {
			continue
		}
		if (sum+t.rest[j+1])*slack < t.threshold() {
			return
		}
		o := &t.terms[t.active[j]]
		o.load(r.Text)
		if d < o.block.first || d > o.block.last {
			continue
		}
		at := o.seek(d)
		if at == o.block.n || o.doc(at) != d {
			continue
		}
		if j > e {
			return
		}
		w := s.weight(o.idf, o.freq(at), length)
		t.parts[t.active[j]] = w
		sum += w
	}
	score := 0.0
	for _, w := range t.parts {
		score += w // in the order of the terms
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
