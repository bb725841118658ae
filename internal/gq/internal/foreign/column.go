package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// column is a column of a result, or a value of WITH.
type column struct {
	alias    string // "" without one
	text     string // its expression
	fromWith bool
}

// render writes a column of a result.
func (c column) render() string {
	if c.alias == "" {
		return c.text
	}
	return c.text + " as " + c.alias
}

// joinColumns writes the columns of a result.
func joinColumns(list []column) string {
	var out []string
	for _, c := range list {
		out = append(out, c.render())
	}
	return strings.Join(out, ", ")
}

// recordsOf writes a block with a record for each match of its clauses, or with the first one.
func recordsOf(op string, match []cond, columns string, sort []string, limit string) string {
	return op + " { " + join(match) + " return { " + columns + " }" + rowsPart(sort, limit) + " }"
}

// returned reads the columns after RETURN or SELECT, with or without braces.
func (r *rewriter) returned() {
	refuse.If(len(r.columns) > 0)
	r.Accept("select")
	r.distinct = r.Accept("distinct")
	if r.staged && len(r.keys) > 0 && r.aggregatesAhead() { // aggregates of aggregates
		r.groupsBeforeMatch()
	}
	saved := r.joins
	r.joins = true
	defer func() { r.joins = saved }()
	if r.Accept("{") {
		r.Accept("select")
		if r.Accept("distinct") {
			r.distinct = true
		}
		for !r.Accept("}") {
			switch {
			case r.Accept(","), r.Accept(";"):
			case len(r.columns) > 0 && r.Accept("group", "by"):
				r.grouped()
			case len(r.columns) > 0 && r.Accept("order", "by"):
				r.sorted()
			default:
				r.column()
			}
		}
		return
	}
	r.column()
	for r.Accept(",") {
		r.column()
	}
}

