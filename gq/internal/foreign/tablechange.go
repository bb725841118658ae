package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// fromAhead reports whether UPDATE … SET … FROM has tables before its condition.
func (r *rewriter) fromAhead() bool {
	depth := 0
	for i := 0; ; i++ {
		switch t := r.peek(i); {
		case t.kind == end, t.are("where") && depth == 0, t.are("returning") && depth == 0:
			return false
		case t.are("from") && depth == 0:
			return true
		case t.kind == mark && (t.text == "(" || t.text == "{"):
			depth++
		case t.kind == mark && (t.text == ")" || t.text == "}"):
			depth--
		}
	}
}

// changedTable binds the table that UPDATE or DELETE with other tables changes, and returns its variable.
func (r *rewriter) changedTable(v, typ string) string {
	if len(r.match)+len(r.statements) > 0 {
		panic(giveUp{})
	}
	if v == "" {
		v = r.fresh(typ)
	} else {
		r.bind(v, typ)
	}
	if e := r.schema.Edge(typ); e != nil {
		r.match = append(r.match, leaf("$_ $"+lower(v)+":"+lower(e.Name)+" $_"))
	}
	r.tables = []string{v}
	return v
}

// otherTables reads the tables after FROM or USING, and the condition.
func (r *rewriter) otherTables() {
	r.from()
	r.expect("where")
	r.wherePart()
}

// updateFrom reads the assignments, FROM and WHERE of an UPDATE that reads other tables.
func (r *rewriter) updateFrom(v, typ string) {
	r.inWhere, r.whereVar = "", ""
	v = r.changedTable(v, typ)
	start := r.at
	r.skipTo("from")
	r.expect("from")
	if r.isAt(1, "(") && (r.peek(0).are("unnest") || slices.Contains(recordFunctions, strings.ToLower(r.peek(0).text))) {
		r.updateList(v, typ, start)
		return
	}
	if r.is("(", "values") {
		r.updateValues(v, typ, start)
		return
	}
	r.otherTables()
	after := r.at
	r.at = start
	names, values := r.tableAssignments(v, typ)
	r.expect("from")
	r.at = after
	r.tables = nil
	r.changeRows(v, typ, names, values)
}

// tableAssignments reads a = 1, b = 2 after SET.
func (r *rewriter) tableAssignments(v, typ string) (names, values []string) {
	for {
		if r.is(v, ".") {
			r.skipTwo()
		}
		name := r.propertyName(typ, r.word())
		r.expect("=")
		if r.is("(", "select") && r.property(typ, name) == nil {
			names, values = append(names, name), append(values, r.endSelect())
			if r.accept(",") {
				continue
			}
			return names, values
		}
		value := r.assignment(typ, name)
		if r.property(typ, name) == nil { // an end of an edge
			value = r.idOf(value)
		}
		names, values = append(names, name), append(values, value)
		if !r.accept(",") {
			return names, values
		}
	}
}

// changeRows writes the change of each entity of the match. An edge with another end is another edge.
func (r *rewriter) changeRows(v, typ string, names, values []string) {
	var set []string
	moves := false
	for i, name := range names {
		set = append(set, name+": "+values[i])
		moves = moves || r.schema.Edge(typ) != nil && (name == "from" || name == "to")
	}
	if moves {
		r.moveEdge(v, r.schema.Edge(typ), names, values)
		return
	}
	key := r.key(typ)
	r.emit("update " + typ + " set { " + strings.Join(set, ", ") + " } where " + key + " = $" + lower(v) + "." + key)
}

// moveEdge writes the statements that replace an edge of the match by one with other ends and the same properties.
func (r *rewriter) moveEdge(v string, e *catalog.Edge, names, values []string) {
	var out []string
	value := func(name string) string {
		if i := slices.Index(names, name); i >= 0 {
			return values[i]
		}
		return "$" + lower(v) + "." + name
	}
	for _, end := range []string{"from", "to"} {
		out = append(out, end+": "+value(end))
	}
	for _, p := range e.Properties {
		out = append(out, p.Name+": "+value(p.Name))
	}
	r.note("the ends of an edge do not change: the query deletes the edge and inserts another one")
	r.emit("delete " + e.Name + " where id = $" + lower(v) + ".id")
	r.emit("insert " + e.Name + " { " + strings.Join(out, ", ") + " }")
}

