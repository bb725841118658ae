package foreign

import (
	"slices"
	"strings"
)

// inserting is an INSERT INTO of SQL.
type inserting struct {
	typ   string
	alias string
	names []string            // the properties and ends of edges in the order of the values
	rows  []map[string]string // the values by name; null has none
}

// insertInto reads the rest of INSERT INTO Person (a, b) VALUES (…), (…).
func (r *rewriter) insertInto() {
	start := r.at
	in := &inserting{typ: r.tableType()}
	if r.is("{") || r.is("(") && r.isAt(2, ":") { // the values of this language
		r.at = start
		r.assigned("create", "")
		r.returning(in.typ)
		return
	}
	if r.accept("as") || r.peek(0).kind == word && !r.isOne("values", "select") {
		in.alias = r.word()
	}
	r.expect("(")
	for !r.accept(")") {
		r.accept(",")
		in.names = append(in.names, r.propertyName(in.typ, r.word()))
	}
	if r.is("select") {
		r.insertSelect(in)
		return
	}
	r.expect("values")
	for {
		in.rows = append(in.rows, r.insertedRow(in))
		if !r.accept(",") {
			break
		}
	}
	statements := r.conflicting(in)
	for _, s := range statements {
		r.emit(s)
	}
	if len(statements) == 1 {
		r.returning(in.typ)
	}
}

// insertedRow reads the values of a row in parentheses.
func (r *rewriter) insertedRow(in *inserting) map[string]string {
	row := map[string]string{}
	r.expect("(")
	for i := 0; !r.accept(")"); i++ {
		if i > 0 {
			r.expect(",")
		}
		refuse(i >= len(in.names))
		switch {
		case r.accept("null"), r.accept("default"):
		case r.is("(", "select") && r.schema.Edge(in.typ) != nil:
			panic(giveUp{})
		default:
			row[in.names[i]] = r.initial(in.typ, in.names[i])
		}
	}
	return row
}

// assignments writes the values of a row in the order of the names.
func (in *inserting) assignments(row map[string]string) string {
	var out []string
	for _, name := range in.names {
		if row[name] != "" {
			out = append(out, name+": "+row[name])
		}
	}
	return in.typ + " { " + strings.Join(out, ", ") + " }"
}

// conflicting reads ON CONFLICT after the rows, and returns the statement for each row.
func (r *rewriter) conflicting(in *inserting) (statements []string) {
	var updates int // the index of the first token after SET, or 0
	switch {
	case r.accept("on", "conflict"):
		if r.is("(") {
			r.skipGroup()
		} else if r.accept("on", "constraint") {
			r.word()
		}
		if !r.accept("do", "nothing") {
			r.expect("do", "update", "set")
			updates = r.at
		}
	case r.accept("on", "duplicate", "key", "update"):
		updates = r.at
	default:
		for _, row := range in.rows {
			statements = append(statements, r.inserts(in.typ)+" "+in.assignments(row))
		}
		return statements
	}
	refuse(r.schema.Edge(in.typ) != nil && updates == 0 && !onePerPair(r.schema.Edge(in.typ))) // no upsert finds the edge
	key := r.upsertSign(in.typ)
	for _, row := range in.rows {
		matched := map[string]string{}
		if updates > 0 {
			r.at = updates
			matched = r.conflictUpdates(in, row)
		}
		var out []string
		names := slices.Clone(in.names)
		for name := range matched {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names[len(in.names):])
		for _, name := range names {
			value := row[name]
			if !r.identifies(in.typ, name) && (value != "" || matched[name] != "") {
				value = r.mergedValue(settings{name, value, matched[name]}, in.typ, key)
			}
			if value != "" {
				out = append(out, name+": "+value)
			}
		}
		statements = append(statements, "upsert "+in.typ+" { "+strings.Join(out, ", ")+" }")
	}
	return statements
}

