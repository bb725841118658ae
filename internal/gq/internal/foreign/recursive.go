package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// closure is a table that WITH RECURSIVE defines: the nodes at which walks over one edge end.
type closure struct {
	name    string
	edge    *catalog.Edge
	forward bool   // the walks run from the sources of the edges to the targets
	start   string // the key of the first node
	place   int    // of the column with the key of the last node
	high    int    // the greatest number of edges
	node    string // the column with the key of the last node
	depth   string // the column with the length, or ""
	first   int    // the value of that column for walks of the least length
	all     bool   // UNION ALL
}

// maxHops is the greatest number of edges of a walk.
const maxHops = 64

// recursive reads WITH RECURSIVE x(node, depth) AS (SELECT … UNION SELECT …).
func (r *rewriter) recursive() {
	r.Expect("with", "recursive")
	c := &closure{name: r.Word(), high: maxHops}
	var columns []string
	if r.Accept("(") {
		for !r.Accept(")") {
			columns = append(columns, r.Word())
			r.Accept(",")
		}
	}
	r.Expect("as", "(", "select")
	r.closureStart(c, columns)
	r.Expect("union")
	c.all = r.Accept("all")
	r.Expect("select")
	r.closureStep(c)
	r.Expect(")")
	r.closed = c
}

// closureStart reads the columns, the table and the condition of the first SELECT of a recursive table.
func (r *rewriter) closureStart(c *closure, columns []string) {
	var places []int
	var properties, names []string
	for i := 0; !r.Accept("from"); i++ {
		if i > 0 {
			r.Expect(",")
		}
		t, name := r.Next(), ""
		switch {
		case t.Kind == lex.Number && c.depth == "":
			n, err := strconv.Atoi(t.Text)
			refuse.If(err != nil || n > maxHops)
			c.first, name = n, "depth"
		case t.Kind == lex.Word:
			if r.Accept(".") {
				t = r.Next()
			}
			name = t.Text
		default:
			panic(refuse.GiveUp{})
		}
		if r.Accept("as") {
			name = r.Word()
		}
		if i < len(columns) {
			name = columns[i]
		}
		if t.Kind == lex.Number {
			c.depth = name
		} else {
			places, properties, names = append(places, i), append(properties, t.Text), append(names, name)
		}
	}
	table := r.Word()
	r.TableAlias()
	r.Expect("where")
	if r.IsAt(1, ".") {
		r.SkipTwo()
	}
	key := r.Word()
	r.Expect("=")
	e := r.EdgeType(table)
	refuse.If(e == nil || e.From != e.To || r.Schema.Node(e.From) == nil || len(names) != 1)
	ends := [2]string{naming.EndOf(key), naming.EndOf(properties[0])}
	refuse.If(ends != [2]string{"from", "to"} && ends != [2]string{"to", "from"})
	c.edge, c.forward = e, ends[0] == "from"
	c.node, c.place = names[0], places[0]
	c.start = r.valueOf(r.Property(e.From, r.Key(e.From)))
}

// closureStep reads the second SELECT of a recursive table: one more edge, and perhaps the node at its end.
func (r *rewriter) closureStep(c *closure) {
	owner, last := "", "" // the table and the column that become the last node
	for i := 0; !r.Accept("from"); i++ {
		if i > 0 {
			r.Expect(",")
		}
		table, column := r.Qualified()
		switch {
		case r.Accept("+"):
			refuse.If(column != c.depth || r.Next().Text != "1")
		case i == c.place:
			owner, last = table, column
		default:
			panic(refuse.GiveUp{})
		}
		if r.Accept("as") {
			r.Word()
		}
	}
	s, side := r.stepTables(c), naming.EndOf(last)
	refuse.If(s.edge != c.edge || owner != "" && owner != s.alias || s.from == "" || side == "" || s.from == side || c.forward != (s.from == "from"))
}

// closureTables are the tables of the second SELECT of a recursive table.
type closureTables struct {
	edge  *catalog.Edge
	alias string   // of the edge
	mine  []string // the names of the recursive table
	from  string   // the end of the edge at which the step begins
}