// updateList reads a list after FROM, and the condition: an update for each element.
func (r *rewriter) updateList(v, typ string, start int) {
	s := r.recordset()
	r.match, r.tables = nil, nil
	key := r.key(typ)
	r.expect("where")
	value, found := "", -1
	for range 2 {
		if r.is(v, ".") {
			r.skipTwo()
			if r.propertyName(typ, r.word()) != key {
				panic(giveUp{})
			}
		} else {
			if r.is(s.element, ".") {
				r.skipTwo()
			}
			name := r.word()
			found = slices.IndexFunc(s.fields, func(f recordField) bool { return f.name == name })
		}
		r.accept("=")
	}
	if found < 0 || r.schema.Node(typ) == nil {
		panic(giveUp{})
	}
	value = s.field(found)
	s.fields[found].typ = r.typeOfField(typ, key)
	after := r.at
	r.at = start
	var set []string
	for {
		if r.is(v, ".") {
			r.skipTwo()
		}
		name := r.propertyName(typ, r.word())
		r.expect("=")
		r.inWhere, r.whereVar = typ, v
		out, field := s.value(r, func() string { return r.assignment(typ, name) })
		if field >= 0 {
			s.fields[field].typ = r.typeOfField(typ, name)
		}
		set = append(set, name+": "+out)
		if !r.accept(",") {
			break
		}
	}
	r.inWhere, r.whereVar = "", ""
	r.expect("from")
	r.at = after
	r.forEach(s, "update "+typ+" set { "+strings.Join(set, ", ")+" } where "+key+" = "+value)
}

// deleteFrom reads the rest of DELETE FROM Person [p] [USING …] WHERE ….
func (r *rewriter) deleteFrom() {
	typ := r.tableType()
	v := r.tableAlias()
	if r.accept("using") {
		v = r.changedTable(v, typ)
		r.otherTables()
		r.tables = nil
		key := r.key(typ)
		r.emit("delete " + typ + " where " + key + " = $" + lower(v) + "." + key)
		return
	}
	if v != "" {
		r.whereVar = v
		r.bind(v, typ)
	}
	r.where("delete "+typ, typ)
}

// updateEnds reads the assignments to the ends of an edge, and the condition.
func (r *rewriter) updateEnds(v string, e *catalog.Edge) {
	r.inWhere, r.whereVar = "", ""
	v = r.changedTable(v, e.Name)
	names, values := r.tableAssignments(v, e.Name)
	if !slices.Contains(names, "from") && !slices.Contains(names, "to") {
		panic(giveUp{})
	}
	r.expect("where")
	r.wherePart()
	r.tables = nil
	r.changeRows(v, e.Name, names, values)
}

// updateVariable reads $p SET name = 'a', level = 'lead' after UPDATE, for a variable of the match.
func (r *rewriter) updateVariable() {
	v := r.variable()
	r.accept("set")
	braces := r.accept("{")
	var out []string
	for {
		if (r.peek(0).kind == dollar || r.peek(0).kind == word) && r.peek(0).text == v && r.isAt(1, ".") {
			r.skipTwo()
		}
		name := r.propertyName(r.vars[v], r.word())
		if !r.accept("=") {
			r.expect(":")
		}
		out = append(out, name+": "+r.assignment(r.vars[v], name))
		if !r.accept(",") && (!braces || r.is("}")) {
			break
		}
	}
	if braces {
		r.expect("}")
	}
	r.change(v, "update", " set { "+strings.Join(out, ", ")+" }")
}

// updateValues reads (VALUES (1, 'a'), (2, 'b')) AS x(number, name) after FROM, and the condition: an update for each row.
func (r *rewriter) updateValues(v, typ string, start int) {
	r.match, r.tables = nil, nil
	r.expect("(", "values")
	var rows [][]string
	for {
		r.expect("(")
		rows = append(rows, r.callArguments(false))
		if !r.accept(",") {
			break
		}
	}
	r.expect(")")
	r.accept("as")
	alias := r.word()
	r.expect("(")
	var names []string
	for !r.accept(")") {
		r.accept(",")
		names = append(names, r.word())
	}
	r.expect("where")
	pair := r.pair()
	after := r.at
	if pair[0][0] == alias {
		pair[0], pair[1] = pair[1], pair[0]
	}
	key := r.propertyName(typ, pair[0][1])
	if pair[0][0] != v || pair[1][0] != alias || key != r.key(typ) {
		panic(giveUp{})
	}
	for _, row := range rows {
		if len(row) != len(names) {
			panic(giveUp{})
		}
		for i, name := range names {
			r.values[name] = row[i]
		}
		r.at = start
		set := r.valuesSet(v, typ, alias)
		r.emit("update " + typ + " set { " + strings.Join(set, ", ") + " } where " + key + " = " + r.fit(r.property(typ, key), r.values[pair[1][1]]))
	}
	r.expect("from")
	r.at = after
	if r.is("and") {
		panic(giveUp{})
	}
}

// valuesSet reads the assignments of one row: columns of the row, and properties of the node.
func (r *rewriter) valuesSet(v, typ, alias string) (set []string) {
	r.inWhere, r.whereVar = typ, v
	for {
		if r.is(v, ".") {
			r.skipTwo()
		}
		name := r.propertyName(typ, r.word())
		r.expect("=")
		if !r.is(alias, ".") {
			panic(giveUp{})
		}
		r.skipTwo()
		value := r.values[r.word()]
		if value == "" {
			panic(giveUp{})
		}
		set = append(set, name+": "+r.fit(r.property(typ, name), value))
		if !r.accept(",") {
			break
		}
	}
	r.inWhere, r.whereVar = "", ""
	return set
}
