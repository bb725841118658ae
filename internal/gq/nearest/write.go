package nearest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// statement reads a statement of a mutation.
func (r *rewriter) statement() {
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
		name := r.next().text
		r.expect("in")
		r.each(r.operand(), name)
	case r.is("insert", "into"):
		r.expect("insert", "into")
		r.insertInto()
	case r.isOne("create", "insert") && r.peek(1).text == "(":
		r.next()
		r.create()
		for r.accept(",") {
			r.create()
		}
	case r.accept("merge"):
		r.merge()
	case r.isOne("insert", "upsert", "create"):
		verb := strings.ToLower(r.word())
		if verb == "create" {
			verb = "insert"
		}
		r.assigned(verb, "")
	case r.peek(0).kind == dollar && r.peek(1).text == "=":
		name := r.next().text
		r.next()
		verb := strings.ToLower(r.word())
		if verb != "insert" && verb != "upsert" {
			panic(giveUp{})
		}
		r.assigned(verb, name)
	case r.accept("update"):
		r.update()
	case r.accept("set"):
		r.set()
	case r.accept("delete", "from"):
		typ := r.tableType()
		r.where("delete "+typ, typ)
	case r.accept("detach", "delete"), r.accept("delete"):
		if t := r.peek(0); r.known(t.text) {
			v := r.variable()
			r.change(v, "delete", "")
			return
		}
		typ := r.tableType()
		r.where("delete "+typ, typ)
	default:
		panic(giveUp{})
	}
}

// emit appends a statement.
func (r *rewriter) emit(statement string) { r.statements = append(r.statements, statement) }

// each reads the statements for the elements of a list.
func (r *rewriter) each(list, name string) {
	if !strings.HasPrefix(list, "$") {
		panic(giveUp{})
	}
	saved := r.statements
	r.statements = nil
	r.bind(name, "")
	braces := r.accept("{")
	for !r.is("}") && !r.is(")") && r.peek(0).kind != end {
		r.statement()
	}
	if braces {
		r.expect("}")
	}
	if len(r.statements) == 0 || len(r.match) > 0 {
		panic(giveUp{})
	}
	r.statements = append(saved, "for $"+lower(name)+" in "+list+" { "+strings.Join(r.statements, " ")+" }")
}

// tableType reads the name of a type.
func (r *rewriter) tableType() string {
	name := r.word()
	if t := r.nodeType(name); r.schema.Node(t) != nil {
		return t
	}
	if e := r.edgeType(name); e != nil {
		return e.Name
	}
	panic(giveUp{})
}

// assigned reads insert Person { … } or upsert Person { … }.
func (r *rewriter) assigned(verb, name string) {
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
		p := r.propertyName(typ, r.next().text)
		if !r.accept(":") {
			r.expect("=")
		}
		out = append(out, p+": "+r.operand())
	}
	statement := verb + " " + typ + " { " + strings.Join(out, ", ") + " }"
	if name != "" {
		statement = r.bind(name, typ) + " = " + statement
	}
	r.emit(statement)
}

// insertInto reads the rest of INSERT INTO Person (a, b) VALUES (…), (…).
func (r *rewriter) insertInto() {
	typ := r.tableType()
	r.expect("(")
	var names []string
	for !r.accept(")") {
		r.accept(",")
		names = append(names, r.propertyName(typ, r.word()))
	}
	r.expect("values")
	var rows []string
	for {
		r.expect("(")
		var out []string
		for i := 0; !r.accept(")"); i++ {
			if i > 0 {
				r.expect(",")
			}
			value := ""
			if !r.accept("null") {
				value = r.operand()
			}
			if i >= len(names) {
				panic(giveUp{})
			}
			if value != "" {
				out = append(out, names[i]+": "+value)
			}
		}
		rows = append(rows, " "+typ+" { "+strings.Join(out, ", ")+" }")
		if !r.accept(",") {
			break
		}
	}
	verb := "insert"
	if r.accept("on", "conflict") {
		if r.accept("(") {
			for !r.accept(")") {
				r.accept(",")
				r.word()
			}
		}
		// An upsert assigns what the insert assigns, so the update may only repeat it.
		r.expect("do", "update", "set")
		for {
			name := r.propertyName(typ, r.word())
			r.expect("=")
			if r.accept("excluded", ".") {
				r.word()
			} else if value := r.operand(); len(rows) != 1 || !strings.Contains(rows[0], name+": "+value) {
				panic(giveUp{})
			}
			if !r.accept(",") {
				break
			}
		}
		verb = "upsert"
	}
	for _, row := range rows {
		r.emit(verb + row)
	}
}

// create reads a pattern after CREATE or INSERT, and writes inserts of its nodes and edges.
func (r *rewriter) create() {
	from := r.created(true)
	for r.isOne("-", "<-", "~") {
		l := r.link()
		to := r.created(true)
		if len(l.types) != 1 || l.bounds != "" || l.both {
			panic(giveUp{})
		}
		a, b := from, to
		if l.left {
			a, b = b, a
		}
		e := l.types[0]
		r.emit("insert " + e.Name + " { " + strings.Join(append([]string{"from: " + r.endpoint(a, e.From), "to: " + r.endpoint(b, e.To)}, l.props...), ", ") + " }")
		from = to
	}
}

// endpoint returns a variable as an end of an edge. One that nothing binds becomes a parameter.
func (r *rewriter) endpoint(n nodeRef, typ string) string {
	if n.name == "" {
		panic(giveUp{})
	}
	if !r.known(n.name) {
		r.params = append(r.params, "$"+lower(n.name)+": "+typ)
		r.bind(n.name, typ)
	}
	return "$" + lower(n.name)
}

