package nearest

import "strings"

// selections reads a document of GraphQL with one field, such as { person(email: "x") { name } }.
func (r *rewriter) selections() {
	mutation := r.is("mutation")
	if r.isOne("query", "mutation") {
		r.next()
		if r.peek(0).kind == word {
			r.name = lower(r.word())
		}
		if r.is("(") {
			r.parameters()
		}
	}
	r.expect("{")
	if r.peek(1).text == ":" { // an alias
		r.word()
		r.next()
	}
	field := r.word()
	if mutation {
		r.write(field)
	} else {
		r.read.field(r, field)
	}
	r.expect("}")
}

// field reads the arguments and the selection of a field that yields nodes.
func (q *read) field(r *rewriter, name string) {
	typ := r.pluralType(name)
	if typ == "" {
		panic(giveUp{})
	}
	v := r.fresh(typ)
	var props []string
	if r.accept("(") {
		for !r.accept(")") {
			r.accept(",")
			switch {
			case (r.is("first") || r.is("limit")) && r.peek(1).text == ":":
				r.next()
				r.next()
				q.limit = r.operand()
			case (r.is("where") || r.is("filter")) && r.peek(1).text == ":":
				r.next()
				r.next()
				q.match = append(q.match, r.filters(v)...)
			case r.isOne("orderby", "order_by"):
				r.next()
				r.sorted()
			default:
				p := r.property(typ, r.word())
				if p == nil {
					panic(giveUp{})
				}
				r.expect(":")
				props = append(props, p.Name+": "+r.operand())
			}
		}
	}
	clause := "$" + v + ": " + typ
	if len(props) > 0 {
		clause += " { " + strings.Join(props, ", ") + " }"
	}
	q.match = append([]cond{leaf(clause)}, q.match...)
	r.expect("{")
	for !r.accept("}") {
		r.accept(",")
		r.selection(v)
	}
}

// selection reads a property of the node, or an edge and the properties of the nodes that it leads to.
func (r *rewriter) selection(v string) {
	if r.is("...") {
		r.column()
		return
	}
	name, alias := r.word(), ""
	if r.accept(":") {
		alias, name = name, r.word()
	}
	if !r.is("{") {
		r.add(alias, r.member(v, name))
		return
	}
	e := r.edgeType(name)
	if e == nil || !r.atEnd(e, false, r.vars[v]) && !r.atEnd(e, true, r.vars[v]) {
		panic(giveUp{})
	}
	forward := r.atEnd(e, false, r.vars[v])
	other := e.To
	if !forward {
		other = e.From
	}
	to := r.fresh(other)
	clause := "$" + v + " " + lower(e.Name) + " $" + to
	if !forward {
		clause = "$" + to + " " + lower(e.Name) + " $" + v
	}
	r.expect("{")
	var columns []string
	for !r.accept("}") {
		r.accept(",")
		property := r.word()
		columns = append(columns, r.member(to, property)+" as "+lower(property))
	}
	if alias == "" {
		alias = lower(e.Name)
	}
	r.add(alias, "collect { "+clause+" return { "+strings.Join(columns, ", ")+" } limit 1000 }")
}

// write reads a field such as createPerson(…) { id }. The selection is not needed: a mutation answers
// with what it changed.
func (r *rewriter) write(field string) {
	name := plain(field)
	verb, typ := "", ""
	for _, v := range []struct{ prefix, verb string }{{"create", "insert"}, {"insert", "insert"}, {"add", "insert"}, {"upsert", "upsert"}, {"update", "update"}, {"delete", "delete"}, {"remove", "delete"}} {
		if rest, ok := strings.CutPrefix(name, v.prefix); ok {
			verb, typ = v.verb, r.pluralType(rest)
			break
		}
	}
	n := r.schema.Node(typ)
	if n == nil {
		panic(giveUp{})
	}
	r.expect("(")
	wrapped := r.accept("input", ":", "{") || r.accept("data", ":", "{") || r.accept("object", ":", "{")
	var keys, props []string
	for !r.is(")") && !r.is("}") {
		r.accept(",")
		p := r.propertyName(typ, r.word())
		r.expect(":")
		value := r.operand()
		if byKey(n, p) && (verb == "update" || verb == "delete") {
			keys = append(keys, p+" = "+value)
		} else {
			props = append(props, p+": "+value)
		}
	}
	if wrapped {
		r.expect("}")
	}
	r.expect(")")
	if r.accept("{") {
		for !r.accept("}") {
			r.word()
		}
	}
	switch verb {
	case "insert", "upsert":
		r.emit(verb + " " + typ + " { " + strings.Join(props, ", ") + " }")
	case "update":
		if len(keys) == 0 || len(props) == 0 {
			panic(giveUp{})
		}
		r.emit("update " + typ + " set { " + strings.Join(props, ", ") + " } where " + strings.Join(keys, " and "))
	case "delete":
		if len(keys) == 0 || len(props) > 0 {
			panic(giveUp{})
		}
		r.emit("delete " + typ + " where " + strings.Join(keys, " and "))
	}
}