// conflictUpdates reads the assignments after DO UPDATE SET for the values of one row.
func (r *rewriter) conflictUpdates(in *inserting, row map[string]string) map[string]string {
	saved, savedVar := r.inWhere, r.whereVar
	r.inWhere, r.whereVar = in.typ, in.alias
	r.excluded = row
	if in.alias == "" {
		for i := r.at; i < len(r.tokens) && r.whereVar == ""; i++ { // the name of the table in its own case
			if t := r.tokens[i]; t.kind == word && plain(t.text) == plain(in.typ) {
				r.whereVar = t.text
			}
		}
	}
	if r.whereVar != "" {
		r.vars[r.whereVar] = in.typ
	}
	out := map[string]string{}
	for {
		if r.whereVar != "" && r.is(r.whereVar, ".") {
			r.skipTwo()
		}
		name := r.propertyName(in.typ, r.word())
		r.expect("=")
		value := r.assignment(in.typ, name)
		refuse(value == "") // the row has null
		out[name] = value
		if !r.accept(",") {
			break
		}
	}
	if r.whereVar != "" {
		delete(r.vars, r.whereVar)
	}
	r.inWhere, r.whereVar, r.excluded = saved, savedVar, nil
	refuse(r.is("where")) // it leaves some of the rows as they are
	return out
}

// ofExcluded reads excluded.name, or VALUES(name) of MySQL: the value that the insert would have written.
func (r *rewriter) ofExcluded() (value string, ok bool) {
	if r.excluded == nil || !r.is("excluded", ".") && !r.is("values", "(") {
		return "", false
	}
	closes := r.is("values")
	r.skipTwo()
	value = r.excluded[r.propertyName(r.inWhere, r.word())]
	if closes {
		r.expect(")")
	}
	refuse(value == "")
	return tight(value), true
}

// insertSelect reads SELECT after INSERT INTO Person (a, b): an insert for each row.
func (r *rewriter) insertSelect(in *inserting) {
	if len(r.statements) > 0 {
		r.beginBlock()
	}
	refuse(len(r.match) > 0)
	r.selectRows()
	if r.accept("where") {
		r.wherePart()
	}
	refuse(r.distinct || r.limit != "" || r.staged || len(r.match) == 0 || len(r.windows)+len(r.listings) > 0 || len(r.computed) != len(in.names))
	row := map[string]string{}
	for i, c := range r.computed {
		value := r.fit(r.property(in.typ, in.names[i]), c.text)
		if r.schema.Edge(in.typ) != nil && (in.names[i] == "from" || in.names[i] == "to") {
			value = r.idOf(value)
		}
		refuse(aggregated(value))
		row[in.names[i]] = value
	}
	in.rows = []map[string]string{row}
	r.columns, r.computed, r.aliases, r.tables = nil, nil, nil, nil
	for _, s := range r.conflicting(in) {
		r.emit(s)
	}
}

// returning reads RETURNING after the last statement, which inserts one entity, and makes a row of the answer of it.
func (r *rewriter) returning(typ string) {
	if !r.is("returning") || len(r.match) > 0 || len(r.statements) == 0 || len(r.columns) > 0 {
		return
	}
	statement := last(r.statements)
	if verb, _, ok := strings.Cut(statement, " "+typ+" {"); !ok || verb != "insert" && verb != "insert new" && verb != "upsert" {
		return
	}
	r.try(func() {
		r.next()
		v := r.fresh(typ)
		name := r.insertAs(v, typ)
		saved := r.tables
		r.tables, r.inSelect = []string{v}, true
		for {
			if r.accept("*") {
				r.wholeInsert(v, typ)
			} else {
				r.column()
			}
			if !r.accept(",") {
				break
			}
		}
		if !r.isOne("}", ";", ")") && r.peek(0).kind != end {
			panic(giveUp{})
		}
		r.tables = saved
		r.statements = slices.Clone(r.statements)
		r.statements[len(r.statements)-1] = name + " = " + statement
	})
}

// wholeInsert adds the columns of a whole node, or of an edge with its ends.
func (r *rewriter) wholeInsert(v, typ string) {
	name := "$" + lower(v)
	e := r.schema.Edge(typ)
	if e == nil {
		r.add("", name)
		return
	}
	r.add("", name+".from")
	r.add("", name+".to")
	for _, p := range e.Properties {
		r.add("", name+"."+p.Name)
	}
}
