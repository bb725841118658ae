package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// apply binds an operator or a function.
func (b *binder) apply(e plan.Apply, out *expr) error {
	constant := true
	types := make([]value.Type, len(e.Args))
	for i, a := range e.Args {
		arg, err := b.part(a)
		if err != nil {
			return err
		}
		out.args = append(out.args, arg)
		types[i] = arg.typ
		constant = constant && arg.kind == exprConst
	}
	t, ok := e.Func.Row().Result(types)
	if !ok || t.Kind != e.Type.Kind || t.List != e.Type.List {
		return mismatch("%s does not take the given types, or does not yield %s", e.Func, e.Type)
	}
	out.typ = t
	if !constant {
		out.kind = exprApply
		b.computes = true
		if scalar.TakesNull(e.Func) {
			b.choose(e, out)
		}
	}
	return nil
}

// test binds a comparison or a test for null that is used as a value.
func (b *binder) test(e plan.Test, out *expr) error {
	cond := &cond{unless: plan.NoParam, text: -1, list: -1, pattern: -1}
	var err error
	constant := true
	switch c := e.Cond.(type) {
	case plan.NullTest:
		cond.notNull = c.Not
		cond.left, err = b.part(c.Expr)
	case plan.Compare:
		if c.Unless != plan.NoParam {
			return &engine.Unsupported{Construct: "a comparison that can be dropped as a value within an expression"}
		}
		cond.op = c.Op
		var ok bool
		if cond.left, cond.right, ok, err = b.nodeParam(c); ok {
			constant = false
			break
		}
		if cond.left, cond.right, ok, err = b.twoNodes(c); ok {
			constant = false
			break
		}
		if cond.left, err = b.part(c.Left); err != nil {
			return err
		}
		if cond.right, err = b.part(c.Right); err != nil {
			return err
		}
		constant = cond.right.kind == exprConst
		err = b.wordOperator(cond)
	default:
		return &engine.Unsupported{Construct: "a text match as a value within an expression"}
	}
	if err != nil {
		return err
	}
	out.typ = value.Of(value.Bool)
	if !constant || cond.left.kind != exprConst {
		out.kind, out.cond = exprTest, cond
		b.computes = true
	}
	return nil
}

// part binds an expression that is an operand of another one. Such an operand must not be a score.
func (b *binder) part(e plan.Expr) (*expr, error) {
	out, err := b.expr(e)
	if err != nil {
		return nil, err
	}
	switch out.kind {
	case exprBM25, exprNearest, exprFused:
		return nil, &engine.Unsupported{Construct: "a score within an expression"}
	case exprConst, exprProp, exprID, exprEnd, exprMatch, exprApply, exprTest, exprHolds, exprBlockAgg, exprMember, exprAgg, exprWalk, exprRef:
	}
	return out, nil
}

// composed binds a column or a sort key that computes with aggregates.
func (b *binder) composed(e plan.Expr) (*expr, error) {
	b.composes = true
	defer func() { b.composes = false }()
	usesRow(e, b.keepVar)
	return b.expr(e)
}

// usesRow calls f for each variable that an expression uses outside its aggregates.
func usesRow(e plan.Expr, f func(plan.VarID)) {
	switch e := e.(type) {
	case plan.Agg:
	case plan.Apply, plan.Test, plan.Member:
		for _, o := range plan.Operands(e) {
			usesRow(o, f)
		}
	default:
		uses(e, f)
	}
}

// soleVar returns the variable that an expression uses, if there is exactly one, else NoVar. The
// expression must not contain aggregates.
func soleVar(e plan.Expr) plan.VarID {
	sole, several := plan.NoVar, false
	uses(e, func(v plan.VarID) {
		several = several || sole != plan.NoVar && sole != v
		sole = v
	})
	if several {
		return plan.NoVar
	}
	return sole
}

// evalComputed evaluates an operator, a function, a test or a block for the rows of a frame. It processes at
// most frameSize rows at a time, so that the vectors of the operands stay small.
func (ev *evaluator) evalComputed(e *expr, f *frame, vec *column.Vec) {
	vec.Reset(e.typ, f.n)
	if made := &ev.made[e.slot]; *made > 0 {
		ev.spent -= *made // the texts of the previous frame are not used any more
		*made = 0
	}
	// evalApply charges the run for the texts that a function makes. Other texts that the run makes belong to an
	// argument or a record, which the run is charged for until the next part, or to an aggregate over a block, which it
	// is charged for until the block ends.
	charge := ev.keepsText(e)
	switch e.kind {
	case exprApply:
		charge = charge && f.n > frameSize && !scalar.MakesText(e.src.(plan.Apply).Func)
	case exprMember:
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
		switch e.kind {
		case exprTest:
			ev.evalTest(e, part, vec, first)
		case exprHolds:
			ev.evalHolds(e, part, vec, first)
		case exprBlockAgg:
			ev.failOn(ev.blocks.evalBlockAgg(e.subquery, part, vec, first))
		case exprMember:
			ev.failOn(ev.blocks.evalMember(e.subquery, part, vec, first))
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
			ev.made[e.slot] += int64(bytes)
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
func (ev *evaluator) evalTest(e *expr, f *frame, vec *column.Vec, at int) {
	ev.passed = ev.test(e.cond, f, ev.passed[:0])
	clear(vec.Ints[at : at+f.n])
	for _, i := range ev.passed {
		vec.Ints[at+int(i)] = 1
	}
}

// evalApply writes the results of an operator or a function for the rows of a frame into vec,
// beginning at position `at`.
func (ev *evaluator) evalApply(e *expr, f *frame, vec *column.Vec, at int) {
	fn := e.src.(plan.Apply).Func
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
	for _, a := range e.args {
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
		v, err := scalar.Call(fn, e.typ, vals)
		if err != nil && err != scalar.ErrZero && err != scalar.ErrRange {
			ev.fail(err)
		}
		vec.Set(at+i, v)
		if !texts || v.IsNull() {
			continue
		}
		ev.made[e.slot] += int64(len(v.Str()))
		if err := ev.spend(len(v.Str())); err != nil {
			ev.fail(err)
			for i++; i < f.n; i++ {
				vec.SetNull(at + i)
			}
			return
		}
	}
}
