package exec

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/engine/text"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ranker holds the scores of one run.
type ranker struct {
	scorers []scorer
	targets []target
	rows    frame       // the match's rows, if they are to be fused
	fused   [][]float64 // by fusion and row number; 0 for a row that is in neither ranking
	places  []uint32
	feed    frame
	best    []uint32
	near    nearness

	embedder Embedder
}

// scorer computes a relevance in one run.
type scorer struct {
	index.Scorer
	ready  bool
	tokens []string
}

// target is the query vector of a distance in one run.
type target struct {
	vector []float32 // nil for null
	length float64
}

// beginRanking prepares the scores of a run. The error is a *engine.BadArgument, or the
// error of a text that cannot be embedded.
func (st *state) beginRanking() error {
	if len(st.scorers) < len(st.relevances) {
		st.scorers = make([]scorer, len(st.relevances))
	}
	for i := range st.scorers {
		st.scorers[i].ready = false
	}
	st.targets = st.targets[:0]
	for _, d := range st.distances {
		t := target{}
		var err error
		if t.vector, err = st.target(d); err != nil {
			return err
		}
		t.length = length(t.vector)
		st.targets = append(st.targets, t)
	}
	for _, f := range st.fusions {
		if _, err := st.fusionK(f); err != nil {
			return err
		}
	}
	return nil
}

func (st *state) endRanking() {
	for i := range st.scorers {
		st.scorers[i].End()
	}
	clear(st.targets)
	st.embedder = nil
}

// fusionK returns the k of a fusion in this run.
func (st *state) fusionK(f *fusion) (float64, error) {
	if f.k == nil {
		return defaultK, nil
	}
	v := st.constant(f.k)
	if v.IsNull() {
		return defaultK, nil
	}
	if v.Kind() != value.U64 && int64(v.Bits()) < 1 || v.Bits() == 0 {
		name := "k"
		if p, ok := f.k.src.(plan.ParamRef); ok {
			name = st.params[p.Index].Name
		}
		return 0, &engine.BadArgument{Param: name, Detail: "found " + value.Text(v) + " for the k of rrf, wanted a positive number"}
	}
	return float64(v.Bits()), nil
}

// relevance returns the scorer of a bm25 in this run.
func (st *state) relevance(i int) *index.Scorer {
	s := &st.scorers[i]
	if !s.ready {
		r := st.relevances[i]
		s.ready, s.tokens = true, s.tokens[:0]
		if v := st.constant(r.query); !v.IsNull() {
			s.tokens = text.AppendTokens(s.tokens, v.Str())
		}
		s.Begin(st.text(st.table(r.v), r.prop), s.tokens)
	}
	return &s.Scorer
}

// evalScore evaluates a score for the rows of a frame.
func (st *state) evalScore(e *expr, f *frame, vec *column.Vec) {
	vec.Reset(e.typ, f.n)
	switch e.kind {
	case exprBM25:
		s := st.relevance(e.score)
		for i, ord := range f.cols[e.v][:f.n] {
			vec.Floats[i] = s.Score(ord)
		}
	case exprNearest:
		d, t := st.distances[e.score], &st.targets[e.score]
		if t.vector == nil {
			for i := range f.n {
				vec.SetNull(i)
			}
			return
		}
		vectors := &st.vecs[d.slot]
		st.table(d.v).Gather(d.prop, f.cols[d.v][:f.n], vectors, &st.scratch)
		for i := range f.n {
			if vectors.IsNull(i) {
				vec.SetNull(i)
			} else {
				vec.Floats[i] = t.distance(vectors.Vectors[i])
			}
		}
	case exprFused:
		scores := st.fused[e.score]
		for i, row := range f.cols[st.rowVar()][:f.n] {
			if vec.Floats[i] = scores[row]; scores[row] == 0 {
				vec.SetNull(i)
			}
		}
	case exprConst, exprProp, exprID, exprEnd, exprMatch:
		panic("exec: expression is no score")
	}
}

// arrive processes the rows that the match yields.
func (st *state) arrive(f *frame) error {
	if len(st.fusions) > 0 {
		return st.gather(f)
	}
	if st.drop(f); f.n == 0 {
		return nil
	}
	return st.collect(f)
}

