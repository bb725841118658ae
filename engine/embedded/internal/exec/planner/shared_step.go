package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// addScanShared adds a step that binds v to every node of its interface.
func (pl *planner) addScanShared(s *scope, v plan.VarID) {
	s.pipe.Steps = append(s.pipe.Steps, &exec.ScanShared{Var: v, ID: pl.frame(), Vars: slices.Clip(s.vars)})
	s.bind(v)
}
