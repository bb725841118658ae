package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// top returns the step that replaces the whole match of a read, if the read binds one
// variable without a condition and returns the first rows by a score. For other reads it
// returns nil.
func (pl *planner) top() *exec.TopStep {
	if len(pl.Read.Vars) != 1 || !pl.firstByScore() {
		return nil
	}
	for _, c := range pl.Read.Match {
		if _, ok := c.(plan.Bind); !ok {
			return nil
		}
	}
	return &exec.TopStep{Score: pl.Order[0].Expr, Var: 0, ID: pl.frame()}
}

// firstByScore reports whether a read returns its first rows by a score, best first, and keeps all
// rows that have this score.
func (pl *planner) firstByScore() bool {
	r := pl.Read
	if r.Grouped || r.Limit <= 0 || len(r.Order) == 0 || len(r.Having) > 0 || ir.Fuses(r) {
		return false
	}
	// A second score may drop rows that are the best by the first score.
	for i, o := range r.Order {
		switch o.Expr.(type) {
		case plan.BM25:
			if i > 0 || !o.Desc {
				return false
			}
		case plan.Nearest:
			if i > 0 || o.Desc {
				return false
			}
		default:
			if i == 0 {
				return false
			}
		}
	}
	for _, c := range r.Columns {
		if _, ok := c.Expr.(plan.Nearest); ok && !ir.SameExpr(c.Expr, r.Order[0].Expr) {
			return false
		}
	}
	return true
}
