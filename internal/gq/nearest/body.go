package nearest

import (
	"slices"
	"strings"
)

// document reads the whole text.
func (r *rewriter) document() {
	switch {
	case r.isOne("query", "mutation") && r.peek(1).kind == word && r.peek(2).text == "(" && !r.graphQL():
		r.next()
		r.name = lower(r.word())
		r.parameters()
		r.annotations()
		r.expect("{")
		r.body()
		r.expect("}")
	case r.is("{"), r.isOne("query", "mutation"):
		r.selections()
	default:
		r.body()
	}
	r.accept(";")
	if r.at < len(r.tokens) {
		panic(giveUp{})
	}
}

// graphQL reports whether the body of the query at the start of the text holds fields, as in GraphQL.
func (r *rewriter) graphQL() bool {
	depth := 0
	for i, t := range r.tokens {
		switch {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		case t.kind == mark && t.text == "{" && depth == 0 && i+2 < len(r.tokens):
			first, second := r.tokens[i+1], r.tokens[i+2]
			return first.kind == word && !slices.Contains(starters, strings.ToLower(first.text)) && (second.text == "(" || second.text == "{")
		}
	}
	return false
}

// scalars maps the types of GraphQL and SQL to those of this language.
var scalars = map[string]string{"id": "String", "int": "I32", "integer": "I32", "bigint": "I64", "long": "I64", "float": "F64", "double": "F64", "number": "F64",
	"boolean": "Bool", "bool": "Bool", "string": "String", "text": "String", "varchar": "String", "timestamp": "DateTime", "datetime": "DateTime", "date": "Date"}

// parameters reads the parameters of a query.
func (r *rewriter) parameters() {
	r.expect("(")
	for !r.accept(")") {
		if len(r.params) > 0 {
			r.accept(",")
		}
		t := r.next()
		if t.kind != dollar && t.kind != word {
			panic(giveUp{})
		}
		r.expect(":")
		open := r.accept("[")
		typ := r.word()
		if to, ok := scalars[strings.ToLower(typ)]; ok {
			typ = to
		}
		if r.accept("(") {
			typ += "(" + r.next().text + ")"
			r.expect(")")
		}
		r.accept("!")
		if open {
			r.expect("]")
			r.accept("!")
			typ = "[" + typ + "]"
		}
		if r.accept("?") {
			typ += "?"
		}
		if r.accept("=") {
			typ += " @default(" + r.operand() + ")"
		}
		p := "$" + t.text + ": " + typ
		for r.is("@") {
			p += " " + r.annotation()
		}
		r.params = append(r.params, p)
	}
}

// annotations reads the annotations of a query.
func (r *rewriter) annotations() {
	for r.is("@") {
		r.head = append(r.head, r.annotation())
	}
}

// annotation copies an annotation.
func (r *rewriter) annotation() string {
	r.expect("@")
	out := "@" + r.word() + "("
	r.expect("(")
	for depth := 1; ; {
		t := r.next()
		if t.kind == mark && t.text == "(" {
			depth++
		} else if t.kind == mark && t.text == ")" {
			if depth--; depth == 0 {
				return out + ")"
			}
		}
		if t.space && !strings.HasSuffix(out, "(") {
			out += " "
		}
		switch t.kind {
		case text:
			out += quote(t.text)
		case dollar:
			out += "$" + t.text
		default:
			out += t.text
		}
	}
}

// body reads the parts of a query.
func (r *rewriter) body() {
	defer r.deeper()()
	for {
		switch {
		case r.peek(0).kind == end, r.is("}"):
			return
		case r.accept(";"), r.accept(","):
		case r.accept("match"):
			if len(r.columns) > 0 || slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
				panic(giveUp{})
			}
			if r.is("{") {
				r.match = append(r.match, r.braced()...)
			} else {
				r.items()
			}
		case r.is("optional"):
			r.optionalMatch()
		case r.isOne("where", "filter"):
			r.next()
			r.wherePart()
		case r.is("select", "top"), r.is("select"):
			r.selectRows()
		case r.accept("return"):
			r.returned()
		case r.accept("with"):
			r.with()
		case r.accept("let"):
			name := r.word()
			r.expect("=")
			r.values[name] = r.operand()
		case r.accept("having"):
			r.havingPart()
		case r.accept("group", "by"):
			r.grouped()
		case r.accept("order", "by"), r.accept("orderby"), r.accept("order_by"), r.accept("order"):
			r.sorted()
		case r.accept("limit"), r.accept("first"), r.accept("top"):
			r.accept(":")
			r.limit = r.operand()
		case r.accept("offset"), r.accept("skip"):
			r.accept(":")
			r.skip = r.operand()
		default:
			r.statement()
		}
	}
}

