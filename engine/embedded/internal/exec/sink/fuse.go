package sink

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// fuser holds the rows of a match until all of them can be ranked.
type fuser struct {
	matched   eval.Frame // all rows of the match
	places    []uint32   // memory for the numbers of the ranked rows
	fusedRows eval.Frame // rows for the collector
}

// newFuser returns a fuser for the runs of a query.
func newFuser(q *ir.Query) (fu fuser) {
	if len(q.Fusions) > 0 {
		fu.matched.Cols, fu.fusedRows.Cols = make([][]uint32, q.Width()), make([][]uint32, q.Width())
	}
	return fu
}

// begin empties the fuser for a new run.
func (fu *fuser) begin() {
	for v := range fu.matched.Cols {
		fu.matched.Cols[v] = fu.matched.Cols[v][:0]
	}
	fu.matched.N = 0
}

// Arrive processes the rows that the match yields.
func (co *Collector) Arrive(f *eval.Frame) error {
	if len(co.Fusions) > 0 {
		return co.gather(f)
	}
	if co.drop(f); f.N == 0 {
		return nil
	}
	return co.collect(f)
}

// drop removes the rows that lack a required score.
func (co *Collector) drop(f *eval.Frame) {
	for _, e := range co.Drops {
		if e.Kind == ir.ExprNearest && co.Targets[e.Score].Vector == nil {
			f.N = 0
			return
		}
		vec := co.ScorePresence(e, f)
		rows := co.Chosen[:0]
		for i := range f.N {
			if !vec.IsNull(i) && (e.Kind != ir.ExprBM25 || vec.Floats[i] != 0) {
				rows = append(rows, uint32(i))
			}
		}
		co.Chosen = rows
		f.Choose(rows, co.Keep)
	}
}

// gather keeps rows until the match has yielded all of them.
func (co *Collector) gather(f *eval.Frame) error {
	if err := co.Spend(f.N * (4*len(co.Keep) + 8*len(co.Fusions) + 4)); err != nil {
		return err
	}
	for _, v := range co.Keep {
		if v != co.RowVar() {
			co.matched.Cols[v] = append(co.matched.Cols[v], f.Cols[v][:f.N]...)
		}
	}
	co.matched.N += f.N
	return nil
}

// Fuse ranks the gathered rows and passes them on to collect.
func (co *Collector) Fuse() error {
	if len(co.Fusions) == 0 {
		return nil
	}
	for i, f := range co.Fusions {
		scores := co.Fused[i][:0]
		scores = slices.Grow(scores, co.matched.N)[:co.matched.N]
		clear(scores)
		co.Fused[i] = scores
		k, err := co.FusionK(f)
		if err != nil {
			return err
		}
		for _, e := range f.Of {
			if err := co.Ctx.Err(); err != nil {
				return err
			}
			for rank, row := range co.ranked(e) {
				scores[row] += 1 / (k + float64(rank+1))
			}
		}
	}
	in, out := &co.matched, &co.fusedRows
	for first := 0; first < in.N; first += eval.FrameSize {
		n := min(eval.FrameSize, in.N-first)
		for _, v := range co.Keep {
			out.Cols[v] = slices.Grow(out.Cols[v][:0], eval.FrameSize)[:n]
			if v != co.RowVar() {
				copy(out.Cols[v], in.Cols[v][first:])
				continue
			}
			for i := range n {
				out.Cols[v][i] = uint32(first + i)
			}
		}
		out.N = n
		if co.drop(out); out.N == 0 {
			continue
		}
		if err := co.collect(out); err != nil {
			return err
		}
	}
	return nil
}

// ranked returns the gathered rows that have a score, best first; ids break ties.
func (co *Collector) ranked(e *ir.Expr) []uint32 {
	rows := &co.matched
	vec := co.Eval(e, rows)
	places := co.places[:0]
	for i := range rows.N {
		if !vec.IsNull(i) && (e.Kind != ir.ExprBM25 || vec.Floats[i] != 0) {
			places = append(places, uint32(i))
		}
	}
	co.places = places
	keys := append(co.sortBy[:0], SortKey{Vec: vec, Desc: e.Kind == ir.ExprBM25})
	for _, v := range co.Read.Ties {
		if ex := co.TieIDs[v]; ex != nil {
			keys = append(keys, SortKey{Vec: co.Eval(ex, rows)})
			continue
		}
		keys = append(keys, IDKey(co.Evaluator, v, rows.Cols[v], false))
	}
	co.sortBy = keys
	slices.SortFunc(places, func(a, b uint32) int {
		for i := range keys {
			if c := keys[i].Compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return places
}
