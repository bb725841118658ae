package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// selectRows reads SELECT. The columns come before the tables that give them a meaning, so it reads
// them last.
func (r *rewriter) selectRows() {
	r.expect("select")
	if r.accept("top") {
		paren := r.accept("(")
		r.limit = r.operand()
		if paren {
			r.expect(")")
		}
	}
	r.inSelect = true
	columns := r.at
	if r.is("{") || len(r.match) > 0 { // select { … } in a query of this language
		r.returned()
		return
	}
	r.skipTo("from")
	r.expect("from")
	if r.is("match") || r.peek(0).kind == word && r.peek(1).are("match") { // FROM lab MATCH (p)
		if !r.is("match") {
			r.next()
			r.note(graphNote)
		}
		for r.accept("match") {
			r.items()
		}
		r.tables = r.order
	} else if r.is("{") { // from { … } with the clauses of a match
		r.match = append(r.match, r.braced()...)
	} else if r.closed != nil {
		r.fromClosure(columns)
	} else if r.is("(", "select") {
		r.derived(columns)
		r.inSelect = true
	} else {
		r.from()
	}
	after := r.at
	r.at = columns
	r.inColumns = true
	r.returned()
	r.inColumns = false
	r.expect("from")
	r.at = after
}

// skipTo skips tokens to a word outside of parentheses.
func (r *rewriter) skipTo(word string) {
	for depth := 0; depth > 0 || !r.is(word); {
		switch t := r.next(); {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		}
	}
}

// edgeClause writes the traversal for a table of edges.
func (r *rewriter) edgeClause(e *joined) string {
	ends := [2]string{"$_", "$_"}
	for i, v := range []string{e.from, e.to} {
		if v != "" {
			ends[i] = "$" + lower(v)
		}
	}
	bound := ""
	if e.bound || r.usesEdge(e) || e.alias != "" && r.countsEdges() && mayRepeat(e.edge) {
		bound = r.bind(e.alias, e.edge.Name) + ":"
	}
	return ends[0] + " " + bound + lower(e.edge.Name) + " " + ends[1]
}

// countsEdges reports whether the text counts rows or adds values: parallel edges then make rows of their own, for which the
// edges need variables.
func (r *rewriter) countsEdges() bool {
	if r.existence || slices.ContainsFunc(r.tokens, func(t token) bool { return t.are("over") }) {
		return false // a block for each pair of nodes is faster than one for each pair of rows
	}
	for i := range r.tokens {
		if t := tokens(r.tokens[i:]); t.one([]string{"sum", "avg"}, "(") || t.are("count", "(", "*") || t.are("count", "(") && t.at(2).kind == number {
			return true
		}
	}
	return false
}

// mayRepeat reports whether two nodes may have several edges of a type.
func mayRepeat(e *catalog.Edge) bool {
	return !onePerPair(e) && (e.Card == nil || e.Card.Max != 1)
}

// usesEdge reports whether the text uses a column of a table of edges in another place than the
// conditions that join tables.
func (r *rewriter) usesEdge(e *joined) bool {
	n := 0
	for i, t := range r.tokens {
		if t.text == e.alias && i+1 < len(r.tokens) && r.tokens[i+1].text == "." {
			n++
		}
	}
	return n > e.conditions
}

// usesBare reports whether the text uses a column of a table of edges without an alias, and no other table has it.
func (r *rewriter) usesBare(e *catalog.Edge) bool {
	for i, t := range r.tokens {
		if t.kind != word || i == 0 || slices.Contains([]string{".", "as", "AS"}, r.tokens[i-1].text) || i+1 < len(r.tokens) && slices.Contains([]string{".", "("}, r.tokens[i+1].text) {
			continue
		}
		if r.property(e.Name, t.text) == nil && (endOf(t.text) == "" || t.are("from") || t.are("to")) {
			continue
		}
		if !slices.ContainsFunc(r.tables, func(v string) bool { return r.property(r.vars[v], t.text) != nil }) {
			return true
		}
	}
	return false
}

