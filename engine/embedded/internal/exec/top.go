package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TopStep binds the only variable of a read to the entities that can be among its first rows by a
// score, including ties. If there are more entities, TopStep adds one of them. This extra entity
// shows that the limit cuts rows off. The sort that follows breaks the ties.
type TopStep struct {
	Score *ir.Expr   // the score that selects the entities
	Var   plan.VarID // the variable that it binds
	ID    int        // position in matcher.frames of the frame for the result
}

// run implements [Step].
func (s *TopStep) run(m *matcher, p *Pipe, at int, _ *eval.Frame) error {
	out := m.frame(s.ID, []plan.VarID{s.Var})
	limit := int(min(m.MaxRows, int64(m.Table(s.Var).Live()))) + 1
	push := func(ord uint32) error {
		out.Cols[s.Var] = out.Cols[s.Var][:eval.FrameSize]
		out.Cols[s.Var][out.N] = ord
		if out.N++; out.N < eval.FrameSize {
			return nil
		}
		return m.flush(p, at, out)
	}
	if s.Score.Kind == ir.ExprNearest {
		ords, err := m.closest(s.Score, limit)
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
	best := m.Relevance(s.Score.Score).Top(limit)
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
