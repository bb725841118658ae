package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// approximate returns the step that replaces the match of a suitable read. A read is suitable if it
// returns the first rows by a distance, the property of the distance may have an approximate index,
// and the match binds one variable. For other reads approximate returns nil.
func (pl *planner) approximate() *exec.NearStep {
	r := pl.Read
	if !pl.firstByScore() {
		return nil
	}
	score := pl.Order[0].Expr
	if score.Kind != ir.ExprNearest || !pl.IsApproximate(score) {
		return nil
	}
	binds := 0
	for _, c := range r.Match {
		switch c.(type) {
		case plan.Bind:
			binds++
		case plan.Filter, plan.Not, plan.Exists, plan.Any, plan.All:
		default:
			return nil
		}
	}
	if binds != 1 {
		return nil
	}
	v := pl.Distances[score.Score].Var
	rows := *pl.Body
	rows.Steps = append(slices.Clip(rows.Steps), exec.Gather{Var: v})
	if n := len(rows.Estimates); n > 0 {
		rows.Estimates = append(slices.Clip(rows.Estimates), rows.Estimates[n-1])
	}
	return &exec.NearStep{Rows: &rows, Score: score, Var: v, ID: pl.frame()}
}
