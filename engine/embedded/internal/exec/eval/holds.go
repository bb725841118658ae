package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// evalHolds writes the truth of a block, 1 or 0, for each row of a frame into vec, beginning at
// position `at`.
func (ev *Evaluator) evalHolds(e *ir.Expr, f *Frame, vec *column.Vec, at int) {
	held, err := ev.Blocks.Truths(e.Holding, f)
	if err != nil {
		ev.Fail(err)
	}
	for i := range f.N {
		vec.Ints[at+i] = 0
		if held.Get(uint32(i)) {
			vec.Ints[at+i] = 1
		}
	}
}
