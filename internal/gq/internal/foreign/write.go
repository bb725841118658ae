package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// statement reads a statement of a mutation.
func (r *rewriter) statement() {
	if len(r.statements) == 0 {
		r.rowsOfBlock()
	}
	switch {
	case r.Accept("unwind"):
		list := r.operand()
		r.Expect("as")
		r.each(list, r.Word())
	case r.Accept("foreach"):
		r.Expect("(")
		name := r.Word()
		r.Expect("in")
		list := r.operand()
		r.Expect("|")
		r.each(list, name)
		r.Expect(")")
	case r.Accept("for"):
		name := r.Next().Text
		r.Expect("in")
		r.each(r.operand(), name)
	case r.Is("insert", "into"):
		r.Expect("insert", "into")
		r.insertInto()
	case r.IsOne("create", "insert") && r.Peek(1).Text == "(":
		r.Next()
		r.create()
		for r.Accept(",") {
			r.create()
		}
	case r.Accept("merge"):
		r.merge()
	case r.IsOne("insert", "upsert", "create") && (r.IsAt(1, "{") || r.Peek(1).Kind == lex.Dollar):
		verb := strings.ToLower(r.Word())
		r.List(func() { r.insertBound(verb) })
	case r.IsOne("insert", "upsert", "create"):
		r.assigned(strings.ToLower(r.Word()), "")
	case r.Peek(0).Kind == lex.Dollar && r.Peek(1).Text == "=":
		name := r.Next().Text
		r.Next()
		verb := strings.ToLower(r.Word())
		refuse.If(verb != "insert" && verb != "upsert")
		r.assigned(verb, name)
	case r.Is("update", "{") && r.Peek(2).Kind == lex.Dollar && r.IsAt(3, "."):
		r.Next()
		r.set()
	case r.Is("update", "{") && r.Peek(2).Kind == lex.Dollar && r.IsAt(3, ":") && r.IsAt(4, "{"):
		r.Next()
		r.Expect("{")
		for !r.Accept("}") {
			v := r.variable()
			r.Expect(":")
			r.change(v, "update", " set { "+strings.Join(r.props(r.vars[v]), ", ")+" }")
			r.Accept(",")
		}
	case r.Accept("update"):
		if n := r.fieldType(); n != nil {
			r.writeType(n.Name, "update")
			return
		}
		r.update()
	case r.Accept("set"):
		r.set()
	case r.Accept("delete", "from"):
		r.deleteFrom()
	case r.Accept("remove"):
		r.remove()
	case r.Accept("detach", "delete"), r.Accept("delete"):
		if t := r.Peek(0); r.known(t.Text) {
			r.change(r.variable(), "delete", "")
			return
		}
		if n := r.fieldType(); n != nil {
			r.writeType(n.Name, "delete")
			return
		}
		typ := r.tableType()
		r.where("delete "+typ, typ)
	default:
		panic(refuse.GiveUp{})
	}
}

// fieldType reads the name of a node type before the arguments of a field of GraphQL, or returns nil.
func (r *rewriter) fieldType() *catalog.Node {
	n := r.Schema.Node(r.TableNode(r.Peek(0).Text))
	if n == nil || r.Peek(0).Kind != lex.Word || !r.IsAt(1, "(") {
		return nil
	}
	r.Next()
	if !r.writesFields() {
		r.At--
		return nil
	}
	return n
}

// emit appends a statement.
func (r *rewriter) emit(statement string) { r.statements = append(r.statements, statement) }

// tableType reads the name of a type.
func (r *rewriter) tableType() string {
	name := r.Word()
	if t := r.TableNode(name); r.Schema.Node(t) != nil {
		return t
	}
	if e := r.EdgeType(name); e != nil {
		return e.Name
	}
	panic(refuse.GiveUp{})
}

// assigned reads insert Person { … }, insert new Person { … }, create Person { … } or upsert Person { … }.
func (r *rewriter) assigned(verb, name string) {
	creates := verb == "create" || verb == "insert" && r.Peek(1).Kind == lex.Word && r.Accept("new")
	if creates {
		verb = "insert"
	}
	if n := r.fieldType(); n != nil && name == "" {
		r.writeType(n.Name, verb)
		return
	}
	typ := r.tableType()
	open, closing := "{", "}"
	if r.Is("(") {
		open, closing = "(", ")"
	}
	r.Expect(open)
	var out []string
	for !r.Accept(closing) {
		if len(out) > 0 {
			r.Accept(",")
		}
		p := r.PropertyName(typ, r.Next().Text)
		if !r.Accept(":") {
			r.Expect("=")
		}
		if verb == "insert" && r.Accept("null") {
			continue
		}
		out = append(out, p+": "+r.initial(typ, p))
	}
	if creates {
		verb = r.Inserts(typ)
	}
	statement := verb + " " + typ + " { " + strings.Join(out, ", ") + " }"
	if name == "" && r.Is("return") && r.Schema.Node(typ) != nil {
		name = r.fresh(typ)
	}
	if name != "" {
		statement = r.insertAs(name, typ) + " = " + statement
	}
	r.emit(statement)
}

