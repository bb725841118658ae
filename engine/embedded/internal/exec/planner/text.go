package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// textFilter finds a text match on a variable and returns its position in ir.Query.Texts.
func (pl *planner) textFilter(s *scope, v plan.VarID) (text int, ok bool) {
	for w := range pl.filtersOn(s, v) {
		if t := w.cond.Text; t >= 0 && pl.Texts[t].Prop.Var == v {
			return t, true
		}
	}
	return 0, false
}

// addTextScan adds a step that binds v to the entities that text match number `text` proposes.
func (pl *planner) addTextScan(s *scope, v plan.VarID, text int) {
	s.pipe.Steps = append(s.pipe.Steps, &exec.TextScan{Var: v, Text: text, Vars: slices.Clip(s.vars), ID: pl.frame()})
	s.bind(v)
}
