package exec

import (
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// blockFilter is a step that keeps the rows that satisfy a test. The test is not a plain filter.
type blockFilter struct {
	test *arrangedTest // the test with its blocks as steps
	vars []plan.VarID  // variables that are already bound
}

// arrangedTest is a test whose blocks are arranged into steps.
type arrangedTest struct {
	*ir.Test
	inner *pipe           // the steps of a `not` or `exists` block
	needs []plan.VarID    // optional variables from outside the block; if one of them is null, the block has no match
	id    int             // position of that block's input in matcher.frames
	of    []*arrangedTest // of an Any or All; the cheapest comes first
}

// settleTests adds a step for each test that uses no unbound variable of the surrounding block.
func (pl *planner) settleTests(s *scope) error {
	var open []*ir.Test
	for _, t := range s.tests {
		if pl.waits(s, t) {
			open = append(open, t)
			continue
		}
		arranged, err := pl.arrange(s, t)
		if err != nil {
			return err
		}
		var out step = &blockFilter{test: arranged, vars: slices.Clip(s.vars)}
		if c := arranged.joins(); c != nil {
			if _, not := t.Src.(plan.Not); not {
				c.not = !c.not // it is set if the only clause of the block is itself a `not` block
			}
			out = c
		}
		s.pipe.steps = append(s.pipe.steps, out)
		s.scaleRows(ir.BlockShare)
	}
	s.tests = open
	return nil
}

// joins returns the only step of a test's block, if that step checks one traversal between
// variables that are bound outside the block. Otherwise it returns nil.
func (t *arrangedTest) joins() *check {
	if t.inner == nil || len(t.inner.steps) != 1 || len(t.needs) > 0 {
		return nil
	}
	if c, ok := t.inner.steps[0].(*check); ok && c.EdgeVar == plan.NoVar {
		return c
	}
	return nil
}

// arrange arranges the blocks of a test into steps.
func (pl *planner) arrange(s *scope, t *ir.Test) (*arrangedTest, error) {
	pl.Step(1)
	out := &arrangedTest{Test: t}
	if t.Block != nil {
		var err error
		out.inner, err = pl.pipe(t.Block, s)
		out.needs = pl.nullable(s, t.Block.Vars)
		out.id = pl.frame()
		return out, err
	}
	for _, inner := range t.Of {
		arranged, err := pl.arrange(s, inner)
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, arranged)
	}
	slices.SortStableFunc(out.of, func(a, b *arrangedTest) int { return a.weight() - b.weight() })
	return out, nil
}

// weight returns the cost class of a test. The members of an Any or All are tested in ascending
// order of weight.
func (t *arrangedTest) weight() int {
	const block = 10 // more than the weight of every condition
	switch {
	case t.Cond != nil:
		return t.Cond.Weight()
	case t.inner != nil:
		return block
	}
	most := 0
	for _, inner := range t.of {
		most = max(most, inner.weight())
	}
	return most
}

// waits reports whether a test uses variables of the surrounding block that are not bound yet. A `not`
// or `exists` block binds its other variables itself.
func (pl *planner) waits(s *scope, t *ir.Test) bool {
	return len(s.unbound) > 0 && pl.wants(t, func(v plan.VarID) bool { return v != plan.NoVar && s.varStates[v] == neededHere })
}

// wants reports whether a test uses a variable for which the function `wanted` returns true.
func (pl *planner) wants(t *ir.Test, wanted func(plan.VarID) bool) bool {
	inner := func(t *ir.Test) bool { return pl.wants(t, wanted) }
	switch {
	case t.Cond != nil:
		pl.Step(1)
		return slices.ContainsFunc(t.Cond.Vars, wanted)
	case t.Block == nil:
		return slices.ContainsFunc(t.Of, inner)
	}
	b := t.Block
	pl.Step(1 + len(b.Vars) + len(b.Conds))
	return slices.ContainsFunc(b.Vars, wanted) ||
		slices.ContainsFunc(b.Conds, func(c *ir.Cond) bool { return slices.ContainsFunc(c.Vars, wanted) }) ||
		slices.ContainsFunc(b.Tests, inner)
}

// run implements [step].
func (s *blockFilter) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	if m.isDropped(s.test) {
		return m.push(p, at+1, f)
	}
	if err := m.Tick(f.N); err != nil {
		return err
	}
	var among eval.RowSet
	for i := range f.N {
		if !f.IsDone(i) {
			among.Set(uint32(i))
		}
	}
	kept, err := m.satisfying(s.test, f, s.vars, among)
	if err != nil {
		return err
	}
	rows := m.Chosen[:0]
	for i, word := range kept {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.vars)
	return m.push(p, at+1, f)
}

// isDropped reports whether the run drops a test because an argument is null.
func (m *matcher) isDropped(t *arrangedTest) bool {
	return t.Drops && plan.Dropped(t.Src, func(param int) bool { return m.Args[param].IsNull() })
}

