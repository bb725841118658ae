package foreign

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// joined is a table of edges in FROM, and the nodes at its ends as far as the conditions say.
type joined struct {
	edge     *catalog.Edge
	alias    string
	from, to string // names of variables, or ""
	left     bool   // of a LEFT JOIN
	bound    bool   // the edge has a variable
	tables   int    // the tables of nodes before it

	conditions int // the conditions that say what its ends are
}

// joining is what FROM and JOIN say before the tables become clauses.
type joining struct {
	edges    []*joined
	pairs    []joinPair
	tests    []joinTest
	optional map[string]bool // by variable of a node: whether LEFT JOIN binds it
}

// joinPair is a condition a.x = b.y of a join.
type joinPair struct {
	sides [2]joinSide
	test  joinTest
}

// joinSide is a side of a condition that joins tables, such as d.src.
type joinSide struct {
	table  string // the alias of a table, or the name of a variable
	column string // "" for a variable alone
}

// joinTest is another condition of a join, which is read when the tables have their variables.
type joinTest struct {
	at    int    // the index of its first token
	alias string // the table that the join adds
	left  bool
}

// from reads the tables of FROM and JOIN, and the conditions that join them.
func (r *rewriter) from() {
	j := &joining{optional: map[string]bool{}}
	left := false
	for {
		name := r.Word()
		alias := r.TableAlias()
		typ, e := r.table(name, alias)
		switch {
		case typ != "":
			if alias == "" {
				alias = r.fresh(typ)
			} else {
				r.bind(alias, typ)
			}
			r.tables = append(r.tables, alias)
			j.optional[alias] = left
		case e != nil:
			refuse.If(len(j.edges) >= maxVars/2)
			if alias == "" {
				if alias = name; mentionsVar(r.around, "$"+naming.Lower(name)) {
					alias = r.fresh(e.Name)
				}
			}
			j.edges = append(j.edges, &joined{edge: e, alias: alias, left: left, tables: len(r.tables)})
		default:
			panic(refuse.GiveUp{})
		}
		if r.Accept("on") {
			r.joinConditions(j, alias, left)
		}
		left = false
		switch {
		case r.Accept(","), r.Accept("join"), r.Accept("inner", "join"), r.Accept("cross", "join"):
		case r.Accept("left", "join"), r.Accept("left", "outer", "join"):
			left = true
		default:
			r.joinTables(j)
			return
		}
	}
}

// table returns the node type or the edge type that the name of a table means. A plural may be the name of an edge: its
// columns say which it is.
func (r *rewriter) table(name, alias string) (node string, e *catalog.Edge) {
	node, e = r.TableNode(name), r.EdgeType(name)
	if node == "" || e == nil || r.NodeType(name) != "" {
		if node != "" {
			e = nil
		}
		return node, e
	}
	if alias == "" {
		alias = name
	}
	for i, t := range r.Tokens {
		if rest := lex.Tokens(r.Tokens[i+1:]); t.Kind == lex.Word && t.Text == alias && rest.Are(".") && r.EndNamed(e, rest.At(1).Text) != "" && r.Property(node, rest.At(1).Text) == nil {
			return "", e
		}
	}
	return node, nil
}

// joinConditions reads the conditions after ON.
func (r *rewriter) joinConditions(j *joining, alias string, left bool) {
	for {
		test := joinTest{r.At, alias, left}
		var p [2]joinSide
		if r.try(func() {
			p = r.pair()
			refuse.If(r.operator() || r.IsOne("+", "-", "*", "/", "or"))
		}) {
			j.pairs = append(j.pairs, joinPair{p, test})
		} else if r.Accept("true") {
		} else {
			r.SkipCondition()
			j.tests = append(j.tests, test)
		}
		if !r.Accept("and") {
			return
		}
	}
}

// pair reads a.x = b.y.
func (r *rewriter) pair() (out [2]joinSide) {
	paren := r.Accept("(")
	for i := range out {
		if i > 0 {
			r.Expect("=")
		}
		table := r.Word()
		if v := r.byType(table); v != "" && !r.known(table) {
			table = v
		}
		r.Expect(".")
		out[i] = joinSide{table, r.Word()}
	}
	if paren {
		r.Expect(")")
	}
	return out
}

// joinTables writes the bindings and the traversals for the tables.
func (r *rewriter) joinTables(j *joining) {
	for _, e := range j.edges {
		if len(r.tables) == 0 && len(j.edges) == 1 || r.usesBare(e.edge) {
			e.bound = true
			r.bind(e.alias, e.edge.Name)
			r.tables = append(r.tables, e.alias)
		}
	}
	ends := r.joinEnds(j)
	for _, e := range j.edges { // a node that a JOIN after a LEFT JOIN adds makes that one a JOIN
		for _, v := range []string{e.from, e.to} {
			if i := slices.Index(r.tables, v); e.left && i >= e.tables && !j.optional[v] && r.Schema.Edge(r.vars[v]) == nil {
				panic(refuse.GiveUp{})
			}
		}
	}
	for _, v := range r.tables {
		if r.Schema.Edge(r.vars[v]) != nil {
			continue
		}
		if !ends[v] && !j.optional[v] {
			r.match = append(r.match, leaf("$"+naming.Lower(v)+": "+r.vars[v]))
		} else if !ends[v] {
			panic(refuse.GiveUp{})
		}
	}
	clauses := map[*joined]int{} // the index of the clause of an edge in the match
	for _, e := range j.edges {
		for _, v := range []string{e.from, e.to} {
			// An end of an outer join that nothing else binds needs a binding.
			if v != "" && e.left && !j.optional[v] && !binds(r.match, "$"+naming.Lower(v)) {
				r.match = append(r.match, leaf("$"+naming.Lower(v)+": "+r.vars[v]))
			}
		}
		clause := leaf(r.edgeClause(e))
		if e.left {
			clause = cond{op: "optional", subs: []cond{clause}}
		}
		clauses[e] = len(r.match)
		r.match = append(r.match, clause)
	}
	r.joinTests(j, clauses)
}

