package exec

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TextScan binds a variable to the entities that the index proposes for a text match. The
// filter for the match still runs afterwards, because the index may propose texts that do not match.
type TextScan struct {
	Var  plan.VarID   // the variable that it binds
	Text int          // position in ir.Query.Texts
	Vars []plan.VarID // already bound
	ID   int          // position in matcher.frames of the frame for the result
}

// run implements [Step].
func (s *TextScan) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	match, q := m.TextQuery(s.Text)
	m.Propose(match, q)
	out := m.frame(s.ID, s.Vars)
	if cap(out.Cols[s.Var]) < eval.FrameSize {
		out.Cols[s.Var] = make([]uint32, eval.FrameSize)
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
				for _, v := range s.Vars {
					out.Cols[v] = out.Cols[v][:eval.FrameSize]
				}
				out.CopyRow(f, i, s.Vars)
				out.Cols[s.Var] = out.Cols[s.Var][:eval.FrameSize]
				out.Cols[s.Var][out.N] = uint32(w*64 + bits.TrailingZeros64(word))
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
