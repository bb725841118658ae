package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// degrees returns the step for a read, or nil if the read does not have that form.
func (pl *planner) degrees() *exec.Degrees {
	m := pl.Match
	if !pl.Read.Grouped || ir.Fuses(pl.Read) || len(m.Links) != 1 || len(m.Conds)+len(m.Tests)+len(m.Optionals) > 0 {
		return nil
	}
	l := m.Links[0]
	if l.Same || l.Walk || l.OrTypes != nil || l.EdgeVar != plan.NoVar || l.Undirected || l.From == l.To {
		return nil
	}
	// The traversal must bind every variable.
	for _, v := range m.Vars {
		if v != l.From && v != l.To && v != plan.NoVar {
			return nil
		}
	}
	return &exec.Degrees{Traversal: exec.Traversal{Link: l}, Var: plan.NoVar}
}
