package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// inserting is an INSERT INTO of SQL.
type inserting struct {
	typ   string
	alias string
	names []string // the properties and ends of edges in the order of the values
	rows  []*row
}

// insertInto reads the rest of INSERT INTO Person (a, b) VALUES (…), (…).
func (r *rewriter) insertInto() {
	start := r.At
	in := &inserting{typ: r.tableType()}
	if r.Is("{") || r.Is("(") && r.IsAt(2, ":") { // the values of this language
		r.At = start
		r.assigned("create", "")
		r.returning(in.typ)
		return
	}
	if r.Accept("as") || r.Peek(0).Kind == lex.Word && !r.IsOne("values", "select") {
		in.alias = r.Word()
	}
	r.Expect("(")
	for r.More(")") {
		in.names = append(in.names, r.PropertyName(in.typ, r.Word()))
	}
	if r.Is("select") {
		r.insertSelect(in)
		return
	}
	r.Expect("values")
	for more := true; more; more = r.Accept(",") {
		in.rows = append(in.rows, r.insertedRow(in))
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
func (r *rewriter) insertedRow(in *inserting) *row {
	s := &row{}
	r.Expect("(")
	for i := 0; !r.Accept(")"); i++ {
		if i > 0 {
			r.Expect(",")
		}
		refuse.If(i >= len(in.names))
		switch {
		case r.Accept("null"), r.Accept("default"):
			s.assign(in.names[i], "")
		case r.Is("(", "select") && r.Schema.Edge(in.typ) != nil:
			panic(refuse.GiveUp{})
		default:
			s.assign(in.names[i], r.initial(in.typ, in.names[i]))
		}
	}
	return s
}

// conflicting reads ON CONFLICT after the rows, and returns the statement for each row.
func (r *rewriter) conflicting(in *inserting) (statements []string) {
	var updates int // the index of the first token after SET, or 0
	switch {
	case r.Accept("on", "conflict"):
		if r.Is("(") {
			r.SkipGroup()
		} else if r.Accept("on", "constraint") {
			r.Word()
		}
		if !r.Accept("do", "nothing") {
			r.Expect("do", "update", "set")
			updates = r.At
		}
	case r.Accept("on", "duplicate", "key", "update"):
		updates = r.At
	default:
		for _, row := range in.rows {
			statements = append(statements, r.Inserts(in.typ)+" "+in.typ+" { "+row.render()+" }")
		}
		return statements
	}
	refuse.If(r.Schema.Edge(in.typ) != nil && updates == 0 && !naming.OnePerPair(r.Schema.Edge(in.typ))) // no upsert finds the edge
	for _, s := range in.rows {
		changed := &row{}
		if updates > 0 {
			r.At = updates
			changed = r.conflictUpdates(in, s)
		}
		r.keepValues(in.typ, s, changed)
		statements = append(statements, "upsert "+in.typ+" { "+s.render()+" }")
	}
	return statements
}

// conflictUpdates reads the assignments after DO UPDATE SET for the values of one row.
func (r *rewriter) conflictUpdates(in *inserting, inserted *row) *row {
	saved, savedVar := r.inWhere, r.whereVar
	r.inWhere, r.whereVar = in.typ, in.alias
	r.excluded = inserted
	if in.alias == "" {
		for i := r.At; i < len(r.Tokens) && r.whereVar == ""; i++ { // the name of the table in its own case
			if t := r.Tokens[i]; t.Kind == lex.Word && naming.Plain(t.Text) == naming.Plain(in.typ) {
				r.whereVar = t.Text
			}
		}
	}
	if r.whereVar != "" {
		r.vars[r.whereVar] = in.typ
	}
	out := &row{}
	for more := true; more; more = r.Accept(",") {
		name, value := r.setting(r.whereVar, in.typ)
		refuse.If(value == "") // the row has null
		out.assign(name, value)
	}
	if r.whereVar != "" {
		delete(r.vars, r.whereVar)
	}
	r.inWhere, r.whereVar, r.excluded = saved, savedVar, nil
	refuse.If(r.Is("where")) // it leaves some of the rows as they are
	return out
}

// ofExcluded reads excluded.name, or VALUES(name) of MySQL: the value that the insert would have written.
func (r *rewriter) ofExcluded() (value string, ok bool) {
	if r.excluded == nil || !r.Is("excluded", ".") && !r.Is("values", "(") {
		return "", false
	}
	closes := r.Is("values")
	r.SkipTwo()
	value = r.excluded.value(r.PropertyName(r.inWhere, r.Word()))
	if closes {
		r.Expect(")")
	}
	refuse.If(value == "")
	return tight(value), true
}

// insertSelect reads SELECT after INSERT INTO Person (a, b): an insert for each row.
func (r *rewriter) insertSelect(in *inserting) {
	if len(r.statements) > 0 {
		r.beginBlock()
	}
	refuse.If(len(r.match) > 0)
	r.selectRows()
	if r.Accept("where") {
		r.wherePart()
	}
	refuse.If(r.distinct || r.limit != "" || r.staged || len(r.match) == 0 || len(r.windows)+len(r.listings) > 0 || len(r.computed) != len(in.names))
	s := &row{}
	for i, c := range r.computed {
		value := r.fit(r.Property(in.typ, in.names[i]), c.text)
		if r.Schema.Edge(in.typ) != nil && (in.names[i] == "from" || in.names[i] == "to") {
			value = r.idOf(value)
		}
		refuse.If(aggregated(value))
		s.assign(in.names[i], value)
	}
	in.rows = []*row{s}
	r.columns, r.computed, r.aliases, r.tables = nil, nil, nil, nil
	for _, s := range r.conflicting(in) {
		r.emit(s)
	}
}

// returning reads RETURNING after the last statement, which inserts one entity, and makes a row of the answer of it.
func (r *rewriter) returning(typ string) {
	if !r.Is("returning") || len(r.match) > 0 || len(r.statements) == 0 || len(r.columns) > 0 {
		return
	}
	statement := last(r.statements)
	if verb, _, ok := strings.Cut(statement, " "+typ+" {"); !ok || verb != "insert" && verb != "insert new" && verb != "upsert" {
		return
	}
	r.try(func() {
		r.Next()
		v := r.fresh(typ)
		name := r.insertAs(v, typ)
		saved := r.tables
		r.tables, r.inSelect = []string{v}, true
		for more := true; more; more = r.Accept(",") {
			if r.Accept("*") {
				r.wholeInsert(v, typ)
			} else {
				r.column()
			}
		}
		if !r.IsOne("}", ";", ")") && r.Peek(0).Kind != lex.End {
			panic(refuse.GiveUp{})
		}
		r.tables = saved
		r.statements = slices.Clone(r.statements)
		r.statements[len(r.statements)-1] = name + " = " + statement
	})
}

// wholeInsert adds the columns of a whole node, or of an edge with its ends.
func (r *rewriter) wholeInsert(v, typ string) {
	name := "$" + naming.Lower(v)
	e := r.Schema.Edge(typ)
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

// deleteFrom reads the rest of DELETE FROM Person [p] [USING …] WHERE ….
func (r *rewriter) deleteFrom() {
	typ := r.tableType()
	v := r.TableAlias()
	if v != "" {
		r.whereVar = v
		r.bind(v, typ)
	}
	r.where("delete "+typ, typ)
}

// updateVariable reads $p SET name = 'a', level = 'lead' after UPDATE, for a variable of the match.
func (r *rewriter) updateVariable() {
	v := r.variable()
	r.Accept("set")
	var out []string
	r.List(func() {
		name, value := r.setting(v, r.vars[v])
		out = append(out, name+": "+value)
	})
	r.change(v, "update", " set { "+strings.Join(out, ", ")+" }")
}