// stepTables reads the tables and the conditions of the second SELECT of a recursive table.
func (r *rewriter) stepTables(c *closure) *closureTables {
	s := &closureTables{mine: []string{c.name}}
	var pairs [][2]joinSide
	for i := 0; i == 0 || r.Accept(",") || r.Accept("join") || r.Accept("inner", "join"); i++ {
		name := r.Word()
		alias := r.TableAlias()
		if alias == "" {
			alias = name
		}
		switch {
		case name == c.name:
			s.mine = append(s.mine, alias)
		case r.EdgeType(name) != nil && s.edge == nil:
			s.edge, s.alias = r.EdgeType(name), alias
		default:
			panic(refuse.GiveUp{})
		}
		for r.IsOne("on", "where", "and") {
			r.Next()
			var p [2]joinSide
			p[0].table, p[0].column = r.Qualified()
			if p[0].column == c.depth && r.IsOne("<", "<=") {
				r.closureBound(c)
				continue
			}
			r.Expect("=")
			p[1].table, p[1].column = r.Qualified()
			pairs = append(pairs, p)
		}
	}
	for _, p := range pairs {
		a, b := p[0], p[1]
		if slices.Contains(s.mine, a.table) {
			a, b = b, a
		}
		refuse.If(!slices.Contains(s.mine, b.table) || b.column != c.node || s.from != "" || a.table != "" && a.table != s.alias)
		s.from = naming.EndOf(a.column)
	}
	return s
}

// closureBound reads < 5 after the column with the length.
func (r *rewriter) closureBound(c *closure) {
	high := 1 - c.first
	if r.Next().Text == "<=" {
		high++
	}
	n, err := strconv.Atoi(r.Next().Text)
	if high += n; err != nil || high < 1 {
		panic(refuse.GiveUp{})
	}
	c.high = min(high, maxHops)
}

// fromClosure reads the tables after FROM if the text defines a recursive one, and writes its walk. The columns begin at
// an index.
func (r *rewriter) fromClosure(columns int) {
	c := r.closed
	last, mine, used := "", []string{c.name}, false
	typ := c.edge.From
	for i := 0; i == 0 || r.Accept("join") || r.Accept("inner", "join"); i++ {
		name := r.Word()
		alias := r.TableAlias()
		switch {
		case name == c.name && !used:
			used = true
			mine = append(mine, alias)
		case r.TableNode(name) == typ && last == "":
			if last = alias; last == "" {
				last = naming.Lower(name)
			}
		default:
			panic(refuse.GiveUp{})
		}
		switch {
		case i == 0:
		case r.Accept("on"):
			pair := r.pair()
			if slices.Contains(mine, pair[0].table) {
				pair[0], pair[1] = pair[1], pair[0]
			}
			refuse.If(pair[0].table != last || !r.Names(typ, pair[0].column) || !slices.Contains(mine, pair[1].table) || pair[1].column != c.node)
		default:
			r.Expect("using", "(", c.node, ")")
			refuse.If(!r.Names(typ, c.node))
		}
	}
	refuse.If(!used)
	for i := columns; c.all && i < r.At; i++ { // an aggregate over all ways; the least length is that of the shortest
		rest := lex.Tokens(r.Tokens[i:])
		if name := aggregateName(rest.At(0).Text); name != "" && name != "min" && rest.At(1).Text == "(" && !rest.At(2).Are("distinct") {
			panic(refuse.GiveUp{})
		}
	}
	if last != "" {
		r.bind(last, typ)
		r.tables = []string{last}
	}
	start := r.fresh(typ)
	if last == "" {
		last = r.fresh(typ)
	}
	key := r.Key(typ)
	refuse.If(key == "id")
	r.match = append(r.match, leaf("$"+start+": "+typ+" { "+key+": "+c.start+" }"))
	walk := (&naming.Relation{Edge: c.edge, Forward: c.forward}).Clause(start, "", last)
	edge := naming.Lower(c.edge.Name)
	bounded := edge + "{" + "1" + "," + strconv.Itoa(c.high) + "}"
	r.values[c.node] = "$" + naming.Lower(last) + "." + key
	if c.depth != "" {
		path := r.newPath()
		bounded = "$" + path + ":" + bounded
		r.values[c.depth] = "$" + path + ".hops"
		if n := c.first - 1; n != 0 {
			r.values[c.depth] = "($" + path + ".hops + " + strconv.Itoa(n) + ")"
		}
	}
	r.match = append(r.match, leaf(strings.Replace(walk, " "+edge+" ", " "+bounded+" ", 1)))
	if c.all || c.depth != "" {
		r.note("a walk lists each node once, by the shortest way")
	}
	for _, alias := range mine {
		if alias != "" {
			r.Unqualify(alias, columns)
		}
	}
}