// satisfying returns the rows of a frame that satisfy a test. The test must not be dropped. The
// result contains only rows of the set `among`. The variables `vars` are bound in the frame.
func (m *matcher) satisfying(t *arrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
	kept, err := m.keeps(t, f, vars, among)
	if m.prof != nil {
		m.prof.tests[t] += kept.Count()
	}
	return kept, err
}

// keeps does the work of satisfying, without counting for the profile.
func (m *matcher) keeps(t *arrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
	switch t.Src.(type) {
	case plan.Filter:
		var kept eval.RowSet
		m.Chosen = m.Test(t.Cond, f, m.Chosen[:0])
		for _, i := range m.Chosen {
			kept.Set(i)
		}
		return kept.And(among), m.TextErr
	case plan.Not:
		matched, err := m.matching(t, f, vars, among)
		return among.Without(matched), err
	case plan.Exists:
		return m.matching(t, f, vars, among)
	case plan.Any:
		rest := among
		for _, inner := range t.of {
			if m.isDropped(inner) {
				if fault.On(fault.DroppedHolds) {
					return among, nil
				}
				continue
			}
			if rest.IsEmpty() {
				break
			}
			kept, err := m.satisfying(inner, f, vars, rest)
			if err != nil {
				return kept, err
			}
			rest = rest.Without(kept)
			if fault.On(fault.AnyStops) && !kept.IsEmpty() {
				break
			}
		}
		return among.Without(rest), nil
	case plan.All:
		kept := among
		for _, inner := range t.of {
			if m.isDropped(inner) {
				if fault.On(fault.AllEnds) {
					break
				}
				continue
			}
			if kept.IsEmpty() {
				break
			}
			var err error
			if kept, err = m.satisfying(inner, f, vars, kept); err != nil {
				return kept, err
			}
			if fault.On(fault.AllStops) && kept == among {
				break
			}
		}
		return kept, nil
	case plan.Bind, plan.Traverse, plan.Optional:
	}
	panic("exec: the clause is not a condition")
}

// matching returns the rows in the set `among` for which the block of a test has a match.
func (m *matcher) matching(t *arrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
	in := m.frame(t.id, vars)
	if cap(in.Outer) < eval.FrameSize {
		in.Outer = make([]uint32, eval.FrameSize)
		if err := m.Hold(4 * eval.FrameSize); err != nil {
			return eval.RowSet{}, err
		}
	}
	in.Outer = in.Outer[:eval.FrameSize]
	var matched eval.RowSet
	for i := range f.N {
		if !among.Get(uint32(i)) {
			continue
		}
		if f.IsNull(t.needs, i) {
			if fault.On(fault.NullMatches) {
				matched.Set(uint32(i))
			}
			continue
		}
		for _, v := range vars {
			in.Cols[v][in.N] = f.Cols[v][i]
		}
		in.Outer[in.N] = uint32(i)
		if fault.On(fault.RowsRenumbered) {
			in.Outer[in.N] = uint32(in.N)
		}
		in.N++
	}
	in.Found = &matched
	err := m.push(t.inner, 0, in)
	in.Found = nil
	return matched, err
}

// pipes calls `visit` with the steps of each block in the test.
func (t *arrangedTest) pipes(visit func(*pipe)) {
	if t.inner != nil {
		visit(t.inner)
	}
	for _, inner := range t.of {
		inner.pipes(visit)
	}
}

// size returns the number of conditions in an Any or All, including the conditions of the Any and
// All blocks inside it.
func (t *arrangedTest) size() int {
	n := len(t.of)
	for _, inner := range t.of {
		n += inner.size()
	}
	return n
}

// keyword returns the keyword that begins the block of a test, or "filter" for a filter.
func (t *arrangedTest) keyword() string {
	switch t.Src.(type) {
	case plan.Not:
		return "not"
	case plan.Exists:
		return "exists"
	case plan.Any:
		return "any"
	case plan.All:
		return "all"
	case plan.Filter, plan.Bind, plan.Traverse, plan.Optional:
	}
	return "filter"
}

// describe implements [step].
func (s *blockFilter) describe(*explainer) (name, detail string) { return s.test.keyword(), "" }

// conditions returns the operators for the conditions in a test: the steps of its block, or one
// operator for each condition of an Any or All. The parameter `rows` is the estimated number of
// rows that the run will test.
func (x *explainer) conditions(t *arrangedTest, rows float64) []*engine.Operator {
	if t.inner != nil {
		if op, _ := x.pipe(t.inner, nil); op != nil {
			return []*engine.Operator{op}
		}
		return nil
	}
	var out []*engine.Operator
	for _, inner := range t.of {
		x.Step(1)
		op := &engine.Operator{Name: inner.keyword(), Estimate: rows * ir.BlockShare}
		if inner.Cond != nil {
			op.Detail, op.Estimate = x.condition(inner.Cond), rows*inner.Cond.Share()
		}
		op.Children = x.conditions(inner, rows)
		if x.prof != nil {
			x.measure(op, x.prof.tests[inner], 0)
		}
		out = append(out, op)
	}
	return out
}
