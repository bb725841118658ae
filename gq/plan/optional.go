package plan

// Optional extends each assignment by the matches of the clauses in an `optional` block: one
// assignment for each match or, without a match, one assignment in which the variables that the
// block binds are null. An Optional can be only directly in Read.Match or in the clauses of a
// subquery. The order of the Optionals matters, because each extends the assignments that the
// earlier ones yield. The other clauses in Read.Match that use an optional variable apply to the
// extended assignments.
//
// A Bind or a Traverse of a variable that is null has no match. Any other use of the variable, such as a
// property, is null.
type Optional struct{ Match []Clause }

// clause implements Clause.
func (Optional) clause() {}
