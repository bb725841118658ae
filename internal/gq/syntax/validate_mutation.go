package syntax

// statement checks the values in a statement of a mutation. The argument `inner` says that the statement
// is in a block, in which values may use properties of the block's variables.
func (p *parser) statement(st Statement, inner bool) {
	p.meter.Step(1)
	switch st := st.(type) {
	case *Insert:
		p.assigns(st.Set, inner, st.Upsert())
	case *Update:
		p.assigns(st.Set, inner, true)
		p.preds(st.Where, inner)
	case *Delete:
		p.preds(st.Where, inner)
	case *MatchBlock:
		p.clauses(st.Match)
		for _, o := range st.Order {
			p.operand(o.Expr)
		}
		p.limit(st.Limit)
	case *ListBlock:
		p.checkValue(st.List, inWriteValue)
	}
	for _, inside := range Statements(st) {
		p.statement(inside, true)
	}
}

// assigns checks the values of assignments. The argument `old` says that a name may stand for the value
// that a property had before.
func (p *parser) assigns(as []*Assign, inner, old bool) {
	for _, a := range as {
		p.written(a.Value, inWriteValue, inner, old)
	}
}

// preds checks the values of predicates.
func (p *parser) preds(list []*Pred, inner bool) {
	for _, pred := range list {
		p.written(pred.Value, inWhereValue, inner, false)
	}
}

// written checks a value of an assignment or a predicate. The argument `in` says in which of the
// two the value is.
func (p *parser) written(o Operand, in string, inner, old bool) {
	if key, ok := o.(*NodeKey); ok {
		for _, member := range key.Key {
			p.written(member, in, inner, old)
		}
		return
	}
	p.checkPart(o, in, maxDepth, func(o Operand) bool {
		if alias, ok := o.(*AliasRef); ok {
			name := alias.Tokens[0].Value
			return old && name != "null" && name != "nil" && name != "none"
		}
		_, property := o.(*PropRef)
		return property && inner
	})
}