// subselect reads SELECT 1 FROM MemberOf WHERE src = $p.id in EXISTS, and returns the clauses.
func (r *rewriter) subselect() []cond {
	r.expect("select")
	r.skipTo("from")
	r.expect("from")
	e := r.edgeType(r.word())
	refuse(e == nil)
	alias := ""
	if t := r.peek(0); t.kind == word && !r.is("where") {
		alias = r.word()
	}
	r.expect("where")
	j := &joined{edge: e}
	for {
		if alias != "" {
			r.accept(alias, ".")
		}
		side := endOf(r.word())
		r.expect("=")
		v := r.next()
		refuse(v.kind != word && v.kind != dollar || !r.known(v.text))
		if r.accept(".") {
			r.word()
		}
		switch side {
		case "from":
			j.from = v.text
		case "to":
			j.to = v.text
		default:
			panic(giveUp{})
		}
		if !r.accept("and") {
			break
		}
	}
	if j.from == "" {
		j.from = r.fresh(e.From)
	}
	if j.to == "" {
		j.to = r.fresh(e.To)
	}
	return []cond{leaf(r.edgeClause(j))}
}

// edgeSelect reads (SELECT src FROM MemberOf WHERE dst = 'x') after a key and IN, as a condition on the
// edges of the node.
func (r *rewriter) edgeSelect(left string) cond {
	defer r.deeper()()
	r.expect("(", "select")
	r.accept("distinct")
	alias := ""
	if r.isAt(1, ".") {
		alias = r.word()
		r.next()
	}
	side := endOf(r.word())
	r.expect("from")
	e := r.edgeType(r.word())
	r.accept("as")
	if alias != "" && (e == nil || plain(alias) != plain(e.Name)) {
		r.expect(alias)
	} else if alias == "" && r.peek(0).kind == word && !r.is("where") {
		alias = r.word()
	}
	v, key, _ := strings.Cut(strings.TrimPrefix(left, "$"), ".")
	refuse(e == nil || side == "" || !r.bound(v))
	node := r.order[slices.IndexFunc(r.order, func(name string) bool { return lower(name) == v })]
	if n := r.schema.Node(r.vars[node]); n == nil || r.key(n.Name) != key || !r.atEnd(e, side == "to", n.Name) {
		panic(giveUp{})
	}
	rel := &relation{e, side == "from"}
	if !r.is("where") {
		r.expect(")")
		return cond{op: "exists", subs: []cond{leaf(rel.clause(node, "", ""))}}
	}
	r.next()
	if alias == "" || r.known(alias) {
		alias = r.fresh(e.Name)
	}
	edge := alias
	r.bind(edge, e.Name)
	tables := r.tables
	r.tables = []string{edge}
	c := r.condition()
	r.tables = tables
	r.expect(")")
	return cond{op: "exists", subs: []cond{leaf(rel.clause(node, edge, "")), c}}
}

// identifiers changes strings in double quotes to words in a text of SQL if they are names of the schema or of the text: SQL writes strings in single quotes, and names in double quotes.
func (r *rewriter) identifiers() {
	if !r.isOne("select", "update", "insert", "delete", "with") {
		return
	}
	names := map[string]bool{}
	for _, n := range r.schema.Nodes {
		names[plain(n.Name)] = true
		for _, p := range n.Properties {
			names[plain(p.Name)] = true
		}
	}
	for _, e := range r.schema.Edges {
		names[plain(e.Name)] = true
		for _, p := range e.Properties {
			names[plain(p.Name)] = true
		}
	}
	r.tokens = slices.Clone(r.tokens)
	for i, t := range r.tokens {
		if i > 0 && r.tokens[i-1].are("as") || tokens(r.tokens[i+1:]).are(".") {
			names[plain(t.text)] = true
		}
	}
	for i, t := range r.tokens {
		if t.kind == text && t.double && names[plain(t.text)] && wordLen(t.text) == len(t.text) {
			r.tokens[i].kind = word
		}
	}
}
