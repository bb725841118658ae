package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// changedTable binds the table that UPDATE or DELETE with other tables changes, and returns its variable.
func (r *rewriter) changedTable(v, typ string) string {
	refuse(len(r.match)+len(r.statements) > 0)
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

// tableAssignments reads a = 1, b = 2 after SET.
func (r *rewriter) tableAssignments(v, typ string) (names, values []string) {
	for {
		if r.is(v, ".") {
			r.skipTwo()
		}
		name := r.propertyName(typ, r.word())
		r.expect("=")
		refuse(r.is("(", "select"))
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

// deleteFrom reads the rest of DELETE FROM Person [p] [USING …] WHERE ….
func (r *rewriter) deleteFrom() {
	typ := r.tableType()
	v := r.tableAlias()
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
	refuse(!slices.Contains(names, "from") && !slices.Contains(names, "to"))
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
