package foreign

import "strings"

// functionType returns the type in q(func: type(Person)) of Dgraph, whose field may have any name, or "".
func (r *rewriter) functionType() string {
	if !r.is("(", "func", ":", "type", "(") || !r.isAt(6, ")") {
		return ""
	}
	return r.tableNode(r.peek(5).text)
}

// dgraphFunction reads eq(severity, "sev1") and the like of Dgraph, which restrict the nodes of a scope.
func (r *rewriter) dgraphFunction(sc scope) {
	if r.is("type", "(") && r.isAt(3, ")") && r.tableNode(r.peek(2).text) == r.vars[sc.node] {
		r.next()
		r.skipGroup()
		return
	}
	r.match = append(r.match, r.dgraphTest(sc))
}

// dgraphTest reads one function of Dgraph.
func (r *rewriter) dgraphTest(sc scope) cond {
	if r.accept("not") {
		return r.negated(r.dgraphTest(sc))
	}
	if r.accept("(") {
		c := r.dgraphCondition(sc)
		r.expect(")")
		return c
	}
	function := strings.ToLower(r.word())
	r.expect("(")
	name := r.word()
	defer r.expect(")")
	if function == "has" {
		if p := r.property(r.vars[sc.node], name); p != nil {
			return leaf(r.member(sc.node, name) + " is not null")
		}
		if rel := r.relation(r.vars[sc.node], name); rel != nil {
			return cond{op: "exists", subs: []cond{leaf(rel.clause(sc.node, "", ""))}}
		}
		panic(giveUp{})
	}
	p := r.need(sc, name)
	r.expect(",")
	switch function {
	case "alloftext", "anyoftext", "allofterms":
		return leaf("search(" + r.member(sc.node, p.Name) + ", " + r.operand() + ")")
	case "eq", "ge", "gt", "le", "lt":
		if r.is("[") {
			return r.isIn(r.member(sc.node, p.Name), p)
		}
		return r.filter(sc, p, function)
	case "between":
		low := r.valueOf(p)
		r.expect(",")
		left := r.member(sc.node, p.Name)
		return cond{op: "all", subs: []cond{leaf(left + " >= " + low), leaf(left + " <= " + r.valueOf(p))}}
	}
	panic(giveUp{})
}

// dgraphFilter reads @filter(ge(cost, 5) AND NOT eq(severity, "sev1")).
func (r *rewriter) dgraphFilter(sc scope) {
	if !r.accept("@", "filter", "(") {
		return
	}
	r.match = append(r.match, r.dgraphCondition(sc))
	r.expect(")")
}

// dgraphCondition reads functions with AND and OR between them.
func (r *rewriter) dgraphCondition(sc scope) cond {
	defer r.deeper()()
	alternatives := []cond{}
	for {
		subs := []cond{r.dgraphTest(sc)}
		for r.accept("and") {
			subs = append(subs, r.dgraphTest(sc))
		}
		alternatives = append(alternatives, all(subs))
		if !r.accept("or") {
			break
		}
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return cond{op: "any", subs: alternatives}
}
