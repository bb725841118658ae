package exec

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// BlockFilter is a step that keeps the rows that satisfy a test. The test is not a plain filter.
type BlockFilter struct {
	Test *ArrangedTest // the test with its blocks as steps
	Vars []plan.VarID  // variables that are already bound
}

// ArrangedTest is a test whose blocks are arranged into steps.
type ArrangedTest struct {
	*ir.Test
	Inner   *Pipe           // the steps of a `not` or `exists` block
	Needs   []plan.VarID    // optional variables from outside the block; if one of them is null, the block has no match
	ID      int             // position of that block's input in matcher.frames
	Members []*ArrangedTest // of an Any or All; the cheapest comes first
}

// Joins returns the only step of a test's block, if that step checks one traversal between
// variables that are bound outside the block. Otherwise it returns nil.
func (t *ArrangedTest) Joins() *Check {
	if t.Inner == nil || len(t.Inner.Steps) != 1 || len(t.Needs) > 0 {
		return nil
	}
	if c, ok := t.Inner.Steps[0].(*Check); ok && c.EdgeVar == plan.NoVar {
		return c
	}
	return nil
}

// Weight returns the cost class of a test. The members of an Any or All are tested in ascending
// order of weight.
func (t *ArrangedTest) Weight() int {
	const block = 10 // more than the weight of every condition
	switch {
	case t.Cond != nil:
		return t.Cond.Weight()
	case t.Inner != nil:
		return block
	}
	most := 0
	for _, inner := range t.Members {
		most = max(most, inner.Weight())
	}
	return most
}

// run implements [Step].
func (s *BlockFilter) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if m.isDropped(s.Test) {
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
	kept, err := m.satisfying(s.Test, f, s.Vars, among)
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
	f.Choose(rows, s.Vars)
	return m.push(p, at+1, f)
}

// isDropped reports whether the run drops a test because an argument is null.
func (m *matcher) isDropped(t *ArrangedTest) bool {
	return t.Drops && plan.Dropped(t.Src, func(param int) bool { return m.Args[param].IsNull() })
}

// satisfying returns the rows of a frame that satisfy a test. The test must not be dropped. The
// result contains only rows of the set `among`. The variables `vars` are bound in the frame.
func (m *matcher) satisfying(t *ArrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
	kept, err := m.keeps(t, f, vars, among)
	if m.prof != nil {
		m.prof.tests[t] += kept.Count()
	}
	return kept, err
}

// keeps does the work of satisfying, without counting for the profile.
func (m *matcher) keeps(t *ArrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
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
		for _, inner := range t.Members {
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
		for _, inner := range t.Members {
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
func (m *matcher) matching(t *ArrangedTest, f *eval.Frame, vars []plan.VarID, among eval.RowSet) (eval.RowSet, error) {
	in := m.frame(t.ID, vars)
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
		if f.IsNull(t.Needs, i) {
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
	err := m.push(t.Inner, 0, in)
	in.Found = nil
	return matched, err
}

// pipes calls `visit` with the steps of each block in the test.
func (t *ArrangedTest) pipes(visit func(*Pipe)) {
	if t.Inner != nil {
		visit(t.Inner)
	}
	for _, inner := range t.Members {
		inner.pipes(visit)
	}
}

// size returns the number of conditions in an Any or All, including the conditions of the Any and
// All blocks inside it.
func (t *ArrangedTest) size() int {
	n := len(t.Members)
	for _, inner := range t.Members {
		n += inner.size()
	}
	return n
}

// keyword returns the keyword that begins the block of a test, or "filter" for a filter.
func (t *ArrangedTest) keyword() string {
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

// describe implements [Step].
func (s *BlockFilter) describe(*explainer) (name, detail string) { return s.Test.keyword(), "" }

// conditions returns the operators for the conditions in a test: the steps of its block, or one
// operator for each condition of an Any or All. The parameter `rows` is the estimated number of
// rows that the run will test.
func (x *explainer) conditions(t *ArrangedTest, rows float64) []*engine.Operator {
	if t.Inner != nil {
		if op, _ := x.pipe(t.Inner, nil); op != nil {
			return []*engine.Operator{op}
		}
		return nil
	}
	var out []*engine.Operator
	for _, inner := range t.Members {
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
