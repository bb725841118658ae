package sink

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// filter removes the rows of a frame that fail a condition of `having`.
func (co *Collector) filter(f *eval.Frame) error {
	rows, err := co.satisfying(f)
	if err != nil {
		return err
	}
	f.Choose(rows, co.Keep)
	return nil
}

// satisfying returns the numbers of the rows of a frame that satisfy all conditions of `having`. The frame has at most
// eval.FrameSize rows.
func (co *Collector) satisfying(f *eval.Frame) ([]uint32, error) {
	var among eval.RowSet
	for i := range f.N {
		among.Set(uint32(i))
	}
	for i := range co.Havings {
		if fault.On(fault.HavingLost) && i > 0 && i == len(co.Havings)-1 {
			break
		}
		var err error
		if among, err = co.Runner.Having(i, f, among); err != nil {
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
	co.Passed += int64(len(rows))
	return rows, nil
}

// filterGroups finds the groups that satisfy the conditions of `having`.
func (co *Collector) filterGroups() error {
	co.leadingGroups = co.leadingGroups[:0]
	if err := co.Spend(4 * co.Grouped); err != nil {
		return err
	}
	chunk := make([]uint32, 0, eval.FrameSize)
	for first := 0; first < co.Grouped; first += eval.FrameSize {
		if err := co.Tick(eval.FrameSize); err != nil {
			return err
		}
		chunk = chunk[:0]
		for g := first; g < min(first+eval.FrameSize, co.Grouped); g++ {
			chunk = append(chunk, uint32(g))
		}
		rows := co.rowsOf(&co.groupRows, &co.Rows, chunk)
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
