package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
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
func (m *matcher) having(i int, f *eval.Frame, among eval.RowSet) (eval.RowSet, error) {
	t := m.havingTests[i]
	if m.isDropped(t) {
		return among, nil
	}
	return m.satisfying(t, f, nil, among)
}

// filter removes the rows of a frame that fail a condition of `having`.
func (co *collector) filter(f *eval.Frame) error {
	rows, err := co.satisfying(f)
	if err != nil {
		return err
	}
	f.Choose(rows, co.Keep)
	return nil
}

// satisfying returns the numbers of the rows of a frame that satisfy all conditions of `having`. The frame has at most
// eval.FrameSize rows.
func (co *collector) satisfying(f *eval.Frame) ([]uint32, error) {
	var among eval.RowSet
	for i := range f.N {
		among.Set(uint32(i))
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
	for i := range f.N {
		if among.Get(uint32(i)) {
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
	if err := co.Spend(4 * co.grouped); err != nil {
		return err
	}
	chunk := make([]uint32, 0, eval.FrameSize)
	for first := 0; first < co.grouped; first += eval.FrameSize {
		if err := co.Tick(eval.FrameSize); err != nil {
			return err
		}
		chunk = chunk[:0]
		for g := first; g < min(first+eval.FrameSize, co.grouped); g++ {
			chunk = append(chunk, uint32(g))
		}
		rows := co.rowsOf(&co.groupRows, &co.rows, chunk)
		rows.Groups = chunk
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