// created reads a node of a pattern after CREATE. A node with a type is new.
func (r *rewriter) created(inserts bool) nodeRef {
	n := r.node()
	if n.typ == "" {
		if len(n.props) > 0 {
			panic(giveUp{})
		}
		return n
	}
	if !inserts {
		return n
	}
	statement := "insert " + n.typ + " { " + strings.Join(n.props, ", ") + " }"
	if n.name == "" && r.isOne("-", "<-", "~") {
		n.name = r.fresh(n.typ)
	}
	if n.name != "" && (r.isOne("-", "<-", "~") || r.mentions(n.name)) {
		statement = r.bind(n.name, n.typ) + " = " + statement
	}
	r.emit(statement)
	return n
}

// merge reads the rest of MERGE (p:Person {…}) SET ….
func (r *rewriter) merge() {
	n := r.created(false)
	if r.isOne("-", "<-", "~") {
		l := r.link()
		to := r.created(false)
		if l.left {
			n, to = to, n
		}
		if len(l.types) != 1 || l.bounds != "" || n.typ != "" || to.typ != "" {
			panic(giveUp{})
		}
		e := l.types[0]
		if !slices.ContainsFunc(e.Unique, func(names []string) bool {
			return len(names) == 2 && slices.Contains(names, "src") && slices.Contains(names, "dst")
		}) {
			panic(giveUp{})
		}
		r.emit("upsert " + e.Name + " { " + strings.Join(append([]string{"from: " + r.endpoint(n, e.From), "to: " + r.endpoint(to, e.To)}, l.props...), ", ") + " }")
		return
	}
	if n.typ == "" {
		panic(giveUp{})
	}
	props := n.props
	for {
		create := r.accept("on", "create")
		if match := r.accept("on", "match"); create || match {
			panic(giveUp{}) // an upsert assigns the same in both cases
		}
		if !r.accept("set") {
			break
		}
		for {
			if r.word() != n.name {
				panic(giveUp{})
			}
			r.expect(".")
			name := r.propertyName(n.typ, r.word())
			r.expect("=")
			props = append(props, name+": "+r.operand())
			if !r.accept(",") {
				break
			}
		}
	}
	r.emit("upsert " + n.typ + " { " + strings.Join(props, ", ") + " }")
}

// update reads the rest of UPDATE Person SET a = 1 WHERE …, with or without braces.
func (r *rewriter) update() {
	typ := r.tableType()
	r.inWhere = typ
	if t := r.peek(0); t.kind == word && !r.is("set") {
		r.whereVar = r.word()
		r.bind(r.whereVar, typ)
	}
	r.expect("set")
	braces := r.accept("{")
	var out []string
	for {
		if r.whereVar != "" {
			r.accept(r.whereVar, ".")
		}
		name := r.propertyName(typ, r.word())
		if !r.accept(":") {
			r.expect("=")
		}
		out = append(out, name+": "+r.operand())
		if !r.accept(",") && (!braces || r.is("}")) {
			break
		}
	}
	if braces {
		r.expect("}")
	}
	r.where("update "+typ+" set { "+strings.Join(out, ", ")+" }", typ)
}

// where reads the condition of a mutation and writes the statement. Only comparisons that all have to
// hold can stand there.
func (r *rewriter) where(statement, typ string) {
	r.inWhere = typ
	r.expect("where")
	c := r.condition()
	r.inWhere, r.whereVar = "", ""
	parts := []cond{c}
	if c.op == "all" {
		parts = c.subs
	}
	var out []string
	for _, p := range parts {
		if p.op != "" {
			panic(giveUp{})
		}
		out = append(out, p.text)
	}
	r.emit(statement + " where " + strings.Join(out, " and "))
}

// set reads the rest of SET p.a = 1, p.b = 2 after a match.
func (r *rewriter) set() {
	var names []string
	values := map[string][]string{}
	for {
		v := r.variable()
		r.expect(".")
		name := r.propertyName(r.vars[v], r.word())
		r.expect("=")
		if !slices.Contains(names, v) {
			names = append(names, v)
		}
		values[v] = append(values[v], name+": "+r.operand())
		if !r.accept(",") {
			break
		}
	}
	for _, v := range names {
		r.change(v, "update", " set { "+strings.Join(values[v], ", ")+" }")
	}
}

// change writes an update or a delete of what a variable of the match is. A match of one node by
// values of its properties becomes the condition of the statement.
func (r *rewriter) change(v, verb, assigned string) {
	typ := r.vars[v]
	if r.schema.Node(typ) == nil {
		panic(giveUp{})
	}
	name := "$" + lower(v)
	if len(r.match) == 1 && len(r.statements) == 0 && !strings.Contains(assigned, name+".") {
		if props, ok := strings.CutPrefix(r.match[0].text, name+": "+typ+" { "); ok && !strings.Contains(props, ", ") {
			property, value, _ := strings.Cut(strings.TrimSuffix(props, " }"), ": ")
			r.match = nil
			r.emit(verb + " " + typ + assigned + " where " + property + " = " + value)
			return
		}
	}
	if len(r.match) == 0 {
		panic(giveUp{})
	}
	key := r.key(typ)
	r.emit(verb + " " + typ + assigned + " where " + key + " = " + name + "." + key)
}

// key returns the property that finds a node of a type: its only key, or its id.
func (r *rewriter) key(typ string) string {
	if n := r.schema.Node(typ); len(n.Key) == 1 {
		return n.Key[0]
	}
	return "id"
}

// byKey returns the key of a type if a name means it.
func byKey(n *catalog.Node, name string) bool { return slices.Contains(n.Key, name) || name == "id" }
