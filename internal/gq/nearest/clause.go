package nearest

import (
	"slices"
	"strings"
)

// starters are the words that start another part of a query.
var starters = []string{"match", "optional", "where", "filter", "return", "select", "with", "let", "having", "group", "order", "orderby", "order_by",
	"limit", "first", "top", "offset", "skip", "unwind", "for", "foreach", "create", "insert", "merge", "upsert", "update", "set", "delete", "detach", "remove", "fetch", "next", "on"}

// starts reports whether another part of the query comes next, or its end.
func (r *rewriter) starts() bool {
	t := r.peek(0)
	if t.kind == end || t.kind == mark && (t.text == "}" || t.text == ";") {
		return true
	}
	// A keyword that is the name of a variable or of a property has a dot, a colon or a relation after it.
	return t.kind == word && slices.Contains(starters, strings.ToLower(t.text)) && r.peek(1).text != "." && (r.peek(1).text != ":" || r.isOne("orderby", "first", "limit"))
}

// item reads one clause of a match.
func (r *rewriter) item() {
	switch t := r.peek(0); {
	case r.accept(","), r.accept(";"), r.accept("and"), r.accept("&&"), r.accept("match"):
	case r.is("where"), r.is("filter"):
		r.next()
		r.match = append(r.match, r.condition())
	case r.is("optional"):
		r.optionalMatch()
	case r.is("any", "shortest"), r.is("all", "shortest"), r.is("shortest"):
		for r.accept("any") || r.accept("all") || r.accept("shortest") || r.peek(0).kind == number && r.accept(r.peek(0).text) {
		}
		if r.peek(0).kind == dollar {
			r.traversal(true)
			return
		}
		r.pattern(r.pathName())
	case t.kind == word && r.peek(1).text == "=" && (r.peek(2).text == "(" || r.peek(3).text == "(") && plain(r.peek(2).text) != "date" && !r.known(t.text):
		r.pattern(r.pathName())
	case (r.is("_or") || r.is("or") || r.is("_and") || r.is("and")) && r.peek(1).text == ":":
		r.listed()
	case t.kind == dollar && r.peek(1).text == ":":
		r.binding()
	case t.kind == dollar && r.edgeNext():
		r.traversal(false)
	case r.is("("):
		var clauses []cond
		if r.try(func() { clauses = r.patternClauses() }) {
			r.match = append(r.match, clauses...)
			return
		}
		r.match = append(r.match, r.condition())
	case r.isOne("shortestpath", "allshortestpaths"):
		r.pattern("")
	default:
		r.match = append(r.match, r.condition())
	}
}

// known reports whether a name is a variable.
func (r *rewriter) known(name string) bool {
	_, ok := r.vars[name]
	return ok || r.paths[name]
}

// pathName reads `w =` before a pattern, or makes a name.
func (r *rewriter) pathName() string {
	if r.peek(0).kind == word && r.peek(1).text == "=" {
		name := r.word()
		r.expect("=")
		for r.accept("any") || r.accept("all") || r.accept("shortest") {
		}
		r.paths[name] = true
		return name
	}
	return r.newPath()
}

// optionalMatch reads OPTIONAL MATCH … or optional { … }.
func (r *rewriter) optionalMatch() {
	r.expect("optional")
	saved := r.match
	r.match = nil
	if r.accept("{") {
		for !r.accept("}") {
			r.item()
		}
	} else {
		r.accept("match")
		r.item()
		for r.accept(",") {
			r.item()
		}
		if r.accept("where") {
			r.match = append(r.match, r.condition())
		}
	}
	r.match = append(saved, cond{op: "optional", subs: r.match})
}

// listed reads _or: [{ … }, { … }], which holds conditions on the last variable.
func (r *rewriter) listed() {
	op := "any"
	if plain(r.word()) == "and" {
		op = "all"
	}
	r.expect(":")
	r.expect("[")
	if len(r.order) == 0 {
		panic(giveUp{})
	}
	v := r.order[len(r.order)-1]
	c := cond{op: op}
	for !r.accept("]") {
		if len(c.subs) > 0 {
			r.expect(",")
		}
		c.subs = append(c.subs, cond{op: "all", subs: r.filters(v)})
	}
	r.match = append(r.match, c)
}

