// Package exact makes an offer mean what its text means: it reads the query as a tree, binds the edges that make rows of SQL and
// Cypher, and writes what numbers and nulls mean there.
package exact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// edit is a change of a query: other text in the place of some bytes.
type edit struct {
	at, length int
	text       string
	opens      bool // the text comes before an operand; the edits of the operands within it are older
}

// multiplicity makes a read have a row for each edge, as SQL and Cypher do. Without a variable of the edge, a traversal has
// one row for parallel edges, and a walk has one row for each end.
type multiplicity struct {
	*Original
	bound    map[string]bool // the variables of nodes that have a binding of their own
	edits    []edit
	added    int             // the variables that the changes bind
	later    map[string]int  // by variable of a walk: the edges before the walk
	optional map[string]bool // the variables that only an optional block binds
}

// RowsPerEdge reports whether a text has patterns of Cypher or ISO GQL, or tables of SQL.
func RowsPerEdge(text lex.Tokens) bool {
	if len(text) > 0 && slices.Contains([]string{"match", "optional", "select", "with", "from", "unwind", "for", "call", "return"}, strings.ToLower(text[0].Text)) {
		return true
	}
	for i, t := range text {
		if t.Are("join") || t.Kind == lex.Mark && t.Text == "*" && (lex.Tokens(text[min(i+1, len(text)):]).Are("..") || lex.Tokens(text[min(i+2, len(text)):]).Are("..")) || i > 0 && t.Kind == lex.Mark && t.Text == "[" && text[i-1].Kind == lex.Mark && slices.Contains([]string{"-", "<-"}, text[i-1].Text) {
			return true
		}
	}
	return false
}

// Original is the text that a query says.
type Original struct {
	*naming.Vocabulary
	Tokens   lex.Tokens
	Types    map[string]string      // of the variables, as the query writes them
	Params   map[string]string      // the types of the parameters of the query
	Taken    func(name string) bool // reports whether the text has a variable of a name
	Note     func(string)           // notes how the query differs
	Once     bool                   // the table of a WITH RECURSIVE has each node once
	Shortest bool                   // the walks are shortest paths
	Pairs    bool                   // WITH DISTINCT has dropped the rows that only parallel edges make
	Grouped  bool                   // the text has groups
}

// ExactRows returns a query that has each row as often as the text. It gives up if no query does.
func ExactRows(query string, r *Original) string {
	file, faults := syntax.ParseQueries("", query)
	if len(faults) > 0 || len(file.Queries) != 1 || !RowsPerEdge(r.Tokens) {
		return query // the caller refuses a query with faults
	}
	read, ok := file.Queries[0].Body.(*syntax.Read)
	if !ok {
		return query
	}
	m := &multiplicity{Original: r, bound: map[string]bool{}, later: map[string]int{}}
	m.Shortest = m.Shortest || slices.ContainsFunc(r.Tokens, func(t lex.Token) bool { return t.Are("shortestpath") || t.Are("shortest") }) ||
		len(r.Tokens) > 1 && r.Tokens[0].Are("match") && r.Tokens[1].Are("any")
	read.Walk(func(c syntax.Clause) {
		if b, ok := c.(*syntax.Binding); ok {
			m.bound[b.Var.Value] = true
		}
	}, func(syntax.Operand) {})
	results := resultsOf(read)
	counted := read.Distinct == nil && !r.Pairs
	if aggregates := CallsOf(results, IsAggregate); len(aggregates) > 0 {
		counted = !r.Pairs && slices.ContainsFunc(aggregates, counts)
	}
	m.clauses(read.Match, counted)
	for _, c := range read.Having {
		m.operands(syntax.Operands(c))
		m.clauses(syntax.Block(c), false)
	}
	m.operands(results)
	m.hops(read)
	m.values(read)
	return edited(query, m.edits)
}

// resultsOf returns the operands of the columns and of the order of a read.
func resultsOf(read *syntax.Read) (out []syntax.Operand) {
	for _, p := range read.Returns {
		out = append(out, p.Expr)
	}
	for _, o := range read.Order {
		out = append(out, o.Expr)
	}
	return out
}

// IsAggregate reports whether a call is one of an aggregate.
func IsAggregate(c *syntax.Call) bool { return slices.Contains(plan.AggregateNames(), c.Name.Value) }

// counts reports whether rows that are there twice change the result of an aggregate.
func counts(c *syntax.Call) bool {
	return c.Distinct == nil && c.Name.Value != "min" && c.Name.Value != "max"
}

// CallsOf returns the calls within operands that pass a test.
func CallsOf(list []syntax.Operand, test func(*syntax.Call) bool) (out []*syntax.Call) {
	for _, o := range list {
		if c, ok := o.(*syntax.Call); ok && test(c) {
			out = append(out, c)
		}
		out = append(out, CallsOf(syntax.Parts(o), test)...)
	}
	return out
}

// edited changes a text.
func edited(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	at := 0
	for i := 0; i < len(edits); {
		place, length := edits[i].at, 0
		b.WriteString(text[at:place])
		opening := ""
		for ; i < len(edits) && edits[i].at == place; i++ {
			if edits[i].opens {
				opening = edits[i].text + opening
			} else {
				b.WriteString(edits[i].text)
			}
			length = max(length, edits[i].length)
		}
		b.WriteString(opening)
		at = place + length
	}
	return b.String() + text[at:]
}

