package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evalComputed evaluates an operator, a function, a test or a block for the rows of a frame. It processes at
// most FrameSize rows at a time, so that the vectors of the operands stay small.
func (ev *Evaluator) evalComputed(e *ir.Expr, f *Frame, vec *column.Vec) {
	vec.Reset(e.Type, f.N)
	if made := &ev.made[e.Slot]; *made > 0 {
		ev.Spent -= *made // the texts of the previous frame are not used any more
		*made = 0
	}
	// evalApply charges the run for the texts that a function makes. Other texts that the run makes belong to an
	// argument or a record, which the run is charged for until the next part, or to an aggregate over a block, which it
	// is charged for until the block ends.
	charge := ev.KeepsText(e)
	switch e.Kind {
	case ir.ExprApply:
		charge = charge && f.N > FrameSize && !scalar.MakesText(e.Src.(plan.Apply).Func)
	case ir.ExprMember:
		charge = charge && f.N > FrameSize
	default: // an aggregate over a block; the others have no texts
	}
	for first := 0; first < f.N; first += FrameSize {
		part := f
		if f.N > FrameSize {
			part = ev.window(f, first, min(first+FrameSize, f.N))
		}
		if err := ev.Tick(part.N); err != nil {
			ev.Fail(err)
		}
		if ev.TextErr != nil { // the run will end with this error
			for i := first; i < f.N; i++ {
				vec.SetNull(i)
			}
			return
		}
		switch e.Kind {
		case ir.ExprTest:
			ev.evalTest(e, part, vec, first)
		case ir.ExprHolds:
			ev.evalHolds(e, part, vec, first)
		case ir.ExprBlockAgg:
			ev.FailOn(ev.Blocks.EvalBlockAgg(e.Subquery, part, vec, first))
		case ir.ExprMember:
			ev.FailOn(ev.Blocks.EvalMember(e.Subquery, part, vec, first))
		default:
			ev.evalApply(e, part, vec, first)
		}
		if charge {
			bytes := 0
			for i := first; i < first+part.N; i++ {
				if !vec.IsNull(i) {
					bytes += len(vec.Strings[i])
				}
			}
			ev.made[e.Slot] += int64(bytes)
			ev.FailOn(ev.Spend(bytes))
		}
	}
}

// FailOn records an error, unless it is nil. The run then ends with this error.
func (ev *Evaluator) FailOn(err error) {
	if err != nil {
		ev.Fail(err)
	}
}

// Fail records the error with which the run will end. Only the first error counts.
func (ev *Evaluator) Fail(err error) {
	if ev.TextErr == nil {
		ev.TextErr = err
	}
}

// window returns the rows of a frame from position `from` up to, but not including, `to`, as a
// frame. It is valid until the next call of window. Blocks that run meanwhile use other memory; see exec.matcher.visit.
func (ev *Evaluator) window(f *Frame, from, to int) *Frame {
	w := ev.Part
	w.N, w.Groups = to-from, nil
	if f.Groups != nil {
		w.Groups = f.Groups[from:to]
	}
	if len(w.Cols) < len(f.Cols) {
		w.Cols = make([][]uint32, len(f.Cols))
	}
	for v, col := range f.Cols {
		w.Cols[v] = nil
		if len(col) >= to {
			w.Cols[v] = col[from:to]
		}
	}
	return w
}

// evalTest compares the two sides of a comparison for each row of a frame. It writes the results, 1
// for true and 0 for false, into vec, beginning at position `at`.
func (ev *Evaluator) evalTest(e *ir.Expr, f *Frame, vec *column.Vec, at int) {
	ev.passed = ev.Test(e.Cond, f, ev.passed[:0])
	clear(vec.Ints[at : at+f.N])
	for _, i := range ev.passed {
		vec.Ints[at+int(i)] = 1
	}
}

// evalApply writes the results of an operator or a function for the rows of a frame into vec,
// beginning at position `at`.
func (ev *Evaluator) evalApply(e *ir.Expr, f *Frame, vec *column.Vec, at int) {
	fn := e.Src.(plan.Apply).Func
	switch fn {
	case plan.If:
		ev.evalIf(e, f, vec, at)
		return
	case plan.Coalesce:
		ev.evalCoalesce(e, f, vec, at)
		return
	}
	var few [4]*column.Vec
	args := few[:0]
	for _, a := range e.Args {
		args = append(args, ev.Eval(a, f))
	}
	if fn <= plan.Multiply && scalar.Numbers(fn, args[0], args[1], vec, at, f.N) {
		return
	}
	var row [4]value.Value
	vals := row[:0]
	if len(args) > len(row) {
		vals = make([]value.Value, 0, len(args))
	}
	texts := scalar.MakesText(fn)
	for i := range f.N {
		vals = vals[:0]
		for _, a := range args {
			vals = append(vals, a.Value(i))
		}
		v, err := scalar.Call(fn, e.Type, vals)
		if err != nil && err != scalar.ErrZero && err != scalar.ErrRange {
			ev.Fail(err)
		}
		vec.Set(at+i, v)
		if !texts || v.IsNull() {
			continue
		}
		ev.made[e.Slot] += int64(len(v.Str()))
		if err := ev.Spend(len(v.Str())); err != nil {
			ev.Fail(err)
			for i++; i < f.N; i++ {
				vec.SetNull(at + i)
			}
			return
		}
	}
}
