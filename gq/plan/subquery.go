package plan

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// MaxBlockDepth is the maximum number of subqueries that may be nested in each other.
const MaxBlockDepth = 3

// MaxBlockRows is the largest limit that the language allows for a `collect` block. Engines run plans
// with any limit.
const MaxBlockRows = 1000

// MaxNested is the maximum number of nested records in one answer, and in one row of an answer.
const MaxNested = 100_000

// MaxVisited is the maximum number of entities that the subqueries of one read may examine, and the
// maximum number that the statements in the blocks of one mutation may examine. It counts an entity
// once for each time that a subquery or a statement examines it.
const MaxVisited = 100_000_000

// BlockAgg is an aggregate over the matches of a block, such as count { $m replyOf $p }. Its value
// is the same as that of an Agg over one group that has all the matches.
type BlockAgg struct {
	Func     AggFunc  // an aggregate of which [Aggregate.Block] is set
	Distinct bool     // equal values count once; only if [Aggregate.Distinct] of the function is set
	Match    []Clause // clauses that must all hold; Optionals may be among them
	Arg      Expr     // the argument; nil for the number of matches
	// Outer lists the variables that the block uses and that a clause outside the block binds, in
	// ascending order. If it is empty, the value is the same in every row.
	Outer []VarID
}

// BlockRows is the result of a `first` or `collect` block: the record of its first row, or a list of
// the records of its rows. The block returns no aggregates, and does not group its rows.
type BlockRows struct {
	First   bool     // the value is the first row, or null without rows; else it is a list
	Match   []Clause // clauses that must all hold; Optionals may be among them
	Columns []Column // the fields of a record, in order
	Order   []Order  // most significant key first
	Ties    []VarID  // variables that break ties; see [Read.Ties]
	Limit   int64    // maximum number of rows; 1 if First is set
	Outer   []VarID  // see [BlockAgg.Outer]
}

// Member is a field of a record. It is null if the record is null.
type Member struct {
	Of   Expr       // a BlockRows of which First is set
	Name string     // name of the field; its value is not a record
	Type value.Type // type of the value
}

// expr implements Expr.
func (BlockAgg) expr()  {}
func (BlockRows) expr() {}
func (Member) expr()    {}

// Fields returns the fields of a record.
func (b BlockRows) Fields() []Field {
	fields := make([]Field, len(b.Columns))
	for i, c := range b.Columns {
		fields[i] = Field{Name: c.Name, Type: c.Type, Fields: c.Fields}
	}
	return fields
}

// Type returns the type of the block's value. The type has no kind, because the value is a record or
// a list of records.
func (b BlockRows) Type() value.Type { return value.Type{Nullable: b.First, List: !b.First} }

// Subquery returns the clauses of a subquery, and the variables from outside that it uses. It reports
// false for any other expression.
func Subquery(e Expr) (match []Clause, outer []VarID, ok bool) {
	switch e := e.(type) {
	case BlockAgg:
		return e.Match, e.Outer, true
	case BlockRows:
		return e.Match, e.Outer, true
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Agg, Matched, BM25, Nearest, RRF, Apply, Test, Holds, Member, Old, KeyOf, Cell, NodeRef:
	}
	return nil, nil, false
}

// Results returns the expressions that a subquery evaluates for each of its matches: its argument,
// or its columns and sort keys. For any other expression it returns nil.
func Results(e Expr) []Expr {
	var list []Expr
	switch e := e.(type) {
	case BlockAgg:
		if e.Arg != nil {
			list = append(list, e.Arg)
		}
	case BlockRows:
		for _, c := range e.Columns {
			list = append(list, c.Expr)
		}
		for _, o := range e.Order {
			list = append(list, o.Expr)
		}
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Agg, Matched, BM25, Nearest, RRF, Apply, Test, Holds, Member, Old, KeyOf, Cell, NodeRef:
	}
	return list
}

// HasSubquery reports whether an expression is a subquery or computes with one outside of aggregates.
func HasSubquery(e Expr) bool {
	_, _, ok := Subquery(e)
	return ok || slices.ContainsFunc(Operands(e), HasSubquery)
}
