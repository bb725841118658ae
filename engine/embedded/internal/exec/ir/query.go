// Package ir holds reads that are bound to a schema: their names are resolved and their types checked. A read depends on the
// schema only, not on the data. A binder makes it from a plan; see [BindRead].
package ir

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Query is a read bound to a schema: the names are resolved, the types checked. It does not
// depend on the data. The binder makes it.
type Query struct {
	Read   *plan.Read          // the read as compiled from GQ
	Params []plan.Param        // the parameters of the query
	Schema *schema.Schema      // the schema that the names refer to
	Types  []*schema.Type      // by variable; for an interface, a type of its properties
	Over   []*schema.Interface // by variable: the interface, or nil for a node type or an edge type
	Match  *Block              // the clauses that find the rows
	Vecs   int                 // number of vectors that the expressions own
	Texts  []*TextMatch        // the text searches in the clauses
	// `Lists` contains the constant lists of the `in` conditions. `Patterns` contains the patterns
	// of the `matches` conditions.
	Lists    []*Expr
	Patterns []constPattern
	Keep     []plan.VarID // variables whose ordinals the result needs
	Columns  []Projection // columns of the result
	Havings  []*Test      // conditions on the rows of the result
	Order    []orderKey   // sort keys, the first one first
	Aggs     []Aggregate  // the aggregates, each once
	Holdings []*holding   // the blocks whose truth is a value

	Subqueries []*Subquery // the subqueries; an inner subquery comes before the outer one

	Choosers int      // number of calls of `if` and `coalesce`
	Routes   []*Route // the routes of the walks whose nodes the expressions return

	TieIDs map[plan.VarID]*Expr // the ids of the optional variables that break ties

	Reads   [][]int // by variable: the properties that the result reads
	UsesNow bool    // the read calls now()
	// Computes is set if an operator, a function or a test computes with values of a row.
	Computes bool
	ranking
	grouping
}

// IsApproximate reports whether the property of a distance may have an approximate index.
func (q *Query) IsApproximate(score *Expr) bool {
	d := q.Distances[score.Score]
	return q.Types[d.Var].Approximate(d.Prop)
}

// KeepsText reports whether the values of an expression are texts that the run makes. Whoever keeps such a value
// longer than the vector of the expression must charge the run for its bytes.
func (q *Query) KeepsText(e *Expr) bool {
	if e == nil || e.Type.Kind != value.String || e.Type.List {
		return false
	}
	switch e.Kind {
	case ExprApply: // a function such as trim returns a part of its argument
		return scalar.MakesText(e.Src.(plan.Apply).Func) || slices.ContainsFunc(e.Args, q.KeepsText)
	case ExprBlockAgg:
		return q.KeepsText(q.Subqueries[e.Subquery].Agg.Expr)
	case ExprMember:
		return q.KeepsText(q.Subqueries[e.Subquery].Columns[0].Value)
	default:
		return e.Kind == ExprRef
	}
}

// Markers returns the variable that contains row numbers for the `optional` block with the given number.
// It comes after the variables of the plan and RowVar.
func (q *Query) Markers(number int) plan.VarID { return q.RowVar() + 1 + plan.VarID(number) }

// Projection is a column of the result.
type Projection struct {
	plan.Column
	Value      *Expr
	Agg        int     // position in Query.Aggs, or -1
	FieldExprs []*Expr // the fields, if the column is a whole node or a list of nodes
	// Composed is set if ex computes with aggregates.
	Composed bool
	Rows     int // position in Query.Subqueries, if the column is a `first` or `collect` block; else -1
}

// IsKey reports whether the column is one of the values by which a grouped read groups its rows.
func (c *Projection) IsKey() bool { return c.Agg < 0 && !c.Composed && c.Rows < 0 }

// VariesByGroup reports whether a grouped read groups its rows by the column, and the column is not
// constant.
func (c *Projection) VariesByGroup() bool { return c.IsKey() && c.Value.Kind != ExprConst }

// orderKey is a sort key. In a grouped read it is a column or an aggregate.
type orderKey struct {
	Expr *Expr
	Agg  int  // position in Query.Aggs, or -1
	Desc bool // descending
}

// Width returns the number of columns of the collected rows: one for each variable, and one
// for RowVar.
func (q *Query) Width() int { return len(q.Types) + 1 }

// Mismatch returns a *engine.SchemaMismatch.
func Mismatch(format string, args ...any) error {
	return &engine.SchemaMismatch{Detail: fmt.Sprintf(format, args...)}
}

// RowVar returns an additional variable, after those of the plan. It holds the row's number
// among the rows to be fused.
func (q *Query) RowVar() plan.VarID { return plan.VarID(len(q.Types)) }

// IsShared reports whether a variable is over an interface.
func (q *Query) IsShared(v plan.VarID) bool { return q.Over[v] != nil }

// IsID reports whether an expression is the id of a variable's entity, or the property that
// holds the id. It reports false for a variable over an interface.
func (q *Query) IsID(e *Expr) bool {
	return (e.Kind == ExprID || e.Kind == ExprProp && q.Types[e.Var].IDProp == e.Prop) && !q.IsShared(e.Var)
}

// nameSubqueries sets the field Name of each subquery.
func (q *Query) nameSubqueries(of *plan.Query) {
	if len(q.Subqueries) == 0 {
		return
	}
	speller := plan.SpellerOf(of)
	for _, s := range q.Subqueries {
		s.Name = speller.Expr(s.Src)
		if at := subqueryNames; len(s.Name) > at {
			for at > 0 && !utf8.RuneStart(s.Name[at]) {
				at--
			}
			s.Name = s.Name[:at] + "…"
		}
	}
}
