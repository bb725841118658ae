package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
)

// statement reads a statement of a mutation.
func (r *rewriter) statement() {
	if len(r.statements) == 0 {
		r.rowsOfBlock()
	}
	switch {
	case r.accept("unwind"):
		list := r.operand()
		r.expect("as")
		r.each(list, r.word())
	case r.accept("foreach"):
		r.expect("(")
		name := r.word()
		r.expect("in")
		list := r.operand()
		r.expect("|")
		r.each(list, name)
		r.expect(")")
	case r.accept("for"):
		name := r.next().Text
		r.expect("in")
		r.each(r.operand(), name)
	case r.is("insert", "into"):
		r.expect("insert", "into")
		r.insertInto()
	case r.isOne("create", "insert") && r.peek(1).Text == "(":
		r.next()
		r.create()
		for r.accept(",") {
			r.create()
		}
	case r.accept("merge"):
		r.merge()
	case r.isOne("insert", "upsert", "create") && (r.isAt(1, "{") || r.peek(1).Kind == lex.Dollar):
		verb := strings.ToLower(r.word())
		braces := r.accept("{")
		for more := true; more; more = r.accept(",") || braces && !r.isOne("}") {
			r.insertBound(verb)
		}
		if braces {
			r.expect("}")
		}
	case r.isOne("insert", "upsert", "create"):
		r.assigned(strings.ToLower(r.word()), "")
	case r.peek(0).Kind == lex.Dollar && r.peek(1).Text == "=":
		name := r.next().Text
		r.next()
		verb := strings.ToLower(r.word())
		refuse.If(verb != "insert" && verb != "upsert")
		r.assigned(verb, name)
	case r.is("update", "{") && r.peek(2).Kind == lex.Dollar && r.isAt(3, "."):
		r.next()
		r.set()
	case r.is("update", "{") && r.peek(2).Kind == lex.Dollar && r.isAt(3, ":") && r.isAt(4, "{"):
		r.next()
		r.expect("{")
		for !r.accept("}") {
			v := r.variable()
			r.expect(":")
			r.change(v, "update", " set { "+strings.Join(r.props(r.vars[v]), ", ")+" }")
			r.accept(",")
		}
	case r.accept("update"):
		if n := r.fieldType(); n != nil {
			r.writeFields(n, "update")
			return
		}
		r.update()
	case r.accept("set"):
		r.set()
	case r.accept("delete", "from"):
		r.deleteFrom()
	case r.accept("remove"):
		r.remove()
	case r.accept("detach", "delete"), r.accept("delete"):
		if t := r.peek(0); r.known(t.Text) {
			v := r.variable()
			if e := r.Schema.Edge(r.vars[v]); e != nil {
				r.deleteEdge(v, e)
				return
			}
			r.change(v, "delete", "")
			return
		}
		if n := r.fieldType(); n != nil {
			r.writeFields(n, "delete")
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
	n := r.Schema.Node(r.TableNode(r.peek(0).Text))
	if n == nil || r.peek(0).Kind != lex.Word || !r.isAt(1, "(") {
		return nil
	}
	r.next()
	if !r.writesFields() {
		r.at--
		return nil
	}
	return n
}

// emit appends a statement.
func (r *rewriter) emit(statement string) { r.statements = append(r.statements, statement) }

// tableType reads the name of a type.
func (r *rewriter) tableType() string {
	name := r.word()
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
	creates := verb == "create" || verb == "insert" && r.peek(1).Kind == lex.Word && r.accept("new")
	if creates {
		verb = "insert"
	}
	if n := r.fieldType(); n != nil && name == "" {
		r.writeFields(n, verb)
		return
	}
	typ := r.tableType()
	open, closing := "{", "}"
	if r.is("(") {
		open, closing = "(", ")"
	}
	r.expect(open)
	var out []string
	for !r.accept(closing) {
		if len(out) > 0 {
			r.accept(",")
		}
		p := r.PropertyName(typ, r.next().Text)
		if !r.accept(":") {
			r.expect("=")
		}
		if verb == "insert" && r.accept("null") {
			continue
		}
		out = append(out, p+": "+r.initial(typ, p))
	}
	if creates {
		verb = r.Inserts(typ)
	}
	statement := verb + " " + typ + " { " + strings.Join(out, ", ") + " }"
	if name == "" && r.is("return") && r.Schema.Node(typ) != nil {
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
	if r.peek(0).Kind == lex.Word {
		r.assigned(verb, "")
		return
	}
	refuse.If(r.peek(0).Kind != lex.Dollar)
	if r.linkAt(1) { // $r -[:Produced]-> $d
		r.create()
		return
	}
	if r.isAt(1, ":") {
		name := r.next().Text
		r.next()
		r.assigned(verb, name)
		return
	}
	a := r.next().Text
	e := r.EdgeType(r.word())
	refuse.If(e == nil || r.peek(0).Kind != lex.Dollar)
	b := r.next().Text
	props := []string{"from: " + r.endpoint(nodeRef{name: a}, e.From), "to: " + r.endpoint(nodeRef{name: b}, e.To)}
	if r.is("{") {
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
	for r.isOne("-", "<-", "~") {
		l := r.link()
		to := r.created(true, true)
		refuse.If(len(l.types) != 1 || l.bounds != "" || l.both)
		a, b := from, to
		if l.left {
			a, b = b, a
		}
		e, name := l.types[0], ""
		if l.name != "" && r.mentions(l.name) {
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
		r.params = append(r.params, "$"+naming.Lower(n.name)+": "+typ)
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
	atEnd = atEnd || r.isOne("-", "<-", "~")
	if n.name == "" && atEnd {
		n.name = r.fresh(n.typ)
	}
	if n.name != "" && (atEnd || r.mentions(n.name)) {
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
func (r *rewriter) blockRows() (out string) {
	refuse.If(r.skip != "" || strings.HasPrefix(r.blockLimit, "$"))
	if len(r.blockSort) > 0 && r.blockLimit != "" {
		out = " order { " + strings.Join(r.blockSort, ", ") + " }"
	}
	if r.blockLimit != "" {
		out += " limit " + r.blockLimit
	}
	return out
}
