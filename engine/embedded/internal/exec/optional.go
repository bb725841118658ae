package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// optionalStep extends each row by the matches of an `optional` block, or by nulls if there is none.
type optionalStep struct {
	inner  *pipe        // the steps of the block; each of its rows goes on to the step after this one
	vars   []plan.VarID // variables that are already bound
	binds  []plan.VarID // variables that the block binds
	needs  []plan.VarID // variables of earlier blocks; if one of them is null, the block has no match
	row    plan.VarID   // additional variable of the block: the number of the row that the block extends
	number int          // position in matcher.optionals
	in     int          // position in matcher.frames of the input of the block
	out    int          // position in matcher.frames of the rows without a match
}

// optionalRun is an optionalStep that runs on a frame.
type optionalRun struct {
	pipe    *pipe       // the pipe of the step
	at      int         // number of the step in its pipe
	matched eval.RowSet // rows of the frame for which the block has a match
}

// addOptional adds the step for an `optional` block, and the conditions that wait for it.
func (pl *planner) addOptional(s *scope, o *ir.Optional) error {
	step := &optionalStep{vars: slices.Clip(s.vars), binds: o.Binds, needs: pl.nullable(s, o.Block.Vars),
		row: pl.Markers(pl.optionals), number: pl.optionals, in: pl.frame(), out: pl.frame()}
	pl.optionals++
	inner := pl.scope(o.Block, s)
	inner.vars = append(slices.Clip(s.vars), step.row)
	inner.pipe.inner, inner.pipe.optional = false, step
	var err error
	if step.inner, err = pl.arrangeScope(inner); err != nil {
		return err
	}
	s.pipe.steps = append(s.pipe.steps, step)
	s.scaleRows(max(1, inner.rows))
	for _, v := range o.Binds {
		s.bind(v)
	}
	for i, c := range o.Conds {
		s.filter(&pendingCond{cond: c, at: i})
	}
	s.tests = o.Tests
	return pl.settle(s)
}

// nullable returns the optional variables among `vars` that are bound outside of a block.
func (pl *planner) nullable(s *scope, vars []plan.VarID) []plan.VarID {
	var out []plan.VarID
	for _, v := range vars {
		if v != plan.NoVar && pl.Read.Vars[v].Optional && s.bound(v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// run implements [step].
func (s *optionalStep) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if err := m.Tick(f.N); err != nil {
		return err
	}
	state := &m.optionals[s.number]
	*state = optionalRun{pipe: p, at: at}
	in := m.frame(s.in, s.vars)
	m.column(in, s.row)
	for i := range f.N {
		if f.IsNull(s.needs, i) {
			continue
		}
		in.CopyRow(f, i, s.vars)
		in.Cols[s.row][in.N] = uint32(i)
		in.N++
	}
	if err := m.push(s.inner, 0, in); err != nil {
		return err
	}
	if fault.On(fault.UnmatchedLost) && state.matched.IsEmpty() {
		return nil
	}
	out := m.frame(s.out, s.vars)
	m.makeColumns(out, s.binds...)
	for i := range f.N {
		if state.matched.Get(uint32(i)) {
			continue
		}
		out.CopyRow(f, i, s.vars)
		for _, v := range s.binds {
			out.Cols[v][out.N] = version.NoOrd
		}
		out.N++
	}
	return m.flush(p, at, out)
}

// extended passes on the rows with which a block extends its input.
func (m *matcher) extended(s *optionalStep, f *eval.Frame) error {
	state := &m.optionals[s.number]
	for _, i := range f.Cols[s.row][:f.N] {
		state.matched.Set(i)
	}
	return m.push(state.pipe, state.at+1, f)
}

// describe implements [step].
func (s *optionalStep) describe(*explainer) (name, detail string) { return "optional", "" }
