package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// OptionalStep extends each row by the matches of an `optional` block, or by nulls if there is none.
type OptionalStep struct {
	Inner  *Pipe        // the steps of the block; each of its rows goes on to the step after this one
	Vars   []plan.VarID // variables that are already bound
	Binds  []plan.VarID // variables that the block binds
	Needs  []plan.VarID // variables of earlier blocks; if one of them is null, the block has no match
	Row    plan.VarID   // additional variable of the block: the number of the row that the block extends
	Number int          // position in matcher.optionals
	In     int          // position in matcher.frames of the input of the block
	Out    int          // position in matcher.frames of the rows without a match
}

// optionalRun is an OptionalStep that runs on a frame.
type optionalRun struct {
	pipe    *Pipe       // the pipe of the step
	at      int         // number of the step in its pipe
	matched eval.RowSet // rows of the frame for which the block has a match
}

// run implements [Step].
func (s *OptionalStep) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if err := m.Tick(f.N); err != nil {
		return err
	}
	state := &m.optionals[s.Number]
	*state = optionalRun{pipe: p, at: at}
	in := m.frame(s.In, s.Vars)
	m.column(in, s.Row)
	for i := range f.N {
		if f.IsNull(s.Needs, i) {
			continue
		}
		in.CopyRow(f, i, s.Vars)
		in.Cols[s.Row][in.N] = uint32(i)
		in.N++
	}
	if err := m.push(s.Inner, 0, in); err != nil {
		return err
	}
	if fault.On(fault.UnmatchedLost) && state.matched.IsEmpty() {
		return nil
	}
	out := m.frame(s.Out, s.Vars)
	m.makeColumns(out, s.Binds...)
	for i := range f.N {
		if state.matched.Get(uint32(i)) {
			continue
		}
		out.CopyRow(f, i, s.Vars)
		for _, v := range s.Binds {
			out.Cols[v][out.N] = version.NoOrd
		}
		out.N++
	}
	return m.flush(p, at, out)
}

// extended passes on the rows with which a block extends its input.
func (m *matcher) extended(s *OptionalStep, f *eval.Frame) error {
	state := &m.optionals[s.Number]
	for _, i := range f.Cols[s.Row][:f.N] {
		state.matched.Set(i)
	}
	return m.push(state.pipe, state.at+1, f)
}

// describe implements [Step].
func (s *OptionalStep) describe(*explainer) (name, detail string) { return "optional", "" }
