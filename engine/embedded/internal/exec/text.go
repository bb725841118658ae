package exec

import (
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// textScan binds a variable to the entities that the index proposes for a text match. The
// filter for the match still runs afterwards, because the index may propose texts that do not match.
type textScan struct {
	v    plan.VarID   // the variable that it binds
	text int          // position in ir.Query.Texts
	vars []plan.VarID // already bound
	id   int          // position in matcher.frames of the frame for the result
}

// textFilter finds a text match on a variable and returns its position in ir.Query.Texts.
func (pl *planner) textFilter(s *scope, v plan.VarID) (text int, ok bool) {
	for w := range pl.filtersOn(s, v) {
		if t := w.cond.Text; t >= 0 && pl.Texts[t].Prop.Var == v {
			return t, true
		}
	}
	return 0, false
}

// addTextScan adds a step that binds v to the entities that text match number `text` proposes.
func (pl *planner) addTextScan(s *scope, v plan.VarID, text int) {
	s.pipe.steps = append(s.pipe.steps, &textScan{v: v, text: text, vars: slices.Clip(s.vars), id: pl.frame()})
	s.bind(v)
}

// run implements step.
func (s *textScan) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	match, q := m.TextQuery(s.text)
	m.Propose(match, q)
	out := m.frame(s.id, s.vars)
	if cap(out.Cols[s.v]) < eval.FrameSize {
		out.Cols[s.v] = make([]uint32, eval.FrameSize)
	}
	for i := range f.N {
		for w, word := range q.Set {
			if f.IsDone(i) {
				break
			}
			if err := m.Tick(1); err != nil {
				return err
			}
			for ; word != 0; word &= word - 1 {
				for _, v := range s.vars {
					out.Cols[v] = out.Cols[v][:eval.FrameSize]
				}
				out.CopyRow(f, i, s.vars)
				out.Cols[s.v] = out.Cols[s.v][:eval.FrameSize]
				out.Cols[s.v][out.N] = uint32(w*64 + bits.TrailingZeros64(word))
				if out.N++; out.N == eval.FrameSize {
					if err := m.flush(p, at, out); err != nil {
						return err
					}
				}
			}
		}
	}
	return m.flush(p, at, out)
}
