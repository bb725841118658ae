package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// blockAgg returns an aggregate of e over the matches of clauses. The expression e is nil for the number of
// matches. The variables `outer` are bound outside of the block.
func blockAgg(f plan.AggFunc, e plan.Expr, outer []plan.VarID, clauses ...plan.Clause) plan.BlockAgg {
	return plan.BlockAgg{Func: f, Arg: e, Outer: outer, Match: clauses}
}

// first returns a `first` block. The caller adds the fields of its record.
func first(outer []plan.VarID, clauses ...plan.Clause) plan.BlockRows {
	return plan.BlockRows{First: true, Limit: 1, Outer: outer, Match: clauses}
}
