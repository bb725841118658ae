package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// fuser holds the rows of a match until all of them can be ranked.
type fuser struct {
	matched   frame    // all rows of the match
	places    []uint32 // memory for the numbers of the ranked rows
	fusedRows frame    // rows for the collector
}

// newFuser returns a fuser for the runs of a query.
func newFuser(q *ir.Query) (fu fuser) {
	if len(q.Fusions) > 0 {
		fu.matched.cols, fu.fusedRows.cols = make([][]uint32, q.Width()), make([][]uint32, q.Width())
	}
	return fu
}

// begin empties the fuser for a new run.
func (fu *fuser) begin() {
	for v := range fu.matched.cols {
		fu.matched.cols[v] = fu.matched.cols[v][:0]
	}
	fu.matched.n = 0
}

// arrive processes the rows that the match yields.
func (co *collector) arrive(f *frame) error {
	if len(co.Fusions) > 0 {
		return co.gather(f)
	}
	if co.drop(f); f.n == 0 {
		return nil
	}
	return co.collect(f)
}

// drop removes the rows that lack a required score.
func (co *collector) drop(f *frame) {
	for _, e := range co.Drops {
		if e.Kind == ir.ExprNearest && co.targets[e.Score].vector == nil {
			f.n = 0
			return
		}
		vec := co.scorePresence(e, f)
		rows := co.chosen[:0]
		for i := range f.n {
			if !vec.IsNull(i) && (e.Kind != ir.ExprBM25 || vec.Floats[i] != 0) {
				rows = append(rows, uint32(i))
			}
		}
		co.chosen = rows
		f.choose(rows, co.Keep)
	}
}

// gather keeps rows until the match has yielded all of them.
func (co *collector) gather(f *frame) error {
	if err := co.spend(f.n * (4*len(co.Keep) + 8*len(co.Fusions) + 4)); err != nil {
		return err
	}
	for _, v := range co.Keep {
		if v != co.RowVar() {
			co.matched.cols[v] = append(co.matched.cols[v], f.cols[v][:f.n]...)
		}
	}
	co.matched.n += f.n
	return nil
}

// fuse ranks the gathered rows and passes them on to collect.
func (co *collector) fuse() error {
	if len(co.Fusions) == 0 {
		return nil
	}
	for i, f := range co.Fusions {
		scores := co.fused[i][:0]
		scores = slices.Grow(scores, co.matched.n)[:co.matched.n]
		clear(scores)
		co.fused[i] = scores
		k, err := co.fusionK(f)
		if err != nil {
			return err
		}
		for _, e := range f.Of {
			if err := co.ctx.Err(); err != nil {
				return err
			}
			for rank, row := range co.ranked(e) {
				scores[row] += 1 / (k + float64(rank+1))
			}
		}
	}
	in, out := &co.matched, &co.fusedRows
	for first := 0; first < in.n; first += frameSize {
		n := min(frameSize, in.n-first)
		for _, v := range co.Keep {
			out.cols[v] = slices.Grow(out.cols[v][:0], frameSize)[:n]
			if v != co.RowVar() {
				copy(out.cols[v], in.cols[v][first:])
				continue
			}
			for i := range n {
				out.cols[v][i] = uint32(first + i)
			}
		}
		out.n = n
		if co.drop(out); out.n == 0 {
			continue
		}
		if err := co.collect(out); err != nil {
			return err
		}
	}
	return nil
}

// ranked returns the gathered rows that have a score, best first; ids break ties.
func (co *collector) ranked(e *ir.Expr) []uint32 {
	rows := &co.matched
	vec := co.eval(e, rows)
	places := co.places[:0]
	for i := range rows.n {
		if !vec.IsNull(i) && (e.Kind != ir.ExprBM25 || vec.Floats[i] != 0) {
			places = append(places, uint32(i))
		}
	}
	co.places = places
	keys := append(co.sortBy[:0], sortKey{vec: vec, desc: e.Kind == ir.ExprBM25})
	for _, v := range co.Read.Ties {
		if ex := co.TieIDs[v]; ex != nil {
			keys = append(keys, sortKey{vec: co.eval(ex, rows)})
			continue
		}
		keys = append(keys, idKey(co.evaluator, v, rows.cols[v], false))
	}
	co.sortBy = keys
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
