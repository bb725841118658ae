package plan

import "slices"

// Exists keeps the assignments of the outer variables for which the clauses in the `exists` block have
// a match. It never makes a second row of an assignment. Variables that are bound inside the block are
// not visible outside. An Exists is dropped if all its clauses are; see [Dropped].
type Exists struct{ Match []Clause }

// Any keeps the assignments for which at least one of its conditions holds. A condition is a Filter,
// Not, Exists, Any or All. The conditions that are dropped do not count; if all of them are dropped,
// so is the Any.
type Any struct{ Conds []Clause }

// All keeps the assignments for which all its conditions hold. The conditions are those of Any. If all
// of them are dropped, so is the All.
type All struct{ Conds []Clause }

func (Exists) clause() {}
func (Any) clause()    {}
func (All) clause()    {}

// NullTest is true if the expression is null, or, if Not is set, if it is not null.
type NullTest struct {
	Expr Expr
	Not  bool
}

func (NullTest) cond() {}

// Block returns the clauses of a clause that contains others, or nil.
func Block(c Clause) []Clause {
	switch c := c.(type) {
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

// Binds reports whether the variables of a clause are visible in the clauses around it: those of a
// Not, Exists, Any or All are not.
func Binds(c Clause) bool {
	switch c.(type) {
	case Bind, Traverse:
		return true
	case Filter, Not, Exists, Any, All:
	}
	return false
}

// Dropped reports whether a clause is dropped in a run. A comparison is dropped if the argument of its
// parameter Unless is null, and a block is dropped if all its clauses are. A dropped clause counts for
// nothing in an Any, and holds in every other place. The function isNull reports whether the argument
// of a parameter is null; nil means that the arguments of all these parameters are null.
func Dropped(c Clause, isNull func(param int) bool) bool {
	switch c := c.(type) {
	case Filter:
		cmp, ok := c.Cond.(Compare)
		return ok && cmp.Unless != NoParam && (isNull == nil || isNull(cmp.Unless))
	case Bind, Traverse:
		return false
	case Not, Exists, Any, All:
	}
	return !slices.ContainsFunc(Block(c), func(c Clause) bool { return !Dropped(c, isNull) })
}