// joinEnds finds the variables at the ends of the edges. It returns the nodes whose types the edges give, and leaves the
// pairs that are other conditions among the tests.
func (r *rewriter) joinEnds(j *joining) map[string]bool {
	given := map[string]bool{}
	var shared []joinPair // the pairs of two edges
	for _, p := range j.pairs {
		switch a, b := j.edge(p.sides[0].table), j.edge(p.sides[1].table); {
		case a != nil && b != nil && r.EndNamed(a.edge, p.sides[0].column) != "" && r.EndNamed(b.edge, p.sides[1].column) != "":
			shared = append(shared, p)
		case a != nil && r.joinEnd(a, p.sides[0].column, p.sides[1], given):
		case b != nil && r.joinEnd(b, p.sides[1].column, p.sides[0], given):
		default:
			refuse.If(p.test.left)
			j.tests = append(j.tests, p.test)
		}
	}
	for pass := 0; pass <= len(shared); pass++ { // each pass takes a variable one edge further, and the last one makes some
		for _, p := range shared {
			a, b := j.edge(p.sides[0].table), j.edge(p.sides[1].table)
			left, right := a.end(r.EndNamed(a.edge, p.sides[0].column)), b.end(r.EndNamed(b.edge, p.sides[1].column))
			switch {
			case *left == *right && *left != "":
			case *left == "" && *right == "":
				if pass == len(shared) {
					*left = r.fresh(a.edge.EndName(left == &a.to))
					*right = *left
				}
			case *left == "":
				*left = *right
			case *right == "":
				*right = *left
			default:
				panic(refuse.GiveUp{})
			}
		}
	}
	for _, p := range shared {
		a, b := j.edge(p.sides[0].table), j.edge(p.sides[1].table)
		refuse.If(*a.end(r.EndNamed(a.edge, p.sides[0].column)) != *b.end(r.EndNamed(b.edge, p.sides[1].column)))
		j.edge(p.sides[0].table).conditions++
		j.edge(p.sides[1].table).conditions++
	}
	return given
}

// edge returns the table of edges with an alias, or nil.
func (j *joining) edge(alias string) *joined {
	for _, e := range j.edges {
		if e.alias == alias {
			return e
		}
	}
	return nil
}

// end returns the place of the variable at an end.
func (e *joined) end(name string) *string {
	if name == "to" {
		return &e.to
	}
	return &e.from
}

// join notes that the node of a variable is at an end, "from" or "to". It gives up if the node of another variable is there,
// because a traversal cannot say that two variables are one node.
func (e *joined) join(end, variable string) {
	at := e.end(end)
	refuse.If(*at != "" && *at != variable)
	*at = variable
	e.conditions++
}

// joinEnd notes that an end of an edge is a node, and reports whether the columns say so. If the edge type gives the node its
// type, joinEnd adds the node to `given`.
func (r *rewriter) joinEnd(e *joined, column string, other joinSide, given map[string]bool) bool {
	end := r.EndNamed(e.edge, column)
	if r.vars[other.table] == "" || end == "" {
		return false
	}
	if r.Schema.Edge(r.vars[other.table]) != nil {
		return false
	}
	refuse.If(r.otherColumn(other))
	e.join(end, other.table)
	if _, shared := e.edge.End(end == "to"); !shared {
		given[other.table] = true
	}
	return true
}

// otherColumn reports whether a column of a node is a property that is not its key. A table may have a column such as person_id, which is
// no property of the type, in place of the key.
func (r *rewriter) otherColumn(s joinSide) bool {
	typ := r.vars[s.table]
	return r.Property(typ, s.column) != nil && !r.Names(typ, s.column)
}

// joinTests reads the other conditions of the joins: those of an outer join belong into its block.
func (r *rewriter) joinTests(j *joining, clauses map[*joined]int) {
	after := r.At
	for _, t := range j.tests {
		r.At = t.at
		c := r.negation()
		if !t.left {
			r.match = append(r.match, c)
			continue
		}
		// If a node after the edge fails a condition, SQL keeps the row of the edge without the node, and no block does.
		i := slices.IndexFunc(j.edges, func(e *joined) bool { return e.left && e.alias == t.alias })
		refuse.If(i < 0)
		clause := &r.match[clauses[j.edges[i]]]
		clause.subs = append(clause.subs, c)
	}
	r.At = after
}