// filters reads the conditions in braces on a variable, which may use the operators of GraphQL servers.
func (r *rewriter) filters(v string) (out []cond) {
	r.expect("{")
	for !r.accept("}") {
		if len(out) > 0 {
			r.accept(",")
		}
		name := "$" + lower(v) + "." + r.propertyName(r.vars[v], r.word())
		if !r.accept(":") {
			r.expect("=")
		}
		if !r.accept("{") {
			out = append(out, leaf(name+" = "+r.optional(r.operand())))
			continue
		}
		for !r.accept("}") {
			op := strings.TrimPrefix(strings.ToLower(r.word()), "_")
			r.expect(":")
			out = append(out, r.filter(name, op))
			r.accept(",")
		}
	}
	return out
}

// filter reads the value of an operator of a GraphQL server.
func (r *rewriter) filter(name, op string) cond {
	ops := map[string]string{"eq": "=", "ne": "!=", "neq": "!=", "not": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
		"in": "in", "contains": "contains", "starts_with": "starts_with", "startswith": "starts_with", "regex": "matches"}
	switch op {
	case "nin", "not_in":
		return cond{op: "not", subs: []cond{leaf(name + " in " + r.operand())}}
	case "is_null":
		if r.accept("false") {
			return leaf(name + " is not null")
		}
		r.expect("true")
		return leaf(name + " is null")
	case "like", "ilike":
		if r.peek(0).kind != text {
			panic(giveUp{})
		}
		return leaf(name + like(r.next().text, op == "ilike"))
	}
	if ops[op] == "" {
		panic(giveUp{})
	}
	return leaf(name + " " + ops[op] + " " + r.operand())
}

// binding reads $p: Person { … }.
func (r *rewriter) binding() {
	name := r.next().text
	r.expect(":")
	typ := r.nodeType(r.word())
	if typ == "" {
		panic(giveUp{})
	}
	v := r.bind(name, typ)
	var props []string
	if r.is("{") && !r.try(func() { props = r.props(typ) }) {
		r.match = append(r.match, leaf(v+": "+typ))
		r.match = append(r.match, r.filters(name)...)
		return
	}
	clause := v + ": " + typ
	if len(props) > 0 {
		clause += " { " + strings.Join(props, ", ") + " }"
	}
	r.match = append(r.match, leaf(clause))
}

// edgeNext reports whether a variable and then the edge of a traversal come next.
func (r *rewriter) edgeNext() bool {
	i := 1
	if r.peek(i).kind == dollar && r.peek(i+1).text == ":" {
		i += 2
	}
	if r.peek(i).text == "<" && r.peek(i+1).kind == word {
		return true
	}
	return r.peek(i).kind == word && r.edgeType(r.peek(i).text) != nil
}

// traversal reads $p knows{1,3} $q. A shortest one gets a variable for the walk.
func (r *rewriter) traversal(shortest bool) {
	a := r.next().text
	bound := ""
	if r.peek(0).kind == dollar {
		bound = r.next().text
		r.expect(":")
	}
	either := r.accept("<")
	var names []string
	from, to := "", ""
	for {
		e := r.edgeType(r.word())
		if e == nil {
			panic(giveUp{})
		}
		names, from, to = append(names, lower(e.Name)), e.EndName(false), e.EndName(true)
		if !r.accept("|") {
			break
		}
	}
	if either {
		r.expect(">")
	}
	edge := strings.Join(names, "|")
	if either || shortest && from == to {
		edge = "<" + edge + ">"
	}
	walks := true
	switch {
	case r.accept("*"):
		edge += r.bounds("..")
	case r.accept("{"):
		edge += r.bounds(",")
		r.expect("}")
	default:
		walks = false
	}
	if shortest && walks && bound == "" {
		bound = r.newPath()
	}
	if r.peek(0).kind != dollar {
		panic(giveUp{})
	}
	b := r.next().text
	if len(names) > 1 || walks {
		from, to = "", ""
	}
	if from != to && r.vars[a] == to {
		from, to = to, from
	}
	left := r.bind(a, from)
	if bound != "" {
		if walks {
			r.paths[bound] = true
		} else {
			r.bind(bound, r.edgeType(names[0]).Name)
		}
		edge = "$" + bound + ":" + edge
	}
	r.match = append(r.match, leaf(left+" "+edge+" "+r.bind(b, to)))
}
