package syntax

// Exists is an `exists` block: it holds if its clauses have a match.
type Exists struct {
	Range
	Match []Clause `parser:"'exists' '{' @@+ '}'"` // the clauses in the braces
}

// Any is an `any` block: it holds if at least one of its conditions holds. The grammar also accepts
// bindings and traversals in the block; the checker reports them.
type Any struct {
	Range
	Conds []Clause `parser:"'any' '{' @@+ '}'"` // the clauses in the braces
}

// All is an `all` block: it holds if all its conditions hold. The grammar also accepts bindings and
// traversals in the block; the checker reports them.
type All struct {
	Range
	Conds []Clause `parser:"'all' '{' @@+ '}'"` // the clauses in the braces
}

// clause marks the types that are a [Clause].
func (*Exists) clause() {}
func (*Any) clause()    {}
func (*All) clause()    {}

// NullTest is the end of a filter that tests whether its left side is null.
type NullTest struct {
	Range
	Not bool `parser:"'is' @'not'? 'null'"` // true for `is not null`
}

// Blocks calls visit for each *Condition and each *Subquery in an operand, in source order. It does not
// call visit for the blocks inside such a block.
func Blocks(o Operand, visit func(Operand)) {
	switch o.(type) {
	case *Condition, *Subquery:
		visit(o)
	case *Literal, *VarRef, *PropRef, *AliasRef, *FieldRef, *NodeKey, *Now, *ActorRef, *OriginRef, *Call, *Binary, *Comparison:
	}
	for _, part := range Parts(o) {
		Blocks(part, visit)
	}
}

// Inside returns the clauses of a block that is an operand, and the operands that the block returns or
// sorts by. For any other operand it returns nothing.
func Inside(o Operand) ([]Clause, []Operand) {
	switch o := o.(type) {
	case *Condition:
		return Block(o.Block), nil
	case *Subquery:
		return o.Match, o.Results()
	case *Literal, *VarRef, *PropRef, *AliasRef, *FieldRef, *NodeKey, *Now, *ActorRef, *OriginRef, *Call, *Binary, *Comparison:
	}
	return nil, nil
}

// Walk calls `clause` for every clause of a read, and `block` for every *Condition and *Subquery.
// It also visits the clauses and operands inside all kinds of blocks.
func (r *Read) Walk(clause func(Clause), block func(Operand)) {
	var clauses func([]Clause)
	var operand func(Operand)
	operand = func(o Operand) {
		Blocks(o, func(b Operand) {
			block(b)
			inner, results := Inside(b)
			clauses(inner)
			for _, o := range results {
				operand(o)
			}
		})
	}
	clauses = func(list []Clause) {
		for _, c := range list {
			clause(c)
			for _, o := range Operands(c) {
				operand(o)
			}
			clauses(Block(c))
		}
	}
	clauses(r.Match)
	for _, p := range r.Returns {
		operand(p.Expr)
	}
	clauses(r.Having)
	for _, o := range r.Order {
		operand(o.Expr)
	}
}

// Parts returns the operands of an operator or a comparison, or the arguments of a call. For any other
// operand it returns nil.
func Parts(o Operand) []Operand {
	if call, ok := o.(*Call); ok {
		return call.Args
	}
	return parts(o)
}

// Operands returns the operands of a clause, in source order. It does not return those of the clauses
// inside a block.
func Operands(c Clause) []Operand {
	switch c := c.(type) {
	case *Binding:
		list := make([]Operand, len(c.Props))
		for i, m := range c.Props {
			list[i] = m.Value
		}
		return list
	case *TextClause:
		if c.Op != nil {
			return []Operand{c.Call, c.Right}
		}
		return []Operand{c.Call}
	case *Filter:
		if c.Null != nil {
			return []Operand{c.Left}
		}
		return []Operand{c.Left, c.Right}
	case *Traversal, *Not, *Exists, *Any, *All, *Optional:
	}
	return nil
}

// Block returns the clauses inside a Not, Exists, Any, All or Optional. For any other clause it returns
// nil.
func Block(c Clause) []Clause {
	switch c := c.(type) {
	case *Optional:
		return c.Match
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
