package nearest

import (
	"slices"
	"strings"
)

// column is a column of a result, or a value of WITH.
type column struct {
	alias    string // "" without one
	text     string // its expression
	fromWith bool
}

// returned reads the columns after RETURN or SELECT, with or without braces.
func (r *rewriter) returned() {
	if len(r.columns) > 0 {
		panic(giveUp{})
	}
	r.distinct = r.accept("distinct")
	saved := r.joins
	r.joins = true
	defer func() { r.joins = saved }()
	if r.accept("{") {
		for !r.accept("}") {
			if !r.accept(",") && !r.accept(";") {
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
	if r.peek(0).kind == word && r.peek(1).text == ":" { // the alias of GraphQL
		alias = r.word()
		r.next()
	}
	if r.accept("...") || r.accept("..", ".") {
		r.fragment()
		return
	}
	if r.accept("*") {
		for _, v := range r.tables {
			r.add("", "$"+lower(v))
		}
		return
	}
	named := ""
	if t := r.peek(0); t.kind == word && r.values[t.text] != "" {
		named = t.text
	}
	if t := r.peek(0); t.kind == dollar && r.peek(1).text == "{" { // $p { name email }
		v := r.variable()
		r.next()
		for !r.accept("}") {
			r.accept(",")
			r.add("", r.member(v, r.word()))
		}
		return
	}
	e := r.operand()
	if r.operator() {
		e = "(" + r.compare(e).render(true) + ")"
	}
	if r.accept("@", "include", "(", "if", ":") {
		test := r.operand() + " = true"
		r.expect(")")
		if alias == "" {
			alias = e[strings.LastIndexAny(e, "$.")+1:]
		}
		e = "if(" + test + ", " + e + ")"
	}
	if r.accept("as") {
		t := r.next()
		if t.kind != word && t.kind != text {
			panic(giveUp{})
		}
		alias = t.text
	}
	if alias == "" && named != "" && e == r.values[named] {
		alias = named
	}
	r.add(alias, e)
}

// fragment reads `on Person { email }` after three dots: the properties of one type of an interface.
func (r *rewriter) fragment() {
	r.expect("on")
	typ := r.nodeType(r.word())
	if r.schema.Node(typ) == nil {
		panic(giveUp{})
	}
	from := r.first()
	v := r.fresh(typ)
	r.match = append(r.match, cond{op: "optional", subs: []cond{leaf("$" + v + ": " + typ), leaf("$" + v + " = " + from)}})
	r.expect("{")
	for !r.accept("}") {
		r.accept(",")
		r.add("", r.member(v, r.word()))
	}
}

// add appends a column. A computed one without an alias gets a name.
func (r *rewriter) add(alias, e string) {
	simple := strings.HasPrefix(e, "$") && !strings.Contains(e, " ")
	if open := strings.IndexByte(e, '('); open > 0 && aggregated(e[:open+1]) && strings.IndexByte(e, ')') == len(e)-1 {
		simple = true
	}
	if alias == "" && !simple {
		alias = "value"
		if n := wordLen(e); n > 0 {
			alias = e[:n]
		}
		for slices.Contains(r.aliases, alias) {
			alias += "2"
		}
	}
	c := e
	if alias != "" {
		alias = lower(strings.Map(func(c rune) rune {
			if c < 0x80 && (letter(byte(c)) || digit(byte(c))) {
				return c
			}
			return '_'
		}, alias))
		c += " as " + alias
		r.aliases = append(r.aliases, alias)
	}
	r.columns = append(r.columns, c)
	r.computed = append(r.computed, column{alias: alias, text: e})
}

// valueBlock reads a block with a value, such as count { … } or collect { … return { … } limit 5 }.
func (r *rewriter) valueBlock() string {
	defer r.deeper()()
	op := strings.ToLower(r.peek(0).text)
	switch op {
	case "exists", "not", "any", "all":
		return r.block().render(true)
	}
	r.next()
	r.expect("{")
	outer, aliases, computed := r.read, r.aliases, r.computed
	r.read, r.aliases, r.computed = read{}, nil, nil
	for !r.is("}") && !r.is("return") && !r.is("order") && !r.is("limit") {
		r.item()
	}
	out := op + " { " + join(r.match)
	if r.accept("return") {
		if op == "collect" || op == "first" {
			r.returned()
			out += " return { " + strings.Join(r.columns, ", ") + " }"
		} else {
			out += " return "
			if r.accept("distinct") {
				out += "distinct "
			}
			out += r.operand()
		}
	}
	for !r.accept("}") {
		switch {
		case r.accept("order", "by"), r.accept("order"):
			r.sorted()
		case r.accept("limit"):
			r.limit = r.operand()
		default:
			panic(giveUp{})
		}
	}
	if len(r.sort) > 0 {
		out += " order { " + strings.Join(r.sort, ", ") + " }"
	}
	if r.limit != "" {
		out += " limit " + r.limit
	}
	r.read, r.aliases, r.computed = outer, aliases, computed
	return out + " }"
}
