package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
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
	pipe    *pipe  // the pipe of the step
	at      int    // number of the step in its pipe
	matched rowSet // rows of the frame for which the block has a match
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

// isNull reports whether one of the variables is null in row i of the frame.
func (f *frame) isNull(vars []plan.VarID, i int) bool {
	for _, v := range vars {
		if f.cols[v][i] == version.NoOrd {
			return true
		}
	}
	return false
}

// run implements [step].
func (s *optionalStep) run(m *matcher, p *pipe, at int, f *frame) error {
	if err := m.tick(f.n); err != nil {
		return err
	}
	state := &m.optionals[s.number]
	*state = optionalRun{pipe: p, at: at}
	in := m.frame(s.in, s.vars)
	m.column(in, s.row)
	for i := range f.n {
		if f.isNull(s.needs, i) {
			continue
		}
		in.copyRow(f, i, s.vars)
		in.cols[s.row][in.n] = uint32(i)
		in.n++
	}
	if err := m.push(s.inner, 0, in); err != nil {
		return err
	}
	if fault.On(fault.UnmatchedLost) && state.matched.isEmpty() {
		return nil
	}
	out := m.frame(s.out, s.vars)
	m.makeColumns(out, s.binds...)
	for i := range f.n {
		if state.matched.get(uint32(i)) {
			continue
		}
		out.copyRow(f, i, s.vars)
		for _, v := range s.binds {
			out.cols[v][out.n] = version.NoOrd
		}
		out.n++
	}
	return m.flush(p, at, out)
}

// extended passes on the rows with which a block extends its input.
func (m *matcher) extended(s *optionalStep, f *frame) error {
	state := &m.optionals[s.number]
	for _, i := range f.cols[s.row][:f.n] {
		state.matched.set(i)
	}
	return m.push(state.pipe, state.at+1, f)
}

// describe implements [step].
func (s *optionalStep) describe(*explainer) (name, detail string) { return "optional", "" }

// present returns the rows of a frame in which a variable is not null, as a frame with the column of this
// variable only, and the numbers of these rows. The results are valid until the next call. If the variable is
// null in no row, present returns the frame itself.
func (ev *evaluator) present(v plan.VarID, f *frame) (*frame, []uint32) {
	col := f.cols[v][:f.n]
	if !slices.Contains(col, version.NoOrd) {
		return f, nil
	}
	out := &ev.presentRows
	if out.cols == nil {
		out.cols = make([][]uint32, ev.Width())
	}
	ords, places := out.cols[v][:0], ev.presentAt[:0]
	for i, ord := range col {
		if ord != version.NoOrd {
			ords, places = append(ords, ord), append(places, uint32(i))
		}
	}
	out.n, out.cols[v], ev.presentAt = len(ords), ords, places
	return out, places
}

// evalOptional evaluates an expression of an optional variable. Where the variable is null, a relevance is 0,
// a text match is false, and any other value is null.
func (ev *evaluator) evalOptional(e *ir.Expr, f *frame, vec *column.Vec) {
	rows, places := ev.present(e.Var, f)
	if rows == f {
		ev.evalVar(e, f, vec)
		return
	}
	dense := &ev.dense
	ev.evalVar(e, rows, dense)
	vec.Reset(dense.Type, f.n)
	missing := value.Null
	switch e.Kind {
	case ir.ExprBM25:
		missing = value.OfF64(0)
	case ir.ExprMatch:
		missing = value.OfBool(false)
	case ir.ExprConst, ir.ExprProp, ir.ExprID, ir.ExprEnd, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprAgg, ir.ExprBlockAgg, ir.ExprMember, ir.ExprWalk, ir.ExprRef:
	}
	next := 0
	for i := range f.n {
		if next < len(places) && places[next] == uint32(i) {
			vec.Set(i, dense.Value(next))
			next++
		} else {
			vec.Set(i, missing)
		}
	}
}

// matchText calls `yield` for the rows of a frame. It passes the row, and whether the text match is true for
// it. It leaves out the rows in which the variable of the text is null.
func (ev *evaluator) matchText(id int, f *frame, yield func(i int, ok bool)) {
	prop := ev.Texts[id].Prop
	if !prop.Optional {
		ev.matchPresent(id, f, yield)
		return
	}
	rows, places := ev.present(prop.Var, f)
	if rows == f {
		ev.matchPresent(id, f, yield)
		return
	}
	// The numbers of the rows are valid only until the next call of present.
	places = slices.Clone(places)
	ev.matchPresent(id, rows, func(i int, ok bool) { yield(int(places[i]), ok) })
}