// clauses changes the traversals among clauses. With counted, the number of their rows matters.
func (m *multiplicity) clauses(list []syntax.Clause, counted bool) {
	for _, c := range list {
		switch c := c.(type) {
		case *syntax.Traversal:
			m.traversal(c, counted)
		case *syntax.Optional:
			m.clauses(c.Match, counted)
		default:
			m.clauses(syntax.Block(c), false)
			m.operands(syntax.Operands(c))
		}
	}
}

// operands changes the traversals in the blocks of operands.
func (m *multiplicity) operands(list []syntax.Operand) {
	for _, o := range list {
		switch o := o.(type) {
		case *syntax.Subquery:
			counted := o.Distinct == nil && o.Keyword.Value != "min" && o.Keyword.Value != "max" && o.Keyword.Value != "first"
			m.clauses(o.Match, counted)
			m.operands(o.Results())
		case *syntax.Condition:
			m.clauses(syntax.Block(o.Block), false)
		default:
			m.operands(syntax.Parts(o))
		}
	}
}

// traversal binds the edge of a traversal if parallel edges make rows.
func (m *multiplicity) traversal(t *syntax.Traversal, counted bool) {
	var edges []*catalog.Edge
	for _, name := range t.Edges() {
		e := m.EdgeType(name.Value)
		refuse.If(e == nil)
		edges = append(edges, e)
	}
	switch {
	case t.Bounds != nil:
		m.walk(t, edges, counted)
	case !counted || t.EdgeVar != nil || len(edges) == 1 && !t.Undirected && !naming.Parallel(edges[0]):
	case len(edges) > 1:
		panic(refuse.GiveUp{}) // a choice of edges has one row for each pair of nodes
	default:
		m.edits = append(m.edits, edit{at: t.Tokens[1].Pos.Offset, text: "$" + m.name(naming.Lower(edges[0].Name)[:1]) + ":"})
	}
}

// name makes the name of a variable.
func (m *multiplicity) name(letter string) string {
	for {
		m.added++
		if name := letter + strconv.Itoa(m.added); !m.Taken(name) && m.Types[name] == "" {
			return name
		}
	}
}

// walk changes a walk so that it may end where it starts, as a path of Cypher may. It gives up if another way to an end makes another
// row.
func (m *multiplicity) walk(t *syntax.Traversal, edges []*catalog.Edge, counted bool) {
	if m.Shortest || t.From.Value == t.To.Value {
		return
	}
	refuse.If(counted && !m.Once)
	refuse.If(t.Undirected) // whether a path leads back by other edges is no question of lengths
	if !cyclic(edges) || t.Bounds.Min.Value == "0" {
		return
	}
	low, _ := strconv.Atoi(t.Bounds.Min.Value)
	refuse.If(low > 1 && (low > 4 || t.EdgeVar != nil || slices.ContainsFunc(m.Tokens, func(x lex.Token) bool { return x.Kind == lex.Mark && x.Text == "*" })) || len(edges) != 1 || t.Bounds.Max == nil) // a path of Cypher takes no edge twice; one of ISO GQL may
	high, err := strconv.Atoi(t.Bounds.Max.Value)
	refuse.If(err != nil)
	edge, of, clauses, next := edges[0], "", "", t.From.Value
	if t.EdgeVar != nil {
		of = t.EdgeVar.Value + ":"
		m.later[t.EdgeVar.Value] = low
	}
	for range low {
		step := "$" + m.name("n")
		clauses += next + " " + naming.Lower(edge.Name) + " " + step + " "
		next = step
	}
	clauses += next + " " + of + naming.Lower(edge.Name) + "{0," + strconv.Itoa(high-low) + "} " + t.To.Value
	if counted {
		refuse.If(t.EdgeVar != nil)
		clauses = "exists { " + clauses + " }"
		if !m.bound[t.To.Value] {
			clauses = t.To.Value + ": " + edge.To + " " + clauses
		}
		if !m.bound[t.From.Value] {
			clauses = t.From.Value + ": " + edge.From + " " + clauses
		}
	}
	first, end := t.Tokens[0], t.Tokens[len(t.Tokens)-1]
	m.edits = append(m.edits, edit{at: first.Pos.Offset, length: end.Pos.Offset + len(end.Value) - first.Pos.Offset, text: clauses})
}

// cyclic reports whether the types at the ends of edges allow a walk over them to come back.
func cyclic(edges []*catalog.Edge) bool {
	from := map[string]bool{}
	for _, e := range edges {
		if e.FromInterface || e.ToInterface {
			return true
		}
		from[e.From] = true
	}
	for range edges {
		for typ := range from { // a type without an edge to a type that goes on
			if !slices.ContainsFunc(edges, func(e *catalog.Edge) bool { return e.From == typ && from[e.To] }) {
				delete(from, typ)
			}
		}
	}
	return len(from) > 0
}

// hops adds the edges before the walks to their lengths.
func (m *multiplicity) hops(read *syntax.Read) {
	if len(m.later) == 0 {
		return
	}
	for i := range read.Tokens {
		if n, ok := m.later[read.Tokens[i].Value]; ok && i+2 < len(read.Tokens) && read.Tokens[i+1].Value == "." {
			refuse.If(read.Tokens[i+2].Value != "hops")
			m.edits = append(m.edits, edit{at: read.Tokens[i].Pos.Offset, length: len(read.Tokens[i].Value) + len(".hops"), text: "(" + read.Tokens[i].Value + ".hops + " + strconv.Itoa(n) + ")"})
		}
	}
}
