package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// arrangedHaving returns a test without blocks in the form that runs use.
func arrangedHaving(t *ir.Test) *arrangedTest {
	out := &arrangedTest{Test: t}
	for _, inner := range t.Of {
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
	f.choose(rows, co.Keep)
	return nil
}

// satisfying returns the numbers of the rows of a frame that satisfy all conditions of `having`. The frame has at most
// frameSize rows.
func (co *collector) satisfying(f *frame) ([]uint32, error) {
	var among rowSet
	for i := range f.n {
		among.set(uint32(i))
	}
	for i := range co.Havings {
		if fault.On(fault.HavingLost) && i > 0 && i == len(co.Havings)-1 {
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
	x.Step(1)
	if t.Cond != nil {
		return x.condition(t.Cond)
	}
	var parts []string
	for _, inner := range t.of {
		parts = append(parts, x.having(inner))
	}
	return t.keyword() + " { " + strings.Join(parts, ", ") + " }"
}
