package eval

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// The functions `if` and `coalesce` compute an argument only for the rows that need its value. An
// argument may be expensive, and it may end the run with an error.

// choice is the memory of one call of `if` or `coalesce`.
type choice struct {
	part      Frame    // the rows for which an argument is computed
	yes, no   []uint32 // rows of the frame
	remaining []uint32 // rows of the frame
}

// evalIf writes the results of an `if` for the rows of a frame into vec, beginning at position `at`.
func (ev *Evaluator) evalIf(e *ir.Expr, f *Frame, vec *column.Vec, at int) {
	c := &ev.choices[e.Choice]
	yes, no := c.yes[:0], c.no[:0]
	cond := ev.Eval(e.Args[0], f)
	for i := range f.N {
		if !cond.IsNull(i) && cond.Ints[i] != 0 {
			yes = append(yes, uint32(i))
		} else {
			no = append(no, uint32(i))
		}
	}
	c.yes, c.no = yes, no
	ev.evalSome(e, e.Args[1], f, yes, vec, at)
	if len(e.Args) == 3 {
		ev.evalSome(e, e.Args[2], f, no, vec, at)
		return
	}
	for _, i := range no {
		vec.SetNull(at + int(i))
	}
}

// evalCoalesce writes the results of a `coalesce` for the rows of a frame into vec, beginning at
// position `at`.
func (ev *Evaluator) evalCoalesce(e *ir.Expr, f *Frame, vec *column.Vec, at int) {
	c := &ev.choices[e.Choice]
	rows := c.remaining[:0]
	for i := range f.N {
		rows = append(rows, uint32(i))
	}
	c.remaining = rows
	for _, arg := range e.Args {
		ev.evalSome(e, arg, f, rows, vec, at)
		open := rows[:0]
		for _, i := range rows {
			if vec.IsNull(at+int(i)) || fault.On(fault.CoalesceLast) {
				open = append(open, i)
			}
		}
		rows = open
	}
}

// evalSome writes the values that an argument of the call e has in some rows of a frame into vec,
// beginning at position `at`. The rows are ascending.
func (ev *Evaluator) evalSome(e, arg *ir.Expr, f *Frame, rows []uint32, vec *column.Vec, at int) {
	if len(rows) == 0 {
		return
	}
	part := f
	if len(rows) < f.N && !fault.On(fault.BranchShifted) {
		part = ev.some(e, f, rows)
	}
	values := ev.Eval(arg, part)
	for k, i := range rows {
		vec.Set(at+int(i), scalar.Widen(values.Value(k), e.Type.Kind))
	}
}

// some returns some rows of a frame as a frame. It is valid until the next call of some for the same
// call of `if` or `coalesce`.
func (ev *Evaluator) some(e *ir.Expr, f *Frame, rows []uint32) *Frame {
	part := &ev.choices[e.Choice].part
	if part.Cols == nil {
		part.Cols = make([][]uint32, ev.Width())
		if err := ev.Hold(ColumnHead*len(part.Cols) + 4*FrameSize*(len(e.Vars)+1)); err != nil {
			ev.Fail(err)
		}
	}
	part.N = len(rows)
	for _, v := range e.Vars {
		part.Cols[v] = pickRows(part.Cols[v], f.Cols[v], rows)
	}
	part.Groups = part.Groups[:0]
	if f.Groups != nil {
		part.Groups = pickRows(part.Groups, f.Groups, rows)
	}
	return part
}

// pickRows overwrites `to` with the elements of `from` at the given positions.
func pickRows(to, from, rows []uint32) []uint32 {
	to = slices.Grow(to[:0], FrameSize)
	for _, i := range rows {
		to = append(to, from[i])
	}
	return to
}
