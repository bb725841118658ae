package syntax

// Optional is an `optional` block: it keeps a row when its clauses have no match. The grammar also
// accepts the block inside other blocks; the checker reports it there.
type Optional struct {
	Range
	Match []Clause `parser:"'optional' '{' @@+ '}'"` // the clauses in the braces
}

// clause marks Optional as a [Clause].
func (*Optional) clause() {}
