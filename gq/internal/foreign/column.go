package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
)

// column is a column of a result, or a value of WITH.
type column struct {
	alias    string // "" without one
	text     string // its expression
	fromWith bool
}

// returned reads the columns after RETURN or SELECT, with or without braces.
func (r *rewriter) returned() {
	refuse.If(len(r.columns) > 0)
	r.accept("select")
	r.distinct = r.accept("distinct")
	if r.staged && len(r.keys) > 0 && r.aggregatesAhead() { // aggregates of aggregates
		r.groupsBeforeMatch()
	}
	saved := r.joins
	r.joins = true
	defer func() { r.joins = saved }()
	if r.accept("{") {
		r.accept("select")
		if r.accept("distinct") {
			r.distinct = true
		}
		for !r.accept("}") {
			switch {
			case r.accept(","), r.accept(";"):
			case len(r.columns) > 0 && r.accept("group", "by"):
				r.grouped()
			case len(r.columns) > 0 && r.accept("order", "by"):
				r.sorted()
			default:
				r.column()
			}
		}
		return
	}
	r.column()
	for r.accept(",") {
		r.column()
	}
}

// column reads a column and its alias.
func (r *rewriter) column() {
	alias := ""
	if t := r.peek(0); (t.Kind == lex.Word || t.Kind == lex.Text) && r.peek(1).Text == ":" { // the alias of GraphQL
		alias = r.next().Text
		r.next()
	}
	if r.accept("...") || r.accept("..", ".") {
		if r.is("on") {
			r.fragment()
			return
		}
		name := r.word()
		for _, v := range r.order {
			if r.vars[v] == r.fragments[name].typ {
				r.spread(name, scope{node: v})
				return
			}
		}
		panic(refuse.GiveUp{})
	}
	if r.accept("*") {
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
	if v := r.byType(r.peek(0).Text); v != "" && !r.known(r.peek(0).Text) && r.isAt(1, ".") && r.isAt(2, "*") { // services.* of SQL
		r.skipTwo()
		r.next()
		r.add(alias, "$"+naming.Lower(v))
		return
	}
	named := ""
	if t := r.peek(0); (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.values[t.Text] != "" && (r.peek(1).Kind != lex.Mark || r.isAt(1, ",", "}", ";")) {
		r.next()
		named = t.Text
	}
	t := r.peek(0)
	switch isVar := named == "" && (t.Kind == lex.Dollar || t.Kind == lex.Word) && r.vars[t.Text] != ""; {
	case isVar && (r.isAt(1, "{") || r.isAt(1, ":") && r.peek(2).Text == "{"): // $p { name email }
		v := r.variable()
		r.accept(":")
		r.selected(scope{node: v})
		if r.accept("as") {
			r.word()
			r.note("the columns are the fields of the record")
		}
		return
	case isVar && r.isAt(1, ".") && r.peek(2).Text == "*": // $p.*
		v := r.variable()
		r.next()
		r.next()
		r.add(alias, "$"+naming.Lower(v))
		return
	case isVar && r.isAt(1, ".") && r.peek(2).Kind == lex.Word && (r.isAt(3, "{") || r.isAt(3, "(")) && r.Property(r.vars[t.Text], r.peek(2).Text) == nil: // $c.placed { total }
		v := r.variable()
		r.next()
		r.selection(scope{node: v})
		return
	}
	if alias != "" && r.is("{") && r.peek(1).Kind != lex.End { // product: { title: $p.title }
		r.next()
		for r.more("}") {
			r.column()

		}
		return
	}
	e := r.values[named]
	r.spend(e)
	switch {
	case named == "" && r.paths[t.Text] && (t.Kind == lex.Word || t.Kind == lex.Dollar) && !r.isAt(1, "."):
		r.next()
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
	switch next := r.peek(0); {
	case r.accept("as"):
		if next = r.next(); next.Kind != lex.Word && next.Kind != lex.Text {
			panic(refuse.GiveUp{})
		}
		alias = next.Text
	case (r.inSelect || strings.HasSuffix(e, ")") && (r.isAt(1, ",", "}") || lex.StartsPart(r.peek(1)))) && next.Kind == lex.Word && next.Space && !r.starts() && !r.is("from"): // an alias without AS
		alias = r.word()
	}
	if alias == "" {
		alias = named
	}
	if i := slices.IndexFunc(r.windows, func(w *window) bool { return w.mark == e }); i >= 0 && alias == "" {
		alias = r.windows[i].name
	}
	r.add(alias, e)
}

// isAt reports whether one of the marks stands n places after the next token.
func (r *rewriter) isAt(n int, marks ...string) bool {
	t := r.peek(n)
	return t.Kind == lex.Mark && slices.Contains(marks, t.Text)
}

// fragment reads `on Person { email }` after three dots: the properties of one type of an interface.
func (r *rewriter) fragment() {
	r.expect("on")
	typ := r.NodeType(r.word())
	refuse.If(r.Schema.Node(typ) == nil)
	from := r.first()
	v := r.fresh(typ)
	r.match = append(r.match, cond{op: "optional", subs: []cond{leaf("$" + v + ": " + typ), leaf("$" + v + " = " + from)}})
	r.expect("{")
	for r.more("}") {
		r.add("", r.member(v, r.word()))
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
	c := e
	if alias != "" {
		alias = columnAlias(alias)
		c += " as " + alias
		r.aliases = append(r.aliases, alias)
	}
	r.columns = append(r.columns, c)
	r.computed = append(r.computed, column{alias: alias, text: e})
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