// initial reads the value of a property, or of an end of an edge, in an insert.
func (r *rewriter) initial(typ, name string) string {
	if r.Schema.Edge(typ) != nil && r.Property(typ, name) == nil && (name == "from" || name == "to") {
		return r.endValue()
	}
	return r.valueOf(r.Property(typ, name))
}

// insertAs binds the variable of an insert.
func (r *rewriter) insertAs(name, typ string) string {
	if r.inserted == nil {
		r.inserted = map[string]bool{}
	}
	r.inserted[naming.Lower(name)] = true
	return r.bind(name, typ)
}

// insertBound reads $c: Person { … } after INSERT, or an edge such as $a knows $b { … } between nodes.
func (r *rewriter) insertBound(verb string) {
	if r.Peek(0).Kind == lex.Word {
		r.assigned(verb, "")
		return
	}
	refuse.If(r.Peek(0).Kind != lex.Dollar)
	if r.linkAt(1) { // $r -[:Produced]-> $d
		r.create()
		return
	}
	if r.IsAt(1, ":") {
		name := r.Next().Text
		r.Next()
		r.assigned(verb, name)
		return
	}
	a := r.Next().Text
	e := r.EdgeType(r.Word())
	refuse.If(e == nil || r.Peek(0).Kind != lex.Dollar)
	b := r.Next().Text
	props := []string{"from: " + r.endpoint(nodeRef{name: a}, e.From), "to: " + r.endpoint(nodeRef{name: b}, e.To)}
	if r.Is("{") {
		props = append(props, r.props(e.Name)...)
	}
	if verb == "create" {
		verb = "insert"
	}
	r.emit(verb + " " + e.Name + " { " + strings.Join(props, ", ") + " }")
}

// create reads a pattern after CREATE or INSERT, and writes inserts of its nodes and edges.
func (r *rewriter) create() {
	from := r.created(true, false)
	for r.IsOne("-", "<-", "~") {
		l := r.link()
		to := r.created(true, true)
		refuse.If(len(l.types) != 1 || l.bounds != "" || l.both)
		a, b := from, to
		if l.left {
			a, b = b, a
		}
		e, name := l.types[0], ""
		if l.name != "" && r.Mentions(l.name) {
			name = r.insertAs(l.name, e.Name) + " = "
		}
		r.emit(name + "insert " + e.Name + " { " + strings.Join(append([]string{"from: " + r.endpoint(a, e.From), "to: " + r.endpoint(b, e.To)}, l.props...), ", ") + " }")
		from = to
	}
}

// endpoint returns a variable as an end of an edge. One that nothing binds becomes a parameter.
func (r *rewriter) endpoint(n nodeRef, typ string) string {
	refuse.If(n.name == "")
	if node := r.keyedNode(n.name); node != "" {
		return node
	}
	if !r.known(n.name) {
		r.params = append(r.params, param{name: naming.Lower(n.name), typ: typ})
		r.bind(n.name, typ)
	}
	return "$" + naming.Lower(n.name)
}

// created reads a node of a pattern after CREATE. A node with a type is new, unless the match has bound
// it. One at the end of an edge needs a name.
func (r *rewriter) created(inserts, atEnd bool) nodeRef {
	n := r.node()
	if !n.isNew && r.vars[n.name] == n.typ && len(n.props) == 0 {
		n.typ = ""
	}
	if n.typ == "" {
		refuse.If(len(n.props) > 0)
		return n
	}
	if !inserts {
		return n
	}
	statement := r.Inserts(n.typ) + " " + n.typ + " { " + strings.Join(n.props, ", ") + " }"
	atEnd = atEnd || r.IsOne("-", "<-", "~")
	if n.name == "" && atEnd {
		n.name = r.fresh(n.typ)
	}
	if n.name != "" && (atEnd || r.Mentions(n.name)) {
		statement = r.insertAs(n.name, n.typ) + " = " + statement
	}
	r.emit(statement)
	return n
}

// rowsOfBlock ends the WITH before the first statement of a mutation: its aggregates become blocks of the match, and its
// order and its limit choose the rows for which the statements run.
func (r *rewriter) rowsOfBlock() {
	if slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		early := r.early
		r.early = false
		r.groupsBeforeMatch()
		r.early = early
	}
	r.blockSort, r.blockLimit = r.sort, r.limit
	r.sort, r.limit = nil, ""
}

// blockRows writes the order and the limit of the match of a mutation.
func (r *rewriter) blockRows() string {
	refuse.If(r.skip != "" || strings.HasPrefix(r.blockLimit, "$"))
	if r.blockLimit == "" {
		return ""
	}
	return rowsPart(r.blockSort, r.blockLimit)
}
