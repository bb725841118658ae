package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// mayFail reports whether a condition may end a run with an error.
func mayFail(c *ir.Cond) bool { return !c.IsLocal() }

// canSplit reports whether a pipe can run on several processors. Its steps must not use anything that belongs to the whole
// run, apart from the weights.
func canSplit(p *exec.Pipe) bool {
	for i, s := range p.Steps {
		ok := false
		switch s := s.(type) {
		case *exec.Scan:
			ok = i == 0 && len(s.Vars) == 0
		case *exec.ColumnScan:
			ok = i == 0 && !slices.ContainsFunc(s.Slow.Conds, mayFail)
		case *exec.Filter:
			ok = !slices.ContainsFunc(s.Conds, mayFail)
		case *exec.Expand, *exec.Check:
			ok = i > 0
		case *exec.Multiply:
			ok = i > 0
		}
		if !ok {
			return false
		}
	}
	return len(p.Steps) > 1
}

// splitting finds out which pipes can run on several processors.
func (pl *planner) splitting() {
	if !pl.CountsOnly {
		return
	}
	split := func(p *exec.Pipe) { p.Work, p.Splits = max(p.Work, costOf(p)), canSplit(p) }
	if t, ok := pl.Body.Steps[0].(*exec.Terms); ok {
		for _, p := range t.Of {
			split(p)
		}
		return
	}
	split(pl.Body)
}
