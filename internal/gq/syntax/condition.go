package syntax

// Exists is an `exists` block: it holds if its clauses have a match.
type Exists struct {
	Range
	Match []Clause `parser:"'exists' '{' @@+ '}'"`
}

// Any is an `any` block: it holds if at least one of its conditions holds. The checker reports
// bindings and traversals among them.
type Any struct {
	Range
	Conds []Clause `parser:"'any' '{' @@+ '}'"`
}

// All is an `all` block: it holds if all its conditions hold. The checker reports bindings and
// traversals among them.
type All struct {
	Range
	Conds []Clause `parser:"'all' '{' @@+ '}'"`
}

func (*Exists) clause() {}
func (*Any) clause()    {}
func (*All) clause()    {}

// NullTest is the end of a filter that tests whether its left side is null.
type NullTest struct {
	Range
	Not bool `parser:"'is' @'not'? 'null'"` // written as is not null
}

// Block returns the clauses of a clause that contains others, or nil.
func Block(c Clause) []Clause {
	switch c := c.(type) {
	case *Not:
		return c.Match
	case *Exists:
		return c.Match
	case *Any:
		return c.Conds
	case *All:
		return c.Conds
	case *Binding, *Traversal, *TextClause, *Filter:
	}
	return nil
}
