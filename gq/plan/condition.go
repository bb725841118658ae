package plan

import "slices"

// Exists keeps an assignment of the outer variables if the clauses in the `exists` block have a
// match for it. The assignment stays one row, however many matches there are. Variables that are
// bound inside the block are not visible outside. An Exists is dropped if all its clauses are; see
// [Dropped].
type Exists struct{ Match []Clause }

// Any keeps the assignments for which at least one of its conditions holds. A condition is a
// Filter, Not, Exists, Any or All. Dropped conditions do not count. If all conditions are dropped,
// the Any is dropped too; see [Dropped].
type Any struct{ Conds []Clause }

// All keeps the assignments for which all its conditions hold. Its conditions are of the same types
// as those of Any. If all of them are dropped, the All is dropped too.
type All struct{ Conds []Clause }

// clause implements Clause.
func (Exists) clause() {}
func (Any) clause()    {}
func (All) clause()    {}

// NullTest tests whether the expression is null. If Not is set, it tests whether the expression is
// not null.
type NullTest struct {
	Expr Expr // the tested expression
	Not  bool // test for not null
}

// cond implements Cond.
func (NullTest) cond() {}

// Block returns the clauses inside a Not, Exists, Any, All or Optional. For any other clause it returns
// nil.
func Block(c Clause) []Clause {
	switch c := c.(type) {
	case Optional:
		return c.Match
	case Not:
		return c.Match
	case Exists:
		return c.Match
	case Any:
		return c.Conds
	case All:
		return c.Conds
	case Bind, Traverse, Filter:
	}
	return nil
}

// Binds reports whether a clause binds variables that the clauses around it see. Only a Bind, a
// Traverse or an Optional does. A variable that is bound inside a Not, Exists, Any or All is visible only
// there.
func Binds(c Clause) bool {
	switch c.(type) {
	case Bind, Traverse, Optional:
		return true
	case Filter, Not, Exists, Any, All:
	}
	return false
}

// Dropped reports whether a run drops a clause. It drops a comparison if the argument of the
// parameter Unless is null, and a block if all clauses in the block are dropped. In an Any, a
// dropped clause does not count; everywhere else, it holds. The function isNull reports whether the
// argument of a parameter is null. If isNull is nil, Dropped assumes that the argument of every
// such parameter is null.
func Dropped(c Clause, isNull func(param int) bool) bool {
	switch c := c.(type) {
	case Filter:
		cmp, ok := c.Cond.(Compare)
		return ok && cmp.Unless != NoParam && (isNull == nil || isNull(cmp.Unless))
	case Bind, Traverse:
		return false
	case Not, Exists, Any, All, Optional:
	}
	return !slices.ContainsFunc(Block(c), func(c Clause) bool { return !Dropped(c, isNull) })
}