// items reads the clauses of a match without braces.
func (r *rewriter) items() {
	r.item()
	for !r.starts() {
		r.item()
	}
}

// wherePart reads the conditions after WHERE outside of braces.
func (r *rewriter) wherePart() {
	c := r.condition()
	text := c.render(false)
	for _, v := range r.computed {
		// A condition on a value that WITH aggregated holds for groups.
		if v.fromWith && aggregated(v.text) && strings.Contains(text, v.text) {
			text = strings.ReplaceAll(text, v.text, v.alias)
			r.having = append(r.having, leaf(text))
			return
		}
	}
	r.match = append(r.match, c)
}

// with reads the values after WITH, which later parts use by their names.
func (r *rewriter) with() {
	r.accept("distinct")
	for {
		start := r.peek(0)
		e := r.operand()
		if r.accept("as") {
			alias := r.word()
			if v, ok := strings.CutPrefix(e, "$"); ok && !strings.Contains(v, ".") && v != alias {
				panic(giveUp{})
			}
			r.values[alias] = e
			r.computed = append(r.computed, column{alias: alias, text: e, fromWith: true})
		} else if start.kind != word && start.kind != dollar {
			panic(giveUp{})
		} else if strings.HasPrefix(e, "$") && r.schema.Node(r.vars[start.text]) != nil {
			r.keys = append(r.keys, e)
		}
		if !r.accept(",") {
			return
		}
	}
}

// groupKeys adds the ids of the nodes that WITH groups by, because their properties may be equal.
func (r *rewriter) groupKeys() {
	if !slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		return
	}
	for _, v := range r.keys {
		if !slices.ContainsFunc(r.computed, func(c column) bool { return c.text == v || c.text == v+".id" }) {
			r.add(v[1:]+"_id", v+".id")
		}
	}
}

// havingPart reads the conditions after HAVING.
func (r *rewriter) havingPart() {
	r.inHaving = true
	defer func() { r.inHaving = false }()
	if r.accept("{") {
		for !r.accept("}") {
			r.accept("and")
			r.having = append(r.having, r.condition())
		}
		return
	}
	r.having = append(r.having, r.condition())
}

// grouped reads the keys after GROUP BY. The columns without an aggregate are the keys, so each key
// must be one of them.
func (r *rewriter) grouped() {
	for {
		key := r.operandOrAlias()
		if !slices.ContainsFunc(r.computed, func(c column) bool { return c.text == key || c.alias == key }) {
			panic(giveUp{})
		}
		if !r.accept(",") {
			return
		}
	}
}

// operandOrAlias reads an expression, in which the name of a column comes before that of a property.
func (r *rewriter) operandOrAlias() string {
	t := r.peek(0)
	if t.kind == word && slices.Contains(r.aliases, t.text) && r.peek(1).text != "(" && r.peek(1).text != "." {
		if next := r.peek(1); next.kind != mark || strings.Contains(",};)", next.text) {
			return r.word()
		}
	}
	return r.operand()
}

// sorted reads the keys of ORDER BY, of order { … } or of orderBy: { name: DESC }.
func (r *rewriter) sorted() {
	r.accept(":")
	braces := r.accept("{")
	for {
		key := ""
		if braces && r.peek(0).kind == word && r.peek(1).text == ":" {
			v := r.first()
			key = v + "." + r.propertyName(r.vars[strings.TrimPrefix(v, "$")], r.word())
			r.expect(":")
		} else {
			key = r.operandOrAlias()
		}
		down := false
		switch {
		case r.accept("asc"), r.accept("ascending"):
			key += " asc"
		case r.accept("desc"), r.accept("descending"):
			key, down = key+" desc", true
		}
		// Nulls come first in ascending order and last in descending order.
		if r.accept("nulls", "last") && !down || r.accept("nulls", "first") && down {
			panic(giveUp{})
		}
		r.sort = append(r.sort, key)
		if !r.accept(",") && (!braces || r.is("}")) {
			break
		}
	}
	if braces {
		r.expect("}")
	}
}
