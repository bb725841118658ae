package eval

import (
	"math"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// scores holds the scores of one run.
type scores struct {
	scorers  []scorer    // by relevance of the program
	Targets  []Target    // query vectors, one for each distance
	Fused    [][]float64 // by fusion and row number; 0 for a row that is in neither ranking
	embedder Embedder    // computes the vector of a text
}

// newScores returns the scores for one run of a query.
func newScores(q *ir.Query) scores {
	return scores{scorers: make([]scorer, len(q.Relevances)), Fused: make([][]float64, len(q.Fusions))}
}

// scorer computes a relevance in one run.
type scorer struct {
	textindex.Scorer
	ready  bool     // whether tokens and Scorer are set for this run
	tokens []string // of the search text
}

// Target is the query vector of a distance in one run.
type Target struct {
	Vector []float32 // nil for null
	Length float64   // Euclidean length of vector
}

// BeginScores prepares the scores of a run. The error is a *engine.BadArgument, or the
// error of a text that cannot be embedded.
func (ev *Evaluator) BeginScores() error {
	for i := range ev.scorers {
		ev.scorers[i].ready = false
	}
	ev.Targets = ev.Targets[:0]
	for _, d := range ev.Distances {
		t := Target{}
		var err error
		if t.Vector, err = ev.target(d); err != nil {
			return err
		}
		t.Length = length(t.Vector)
		ev.Targets = append(ev.Targets, t)
	}
	for _, f := range ev.Fusions {
		if _, err := ev.FusionK(f); err != nil {
			return err
		}
	}
	return nil
}

// endScores releases the scorers and targets after a run.
func (ev *Evaluator) endScores() {
	for i := range ev.scorers {
		ev.scorers[i].End()
	}
	clear(ev.Targets)
	ev.embedder = nil
}

// FusionK returns the k of a fusion in this run.
func (ev *Evaluator) FusionK(f *ir.Fusion) (float64, error) {
	if f.K == nil {
		return ir.DefaultK, nil
	}
	v := ev.Constant(f.K)
	if v.IsNull() {
		return ir.DefaultK, nil
	}
	if v.Kind() != value.U64 && int64(v.Bits()) < 1 || v.Bits() == 0 {
		name := "k"
		if p, ok := f.K.Src.(plan.ParamRef); ok {
			name = ev.Params[p.Index].Name
		}
		return 0, &engine.BadArgument{Param: name, Detail: "found " + value.Text(v) + " as the k of rrf, expected a positive number"}
	}
	return float64(v.Bits()), nil
}

// Relevance returns the scorer of a call of `bm25` in this run.
func (ev *Evaluator) Relevance(i int) *textindex.Scorer {
	s := &ev.scorers[i]
	if !s.ready {
		r := ev.Relevances[i]
		s.ready, s.tokens = true, s.tokens[:0]
		if v := ev.Constant(r.Query); !v.IsNull() {
			s.tokens = tokenizer.AppendTokens(s.tokens, v.Str())
		}
		s.Begin(ev.text(ev.Table(r.Var), r.Prop), s.tokens)
	}
	return &s.Scorer
}

// evalScore evaluates a score for the rows of a frame.
func (ev *Evaluator) evalScore(e *ir.Expr, f *Frame, vec *column.Vec) {
	vec.Reset(e.Type, f.N)
	switch e.Kind {
	case ir.ExprBM25:
		s := ev.Relevance(e.Score)
		for i, ord := range f.Cols[e.Var][:f.N] {
			vec.Floats[i] = s.Score(ord)
		}
	case ir.ExprNearest:
		d, t := ev.Distances[e.Score], &ev.Targets[e.Score]
		if t.Vector == nil {
			for i := range f.N {
				vec.SetNull(i)
			}
			return
		}
		vectors := &ev.Vectors[d.Slot]
		ev.Table(d.Var).Gather(d.Prop, f.Cols[d.Var][:f.N], vectors, &ev.scratch)
		for i := range f.N {
			if vectors.IsNull(i) {
				vec.SetNull(i)
			} else {
				vec.Floats[i] = t.Distance(vectors.Vectors[i])
			}
		}
	case ir.ExprFused:
		scores := ev.Fused[e.Score]
		for i, row := range f.Cols[ev.RowVar()][:f.N] {
			if vec.Floats[i] = scores[row]; scores[row] == 0 {
				vec.SetNull(i)
			}
		}
	case ir.ExprConst, ir.ExprProp, ir.ExprID, ir.ExprEnd, ir.ExprMatch, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprAgg, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
		panic("exec: expression is not a score")
	}
}

// ScorePresence returns a vector that is null where a score is null. For a distance it returns
// the property's vectors, because computing distances is expensive.
func (ev *Evaluator) ScorePresence(e *ir.Expr, f *Frame) *column.Vec {
	if e.Kind != ir.ExprNearest || e.Optional {
		return ev.Eval(e, f)
	}
	d := ev.Distances[e.Score]
	vectors := &ev.Vectors[d.Slot]
	ev.Table(d.Var).Gather(d.Prop, f.Cols[d.Var][:f.N], vectors, &ev.scratch)
	return vectors
}

// length returns the Euclidean length of a vector.
func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	return math.Sqrt(sum)
}

// Distance returns 1 minus the cosine of the angle between the target and a vector, or 1 if
// either is zero. Products of two float32 are exact in float64, and are added in index
// order, so that the distance is the same on every machine.
func (t *Target) Distance(v []float32) float64 {
	var dot, sum float64
	for i, y := range t.Vector {
		x := float64(v[i])
		dot += float64(x * float64(y))
		sum += float64(x * x)
	}
	lengths := math.Sqrt(sum) * t.Length
	if lengths == 0 {
		return 1
	}
	return 1 - dot/lengths
}
