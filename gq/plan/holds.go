package plan

// Holds is the truth of a block, as a Bool. It is never null. A block that a run drops is true; see
// [Dropped].
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