// column reads a column and its alias.
func (r *rewriter) column() {
	alias := ""
	if t := r.Peek(0); (t.Kind == lex.Word || t.Kind == lex.Text) && r.Peek(1).Text == ":" { // the alias of GraphQL
		alias = r.Next().Text
		r.Next()
	}
	if r.Accept("...") || r.Accept("..", ".") {
		if r.Is("on") {
			r.fragment()
			return
		}
		name := r.Word()
		for _, v := range r.order {
			if r.vars[v] == r.fragments[name].typ {
				r.spread(name, scope{node: v})
				return
			}
		}
		panic(refuse.GiveUp{})
	}
	if r.Accept("*") {
		for _, v := range r.tables {
			r.add("", "$"+naming.Lower(v))
		}
		for _, c := range r.computed {
			if c.fromWith {
				r.add(c.alias, c.text)
			}
		}
		return
	}
	if v := r.byType(r.Peek(0).Text); v != "" && !r.known(r.Peek(0).Text) && r.IsAt(1, ".") && r.IsAt(2, "*") { // services.* of SQL
		r.SkipTwo()
		r.Next()
		r.add(alias, "$"+naming.Lower(v))
		return
	}
	named := ""
	if t := r.Peek(0); (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.values[t.Text] != "" && (r.Peek(1).Kind != lex.Mark || r.IsAt(1, ",", "}", ";")) {
		r.Next()
		named = t.Text
	}
	t := r.Peek(0)
	switch isVar := named == "" && (t.Kind == lex.Dollar || t.Kind == lex.Word) && r.vars[t.Text] != ""; {
	case isVar && (r.IsAt(1, "{") || r.IsAt(1, ":") && r.Peek(2).Text == "{"): // $p { name email }
		v := r.variable()
		r.Accept(":")
		r.selected(scope{node: v})
		if r.Accept("as") {
			r.Word()
			r.note("the columns are the fields of the record")
		}
		return
	case isVar && r.IsAt(1, ".") && r.Peek(2).Text == "*": // $p.*
		v := r.variable()
		r.SkipTwo()
		r.add(alias, "$"+naming.Lower(v))
		return
	case isVar && r.IsAt(1, ".") && r.Peek(2).Kind == lex.Word && (r.IsAt(3, "{") || r.IsAt(3, "(")) && r.Property(r.vars[t.Text], r.Peek(2).Text) == nil: // $c.placed { total }
		v := r.variable()
		r.Next()
		r.selection(scope{node: v})
		return
	}
	if alias != "" && r.Is("{") && r.Peek(1).Kind != lex.End { // product: { title: $p.title }
		r.Next()
		for r.More("}") {
			r.column()
		}
		return
	}
	e := r.values[named]
	r.spend(e)
	switch {
	case named == "" && r.paths[t.Text] && (t.Kind == lex.Word || t.Kind == lex.Dollar) && !r.IsAt(1, "."):
		r.Next()
		e = "$" + naming.Lower(t.Text) + ".nodes"
		r.note("a walk is no value: $" + naming.Lower(t.Text) + ".nodes lists the ids of its nodes")
		if alias == "" {
			alias = t.Text
		}
	case named == "":
		e = r.operand()
	}
	if r.operator() {
		e = "(" + r.compare(e).render(true) + ")"
	}
	alias, e = r.columnOverEdges(alias, e)
	done := r.directives()
	alias, e = r.conditional(alias, e)
	done()
	switch next := r.Peek(0); {
	case r.Accept("as"):
		if next = r.Next(); next.Kind != lex.Word && next.Kind != lex.Text {
			panic(refuse.GiveUp{})
		}
		alias = next.Text
	case (r.inSelect || strings.HasSuffix(e, ")") && (r.IsAt(1, ",", "}") || lex.StartsPart(r.Peek(1)))) && next.Kind == lex.Word && next.Space && !r.Starts() && !r.Is("from"): // an alias without AS
		alias = r.Word()
	}
	if alias == "" {
		alias = named
	}
	if i := slices.IndexFunc(r.windows, func(w *window) bool { return w.mark == e }); i >= 0 && alias == "" {
		alias = r.windows[i].name
	}
	r.add(alias, e)
}

// fragment reads `on Person { email }` after three dots: the properties of one type of an interface.
func (r *rewriter) fragment() {
	r.Expect("on")
	typ := r.NodeType(r.Word())
	refuse.If(r.Schema.Node(typ) == nil)
	from := r.first()
	v := r.fresh(typ)
	r.match = append(r.match, cond{op: "optional", subs: []cond{leaf("$" + v + ": " + typ), leaf("$" + v + " = " + from)}})
	r.Expect("{")
	for r.More("}") {
		r.add("", r.member(v, r.Word()))
	}
}

// add appends a column. A computed one without an alias gets a name.
func (r *rewriter) add(alias, e string) {
	refuse.If(len(r.columns) >= maxColumns)
	simple := strings.HasPrefix(e, "$") && !strings.Contains(e, " ")
	if open := strings.IndexByte(e, '('); open > 0 && aggregated(e[:open+1]) && strings.IndexByte(e, ')') == len(e)-1 {
		simple = !strings.Contains(strings.TrimPrefix(e[open+1:], "distinct "), " ")
	}
	if alias == "" && !simple {
		alias = "value"
		if n := lex.WordLen(e); n > 0 {
			alias = e[:n]
			if field, ok := strings.CutPrefix(e[n:], "."); ok && lex.WordLen(field) == len(field) {
				alias = field
			}
		}
		for slices.Contains(r.aliases, alias) {
			alias += "2"
		}
	}
	if alias == "" {
		// A column that is written twice is one column.
		for _, c := range r.computed {
			if !c.fromWith && c.alias == "" && c.text == e {
				refuse.If(r.inColumns) // in SQL it is two
				return
			}
		}
	}
	if alias != "" {
		alias = columnAlias(alias)
		r.aliases = append(r.aliases, alias)
	}
	c := column{alias: alias, text: e}
	r.columns, r.computed = append(r.columns, c), append(r.computed, c)
}

// columnAlias writes an alias of a text as this language writes one.
func columnAlias(name string) string {
	return naming.Lower(strings.Map(func(c rune) rune {
		if c < 0x80 && (lex.Letter(byte(c)) || lex.Digit(byte(c))) {
			return c
		}
		return '_'
	}, name))
}
