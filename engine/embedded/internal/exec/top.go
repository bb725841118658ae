package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// topStep binds the only variable of a read to the entities that can be among its first rows by a
// score, including ties. If there are more entities, topStep adds one of them. This extra entity
// shows that the limit cuts rows off. The sort that follows breaks the ties.
type topStep struct {
	score *ir.Expr   // the score that selects the entities
	v     plan.VarID // the variable that it binds
	id    int        // position in matcher.frames of the frame for the result
}

// top returns the step that replaces the whole match of a read, if the read binds one
// variable without a condition and returns the first rows by a score. For other reads it
// returns nil.
func (pl *planner) top() *topStep {
	if len(pl.Read.Vars) != 1 || !pl.firstByScore() {
		return nil
	}
	for _, c := range pl.Read.Match {
		if _, ok := c.(plan.Bind); !ok {
			return nil
		}
	}
	return &topStep{score: pl.Order[0].Expr, v: 0, id: pl.frame()}
}

// firstByScore reports whether a read returns its first rows by a score, best first, and keeps all
// rows that have this score.
func (pl *planner) firstByScore() bool {
	r := pl.Read
	if r.Grouped || r.Limit <= 0 || len(r.Order) == 0 || len(r.Having) > 0 || ir.Fuses(r) {
		return false
	}
	// A second score may drop rows that are the best by the first score.
	for i, o := range r.Order {
		switch o.Expr.(type) {
		case plan.BM25:
			if i > 0 || !o.Desc {
				return false
			}
		case plan.Nearest:
			if i > 0 || o.Desc {
				return false
			}
		default:
			if i == 0 {
				return false
			}
		}
	}
	for _, c := range r.Columns {
		if _, ok := c.Expr.(plan.Nearest); ok && !ir.SameExpr(c.Expr, r.Order[0].Expr) {
			return false
		}
	}
	return true
}

// run implements step.
func (s *topStep) run(m *matcher, p *pipe, at int, _ *eval.Frame) error {
	out := m.frame(s.id, []plan.VarID{s.v})
	limit := int(min(m.MaxRows, int64(m.Table(s.v).Live()))) + 1
	push := func(ord uint32) error {
		out.Cols[s.v] = out.Cols[s.v][:eval.FrameSize]
		out.Cols[s.v][out.N] = ord
		if out.N++; out.N < eval.FrameSize {
			return nil
		}
		return m.flush(p, at, out)
	}
	if s.score.Kind == ir.ExprNearest {
		ords, err := m.closest(s.score, limit)
		if err != nil {
			return err
		}
		for _, ord := range ords {
			if err := push(ord); err != nil {
				return err
			}
		}
		return m.flush(p, at, out)
	}
	best := m.Relevance(s.score.Score).Top(limit)
	m.best = m.best[:0]
	for _, f := range best {
		m.best = append(m.best, f.Ord)
	}
	// Sort by ordinal: the scores are computed again, which is faster in this order.
	slices.Sort(m.best)
	for _, ord := range m.best {
		if err := push(ord); err != nil {
			return err
		}
	}
	return m.flush(p, at, out)
}
