package plan

// Holds is a Bool that says whether a block holds. It is never null. If a run drops the block, it is
// true; see [Dropped].
type Holds struct {
	Block Clause // a Not, Exists, Any or All
	// Outer lists the variables that the block uses and that a clause outside the block binds, in
	// ascending order. The clauses inside the block bind all its other variables.
	Outer []VarID
}

// expr implements Expr.
func (Holds) expr() {}

// CondOperands returns the expressions that a condition computes with, in source order.
func CondOperands(c Cond) []Expr {
	switch c := c.(type) {
	case Compare:
		return []Expr{c.Left, c.Right}
	case TextMatch:
		return []Expr{Matched{Match: c}}
	case NullTest:
		return []Expr{c.Expr}
	}
	return nil
}
