package plan

// WalkExpr calls visit for an expression and for every expression that it computes with, including
// the argument of an aggregate, the expressions in the block of a Holds, and those of a subquery. It
// does not visit the operands of text matches and scores.
func WalkExpr(e Expr, visit func(Expr)) {
	visit(e)
	switch e := e.(type) {
	case Agg:
		WalkExpr(e.Arg, visit)
	case RRF:
		WalkExpr(e.First, visit)
		WalkExpr(e.Second, visit)
	case Apply, Test, KeyOf, NodeRef, Member:
		for _, o := range Operands(e) {
			WalkExpr(o, visit)
		}
	case BlockAgg, BlockRows:
		match, _, _ := Subquery(e)
		WalkClauses(match, visit)
		for _, r := range Results(e) {
			WalkExpr(r, visit)
		}
	case Holds:
		WalkClauses([]Clause{e.Block}, visit)
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Matched, BM25, Nearest, Old, Cell:
	}
}

// WalkClauses calls WalkExpr for every expression in the clauses, including those in the blocks
// among them.
func WalkClauses(clauses []Clause, visit func(Expr)) {
	for _, c := range clauses {
		if f, ok := c.(Filter); ok {
			for _, o := range CondOperands(f.Cond) {
				WalkExpr(o, visit)
			}
		}
		WalkClauses(Block(c), visit)
	}
}

// WalkConds calls visit for every condition of a read: those of its match, of its blocks and of `having`,
// and those within expressions.
func (r *Read) WalkConds(visit func(Cond)) {
	clauseConds(r.Match, visit)
	clauseConds(r.Having, visit)
	for _, c := range r.Columns {
		ExprConds(c.Expr, visit)
	}
	for _, o := range r.Order {
		ExprConds(o.Expr, visit)
	}
}

// ExprConds calls visit for every condition within an expression.
func ExprConds(e Expr, visit func(Cond)) {
	switch e := e.(type) {
	case Agg:
		ExprConds(e.Arg, visit)
	case Apply, KeyOf, NodeRef:
		for _, a := range Operands(e) {
			ExprConds(a, visit)
		}
	case Test:
		condConds(e.Cond, visit)
	case Holds:
		clauseConds([]Clause{e.Block}, visit)
	case BlockAgg, BlockRows:
		match, _, _ := Subquery(e)
		clauseConds(match, visit)
		for _, r := range Results(e) {
			ExprConds(r, visit)
		}
	case Member:
		ExprConds(e.Of, visit)
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Matched, BM25, Nearest, RRF, Old, Cell:
	}
}

// condConds calls visit for a condition and for every condition within its operands.
func condConds(c Cond, visit func(Cond)) {
	visit(c)
	for _, o := range CondOperands(c) {
		ExprConds(o, visit)
	}
}

// clauseConds calls visit for every condition in the clauses.
func clauseConds(clauses []Clause, visit func(Cond)) {
	for _, c := range clauses {
		if f, ok := c.(Filter); ok {
			condConds(f.Cond, visit)
		}
		clauseConds(Block(c), visit)
	}
}

// StatementExprs returns the expressions of a statement that are not nil. Of a ForEach it returns
// only the list, not the expressions of its match and of its statements.
func StatementExprs(st Statement) []Expr {
	var exprs []Expr
	switch st := st.(type) {
	case Insert:
		for _, e := range []Expr{st.From, st.To, st.ID} {
			if e != nil {
				exprs = append(exprs, e)
			}
		}
	case ForEach:
		if st.List != nil {
			exprs = append(exprs, st.List)
		}
	case Update, Delete:
	}
	set, where := Written(st)
	for _, p := range where {
		exprs = append(exprs, p.Value)
	}
	for _, a := range set {
		exprs = append(exprs, a.Value)
	}
	return exprs
}

// WalkConds calls visit for every condition of a mutation: those within expressions, and those of the
// matches.
func (m *Mutation) WalkConds(visit func(Cond)) {
	m.Walk(func(st Statement) {
		for _, e := range StatementExprs(st) {
			ExprConds(e, visit)
		}
		if each, ok := st.(ForEach); ok && each.Read != nil {
			each.Read.WalkConds(visit)
		}
	})
	for _, c := range m.Returns {
		ExprConds(c.Expr, visit)
	}
}
