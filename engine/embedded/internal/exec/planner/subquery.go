package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// arrangeSubqueries arranges the blocks of the subqueries into steps. A block starts with the variables that
// are bound outside of it.
func (pl *planner) arrangeSubqueries() error {
	for i, s := range pl.Query.Subqueries {
		outer := &scope{varStates: make([]varState, len(pl.Types)), pipe: &exec.Pipe{}, rows: 1, start: plan.NoVar}
		for _, v := range s.Outer {
			outer.bind(v)
		}
		out := &exec.ArrangedSubquery{Subquery: s, Needs: pl.nullable(outer, s.Block.Vars), Row: pl.Markers(pl.Optionals), In: pl.frame(), ID: i}
		pl.Optionals++
		inner := pl.scope(s.Block, outer)
		inner.vars = append(slices.Clip(outer.vars), out.Row)
		inner.pipe.Inner, inner.pipe.Subquery = false, out
		var err error
		if out.Inner, err = pl.arrangeScope(inner); err != nil {
			return err
		}
		for _, o := range s.Block.Optionals {
			if err := pl.addOptional(inner, o); err != nil {
				return err
			}
		}
		pl.Arranged = append(pl.Arranged, out)
	}
	return nil
}
