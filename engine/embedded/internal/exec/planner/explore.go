package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// explore returns the step for a walk. The argument `both` says whether both ends are bound.
func (pl *planner) explore(tr exec.Traversal, both bool) *exec.Explore {
	pl.SearchSteps++
	s := &exec.Explore{Traversal: tr, Route: ir.NewRoute(pl.Query, tr.Link, tr.Back), Both: both, Number: pl.SearchSteps - 1}
	if s.Remembers() {
		s.Set, s.Reverse = pl.frame(), ir.NewRoute(pl.Query, tr.Link, !tr.Back)
	}
	return s
}
