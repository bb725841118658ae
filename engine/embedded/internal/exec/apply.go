package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evalComputed evaluates an operator, a function, a test or a block for the rows of a frame. It processes at
// most frameSize rows at a time, so that the vectors of the operands stay small.
func (ev *evaluator) evalComputed(e *ir.Expr, f *frame, vec *column.Vec) {
	vec.Reset(e.Type, f.n)
	if made := &ev.made[e.Slot]; *made > 0 {
		ev.spent -= *made // the texts of the previous frame are not used any more
		*made = 0
	}
	// evalApply charges the run for the texts that a function makes. Other texts that the run makes belong to an
	// argument or a record, which the run is charged for until the next part, or to an aggregate over a block, which it
	// is charged for until the block ends.
	charge := ev.KeepsText(e)
	switch e.Kind {
	case ir.ExprApply:
		charge = charge && f.n > frameSize && !scalar.MakesText(e.Src.(plan.Apply).Func)
	case ir.ExprMember:
		charge = charge && f.n > frameSize
	default: // an aggregate over a block; the others have no texts
	}
	for first := 0; first < f.n; first += frameSize {
		part := f
		if f.n > frameSize {
			part = ev.window(f, first, min(first+frameSize, f.n))
		}
		if err := ev.tick(part.n); err != nil {
			ev.fail(err)
		}
		if ev.textErr != nil { // the run will end with this error
			for i := first; i < f.n; i++ {
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
			ev.failOn(ev.blocks.evalBlockAgg(e.Subquery, part, vec, first))
		case ir.ExprMember:
			ev.failOn(ev.blocks.evalMember(e.Subquery, part, vec, first))
		default:
			ev.evalApply(e, part, vec, first)
		}
		if charge {
			bytes := 0
			for i := first; i < first+part.n; i++ {
				if !vec.IsNull(i) {
					bytes += len(vec.Strings[i])
				}
			}
			ev.made[e.Slot] += int64(bytes)
			ev.failOn(ev.spend(bytes))
		}
	}
}

// failOn records an error, unless it is nil. The run then ends with this error.
func (ev *evaluator) failOn(err error) {
	if err != nil {
		ev.fail(err)
	}
}

// fail records the error with which the run will end. Only the first error counts.
func (ev *evaluator) fail(err error) {
	if ev.textErr == nil {
		ev.textErr = err
	}
}

// window returns the rows of a frame from position `from` up to, but not including, `to`, as a
// frame. It is valid until the next call of window. Blocks that run meanwhile use other memory; see matcher.visit.
func (ev *evaluator) window(f *frame, from, to int) *frame {
	w := ev.part
	w.n, w.groups = to-from, nil
	if f.groups != nil {
		w.groups = f.groups[from:to]
	}
	if len(w.cols) < len(f.cols) {
		w.cols = make([][]uint32, len(f.cols))
	}
	for v, col := range f.cols {
		w.cols[v] = nil
		if len(col) >= to {
			w.cols[v] = col[from:to]
		}
	}
	return w
}

// evalTest compares the two sides of a comparison for each row of a frame. It writes the results, 1
// for true and 0 for false, into vec, beginning at position `at`.
func (ev *evaluator) evalTest(e *ir.Expr, f *frame, vec *column.Vec, at int) {
	ev.passed = ev.test(e.Cond, f, ev.passed[:0])
	clear(vec.Ints[at : at+f.n])
	for _, i := range ev.passed {
		vec.Ints[at+int(i)] = 1
	}
}

// evalApply writes the results of an operator or a function for the rows of a frame into vec,
// beginning at position `at`.
func (ev *evaluator) evalApply(e *ir.Expr, f *frame, vec *column.Vec, at int) {
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
		args = append(args, ev.eval(a, f))
	}
	if fn <= plan.Multiply && scalar.Numbers(fn, args[0], args[1], vec, at, f.n) {
		return
	}
	var row [4]value.Value
	vals := row[:0]
	if len(args) > len(row) {
		vals = make([]value.Value, 0, len(args))
	}
	texts := scalar.MakesText(fn)
	for i := range f.n {
		vals = vals[:0]
		for _, a := range args {
			vals = append(vals, a.Value(i))
		}
		v, err := scalar.Call(fn, e.Type, vals)
		if err != nil && err != scalar.ErrZero && err != scalar.ErrRange {
			ev.fail(err)
		}
		vec.Set(at+i, v)
		if !texts || v.IsNull() {
			continue
		}
		ev.made[e.Slot] += int64(len(v.Str()))
		if err := ev.spend(len(v.Str())); err != nil {
			ev.fail(err)
			for i++; i < f.n; i++ {
				vec.SetNull(at + i)
			}
			return
		}
	}
}
