package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// arrangeHoldings arranges the blocks whose truth is a value into steps. A block starts with the
// variables that are bound outside of it.
func (pl *planner) arrangeHoldings() error {
	for _, h := range pl.Holdings {
		outer := &scope{varStates: make([]varState, len(pl.Types)), pipe: &exec.Pipe{}, rows: 1, start: plan.NoVar}
		for _, v := range h.Outer {
			outer.bind(v)
		}
		t, err := pl.arrange(outer, h.Test)
		if err != nil {
			return err
		}
		pl.HeldTests = append(pl.HeldTests, t)
	}
	return nil
}
