package ir

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Aggregate is a bound aggregate.
type Aggregate struct {
	Src  plan.Agg // the aggregate in the plan
	Rows bool     // whether it counts rows
	// Bound is the optional variable that a count tests: only rows in which the variable is not
	// null count. In all other aggregates bound is NoVar.
	Bound plan.VarID
	Expr  *Expr      // the argument; nil if it counts rows
	Type  value.Type // type of the result
	Slot  int        // the vector for its values
	// Nodes is the variable whose nodes a collect gathers for a column of records, or the variable of the edges if it
	// gathers the nodes at an end of them. In all other aggregates nodes is NoVar.
	Nodes plan.VarID
}
