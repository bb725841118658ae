package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// havingNames checks the conditions on the rows of the result. The function `result` checks an expression of the
// result.
func (b *binder) havingNames(list []plan.Clause, result func(plan.Expr) error) error {
	for _, c := range list {
		b.step(1)
		switch c := c.(type) {
		case plan.Filter:
			if err := b.condition(c.Cond); err != nil {
				return err
			}
			for _, e := range plan.Operands(plan.Test(c)) {
				if err := result(e); err != nil {
					return err
				}
			}
		case plan.Any, plan.All:
			if err := b.havingNames(plan.Block(c), result); err != nil {
				return err
			}
		default:
			return mismatch("having contains a clause that is not a condition on columns")
		}
	}
	return nil
}

// having binds the conditions on the rows of the result.
func (b *binder) having() error {
	b.composes = b.read.Grouped
	defer func() { b.composes = false }()
	for _, c := range b.read.Having {
		t, err := b.blockTest(c)
		if err != nil {
			return err
		}
		if err := b.checkHaving(t); err != nil {
			return err
		}
		b.havings = append(b.havings, t)
	}
	return nil
}

// checkHaving checks that each condition has one value for each row of the result, and keeps the variables
// that it uses.
func (b *binder) checkHaving(t *test) error {
	for _, inner := range t.of {
		if err := b.checkHaving(inner); err != nil {
			return err
		}
	}
	if t.cond == nil {
		return nil
	}
	f := t.src.(plan.Filter)
	for _, e := range plan.Operands(plan.Test(f)) {
		if b.read.Grouped && !b.isGrouped(e) {
			return mismatch("having uses an expression that is neither a returned column nor an aggregate")
		}
		usesRow(e, b.keepVar)
	}
	return nil
}

// arrangedHaving returns a test without blocks in the form that runs use.
func arrangedHaving(t *test) *arrangedTest {
	out := &arrangedTest{test: t}
	for _, inner := range t.of {
		out.of = append(out.of, arrangedHaving(inner))
	}
	return out
}

// having returns the rows in the set `among` that satisfy condition number i of `having`. A dropped condition keeps all of
// them.
func (m *matcher) having(i int, f *frame, among rowSet) (rowSet, error) {
	t := m.havingTests[i]
	if m.isDropped(t) {
		return among, nil
	}
	return m.satisfying(t, f, nil, among)
}

// filter removes the rows of a frame that fail a condition of `having`.
func (co *collector) filter(f *frame) error {
	rows, err := co.satisfying(f)
	if err != nil {
		return err
	}
	f.choose(rows, co.keep)
	return nil
}

// satisfying returns the numbers of the rows of a frame that satisfy all conditions of `having`. The frame has at most
// frameSize rows.
func (co *collector) satisfying(f *frame) ([]uint32, error) {
	var among rowSet
	for i := range f.n {
		among.set(uint32(i))
	}
	for i := range co.havings {
		if fault.On(fault.HavingLost) && i > 0 && i == len(co.havings)-1 {
			break
		}
		var err error
		if among, err = co.blocks.having(i, f, among); err != nil {
			return nil, err
		}
	}
	rows := co.passedHaving[:0]
	for i := range f.n {
		if among.get(uint32(i)) {
			rows = append(rows, uint32(i))
		}
	}
	co.passedHaving = rows
	co.passed += int64(len(rows))
	return rows, nil
}

// filterGroups finds the groups that satisfy the conditions of `having`.
func (co *collector) filterGroups() error {
	co.leadingGroups = co.leadingGroups[:0]
	if err := co.spend(4 * co.grouped); err != nil {
		return err
	}
	chunk := make([]uint32, 0, frameSize)
	for first := 0; first < co.grouped; first += frameSize {
		if err := co.tick(frameSize); err != nil {
			return err
		}
		chunk = chunk[:0]
		for g := first; g < min(first+frameSize, co.grouped); g++ {
			chunk = append(chunk, uint32(g))
		}
		rows := co.rowsOf(&co.groupRows, &co.rows, chunk)
		rows.groups = chunk
		passed, err := co.satisfying(rows)
		if err != nil {
			return err
		}
		for _, i := range passed {
			co.leadingGroups = append(co.leadingGroups, chunk[i])
		}
	}
	return nil
}

// having returns the text of a condition of `having`.
func (x *explainer) having(t *arrangedTest) string {
	x.step(1)
	if t.cond != nil {
		return x.condition(t.cond)
	}
	var parts []string
	for _, inner := range t.of {
		parts = append(parts, x.having(inner))
	}
	return t.keyword() + " { " + strings.Join(parts, ", ") + " }"
}
