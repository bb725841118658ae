package eval

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// IsNull reports whether one of the variables is null in row i of the frame.
func (f *Frame) IsNull(vars []plan.VarID, i int) bool {
	for _, v := range vars {
		if f.Cols[v][i] == version.NoOrd {
			return true
		}
	}
	return false
}

// present returns the rows of a frame in which a variable is not null, as a frame with the column of this
// variable only, and the numbers of these rows. The results are valid until the next call. If the variable is
// null in no row, present returns the frame itself.
func (ev *Evaluator) present(v plan.VarID, f *Frame) (*Frame, []uint32) {
	col := f.Cols[v][:f.N]
	if !slices.Contains(col, version.NoOrd) {
		return f, nil
	}
	out := &ev.presentRows
	if out.Cols == nil {
		out.Cols = make([][]uint32, ev.Width())
	}
	ords, places := out.Cols[v][:0], ev.presentAt[:0]
	for i, ord := range col {
		if ord != version.NoOrd {
			ords, places = append(ords, ord), append(places, uint32(i))
		}
	}
	out.N, out.Cols[v], ev.presentAt = len(ords), ords, places
	return out, places
}

// evalOptional evaluates an expression of an optional variable. Where the variable is null, a relevance is 0,
// a text match is false, and any other value is null.
func (ev *Evaluator) evalOptional(e *ir.Expr, f *Frame, vec *column.Vec) {
	rows, places := ev.present(e.Var, f)
	if rows == f {
		ev.evalVar(e, f, vec)
		return
	}
	dense := &ev.dense
	ev.evalVar(e, rows, dense)
	vec.Reset(dense.Type, f.N)
	missing := value.Null
	switch e.Kind {
	case ir.ExprBM25:
		missing = value.OfF64(0)
	case ir.ExprMatch:
		missing = value.OfBool(false)
	case ir.ExprConst, ir.ExprProp, ir.ExprID, ir.ExprEnd, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprAgg, ir.ExprBlockAgg, ir.ExprMember, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
	}
	next := 0
	for i := range f.N {
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
func (ev *Evaluator) matchText(id int, f *Frame, yield func(i int, ok bool)) {
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