// drop removes the rows that lack a required score.
func (st *state) drop(f *frame) {
	for _, e := range st.drops {
		if e.kind == exprNearest && st.targets[e.score].vector == nil {
			f.n = 0
			return
		}
		vec := st.presence(e, f)
		rows := st.chosen[:0]
		for i := range f.n {
			if !vec.IsNull(i) && (e.kind != exprBM25 || vec.Floats[i] != 0) {
				rows = append(rows, uint32(i))
			}
		}
		st.chosen = rows
		f.choose(rows, st.keep)
	}
}

// presence returns a vector that is null where a score is null. For a distance it returns
// the property's vectors, because computing distances is expensive.
func (st *state) presence(e *expr, f *frame) *column.Vec {
	if e.kind != exprNearest {
		return st.eval(e, f)
	}
	d := st.distances[e.score]
	vectors := &st.vecs[d.slot]
	st.table(d.v).Gather(d.prop, f.cols[d.v][:f.n], vectors, &st.scratch)
	return vectors
}

// gather keeps rows until the match has yielded all of them.
func (st *state) gather(f *frame) error {
	if err := st.spend(f.n * (4*len(st.keep) + 8*len(st.fusions) + 4)); err != nil {
		return err
	}
	for _, v := range st.keep {
		if v != st.rowVar() {
			st.ranker.rows.cols[v] = append(st.ranker.rows.cols[v], f.cols[v][:f.n]...)
		}
	}
	st.ranker.rows.n += f.n
	return nil
}

// fuse ranks the gathered rows and passes them on to collect.
func (st *state) fuse() error {
	if len(st.fusions) == 0 {
		return nil
	}
	for i, f := range st.fusions {
		scores := st.fused[i][:0]
		scores = slices.Grow(scores, st.ranker.rows.n)[:st.ranker.rows.n]
		clear(scores)
		st.fused[i] = scores
		k, err := st.fusionK(f)
		if err != nil {
			return err
		}
		for _, e := range f.of {
			if err := st.ctx.Err(); err != nil {
				return err
			}
			for rank, row := range st.ranked(e) {
				scores[row] += 1 / (k + float64(rank+1))
			}
		}
	}
	in, out := &st.ranker.rows, &st.feed
	for first := 0; first < in.n; first += frameSize {
		n := min(frameSize, in.n-first)
		for _, v := range st.keep {
			out.cols[v] = slices.Grow(out.cols[v][:0], frameSize)[:n]
			if v != st.rowVar() {
				copy(out.cols[v], in.cols[v][first:])
				continue
			}
			for i := range n {
				out.cols[v][i] = uint32(first + i)
			}
		}
		out.n = n
		if st.drop(out); out.n == 0 {
			continue
		}
		if err := st.collect(out); err != nil {
			return err
		}
	}
	return nil
}

// ranked returns the gathered rows that have a score, best first; ids break ties.
func (st *state) ranked(e *expr) []uint32 {
	rows := &st.ranker.rows
	vec := st.eval(e, rows)
	places := st.places[:0]
	for i := range rows.n {
		if !vec.IsNull(i) && (e.kind != exprBM25 || vec.Floats[i] != 0) {
			places = append(places, uint32(i))
		}
	}
	st.places = places
	keys := append(st.sortBy[:0], sortKey{vec: vec, desc: e.kind == exprBM25})
	for _, v := range st.read.Ties {
		keys = append(keys, sortKey{table: st.table(v), ords: rows.cols[v]})
	}
	st.sortBy = keys
	slices.SortFunc(places, func(a, b uint32) int {
		for i := range keys {
			if c := keys[i].compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return places
}

// length returns the Euclidean length of a vector.
func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	return math.Sqrt(sum)
}

// distance returns 1 minus the cosine of the angle between the target and a vector, or 1 if
// either is zero. Products of two float32 are exact in float64, and are added in index
// order, so that the distance is the same on every machine.
func (t *target) distance(v []float32) float64 {
	var dot, sum float64
	for i, y := range t.vector {
		x := float64(v[i])
		dot += float64(x * float64(y))
		sum += float64(x * x)
	}
	lengths := math.Sqrt(sum) * t.length
	if lengths == 0 {
		return 1
	}
	return 1 - dot/lengths
}
