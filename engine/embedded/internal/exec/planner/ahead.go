package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// lookAhead sets the ahead field of the match's lookups. It skips a lookup by a key other
// than the id, because such a lookup knows the entity only after it has compared the key.
func (pl *planner) lookAhead() {
	for _, s := range pl.Body.Steps {
		l, ok := s.(*exec.Lookup)
		if !ok || pl.Types[l.Var].Entity != plan.Node || pl.Types[l.Var].IDProp < 0 || len(l.Exprs) != 1 {
			continue
		}
		a := &exec.Ahead{Props: []int{pl.Types[l.Var].IDProp}}
		for _, p := range pl.Reads[l.Var] {
			if p != pl.Types[l.Var].IDProp {
				a.Props = append(a.Props, p)
			}
		}
		a.Sides(pl.Body, l.Var)
		l.Ahead = a
	}
}
