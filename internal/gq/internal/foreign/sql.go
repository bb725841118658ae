package foreign

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
)

// selectRows reads SELECT. The columns come before the tables that give them a meaning, so it reads
// them last.
func (r *rewriter) selectRows() {
	r.Expect("select")
	if r.Accept("top") {
		r.limit = r.operand()
	}
	r.inSelect = true
	columns := r.At
	if r.Is("{") || len(r.match) > 0 { // select { … } in a query of this language
		r.returned()
		return
	}
	r.SkipTo("from")
	r.Expect("from")
	if r.Is("match") || r.Peek(0).Kind == lex.Word && r.Peek(1).Are("match") { // FROM lab MATCH (p)
		if !r.Is("match") {
			r.Next()
			r.note(graphNote)
		}
		for r.Accept("match") {
			r.items()
		}
		r.tables = r.order
	} else if r.Is("{") { // from { … } with the clauses of a match
		r.match = append(r.match, r.braced()...)
	} else if r.closed != nil {
		r.fromClosure(columns)
	} else if r.Is("(", "select") {
		r.derived(columns)
		r.inSelect = true
	} else {
		r.from()
	}
	after := r.At
	r.At = columns
	r.inColumns = true
	r.returned()
	r.inColumns = false
	r.Expect("from")
	r.At = after
}

// edgeClause writes the traversal for a table of edges.
func (r *rewriter) edgeClause(e *joined) string {
	ends := [2]string{"$_", "$_"}
	for i, v := range []string{e.from, e.to} {
		if v != "" {
			ends[i] = "$" + naming.Lower(v)
		}
	}
	bound := ""
	if e.bound || r.usesEdge(e) || e.alias != "" && r.countsEdges() && naming.Parallel(e.edge) {
		bound = r.bind(e.alias, e.edge.Name) + ":"
	}
	return ends[0] + " " + bound + naming.Lower(e.edge.Name) + " " + ends[1]
}

// countsEdges reports whether the text counts rows or adds values: parallel edges then make rows of their own, for which the
// edges need variables.
func (r *rewriter) countsEdges() bool {
	if r.existence || slices.ContainsFunc(r.Tokens, func(t lex.Token) bool { return t.Are("over") }) {
		return false // a block for each pair of nodes is faster than one for each pair of rows
	}
	for i := range r.Tokens {
		if t := lex.Tokens(r.Tokens[i:]); t.One([]string{"sum", "avg"}, "(") || t.Are("count", "(", "*") || t.Are("count", "(") && t.At(2).Kind == lex.Number {
			return true
		}
	}
	return false
}

// usesEdge reports whether the text uses a column of a table of edges in another place than the
// conditions that join tables.
func (r *rewriter) usesEdge(e *joined) bool {
	n := 0
	for i, t := range r.Tokens {
		if t.Text == e.alias && i+1 < len(r.Tokens) && r.Tokens[i+1].Text == "." {
			n++
		}
	}
	return n > e.conditions
}

// usesBare reports whether the text uses a column of a table of edges without an alias, and no other table has it.
func (r *rewriter) usesBare(e *catalog.Edge) bool {
	for i, t := range r.Tokens {
		if t.Kind != lex.Word || i == 0 || slices.Contains([]string{".", "as", "AS"}, r.Tokens[i-1].Text) || i+1 < len(r.Tokens) && slices.Contains([]string{".", "("}, r.Tokens[i+1].Text) {
			continue
		}
		if r.Property(e.Name, t.Text) == nil && (naming.EndOf(t.Text) == "" || t.Are("from") || t.Are("to")) {
			continue
		}
		if !slices.ContainsFunc(r.tables, func(v string) bool { return r.Property(r.vars[v], t.Text) != nil }) {
			return true
		}
	}
	return false
}

// identifiers changes strings in double quotes to words in a text of SQL if they are names of the schema or of the text: SQL writes strings in single quotes, and names in double quotes.
func (r *rewriter) identifiers() {
	if !r.IsOne("select", "update", "insert", "delete", "with") {
		return
	}
	names := map[string]bool{}
	for _, n := range r.Schema.Nodes {
		names[naming.Plain(n.Name)] = true
		for _, p := range n.Properties {
			names[naming.Plain(p.Name)] = true
		}
	}
	for _, e := range r.Schema.Edges {
		names[naming.Plain(e.Name)] = true
		for _, p := range e.Properties {
			names[naming.Plain(p.Name)] = true
		}
	}
	r.Tokens = slices.Clone(r.Tokens)
	for i, t := range r.Tokens {
		if i > 0 && r.Tokens[i-1].Are("as") || lex.Tokens(r.Tokens[i+1:]).Are(".") {
			names[naming.Plain(t.Text)] = true
		}
	}
	for i, t := range r.Tokens {
		if t.Kind == lex.Text && t.Double && names[naming.Plain(t.Text)] && lex.WordLen(t.Text) == len(t.Text) {
			r.Tokens[i].Kind = lex.Word
		}
	}
}
