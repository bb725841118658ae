package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
)

// starts reports whether another part of the query comes next, or its end.
func (r *rewriter) starts() bool {
	t := r.peek(0)
	if t.Kind == lex.End || t.Kind == lex.Mark && (t.Text == "}" || t.Text == ";") {
		return true
	}
	// A keyword that is the name of a variable or of a property has a dot, a colon or a relation after it.
	return t.Kind == lex.Word && slices.Contains(lex.Starters, strings.ToLower(t.Text)) && r.peek(1).Text != "." && (r.peek(1).Text != ":" || r.isOne("orderby", "first", "limit"))
}

// item reads one clause of a match.
func (r *rewriter) item() {
	switch t := r.peek(0); {
	case r.is("match", "{"):
		r.next()
		r.match = append(r.match, r.braced()...)
	case r.accept(","), r.accept(";"), r.accept("and"), r.accept("&&"), r.accept("match"), r.accept("on"):
	case r.accept("join"), r.accept("inner", "join"):
	case t.Kind == lex.Word && r.EdgeType(t.Text) != nil && !r.known(t.Text) && (r.peek(1).Are("on") || r.peek(1).Kind == lex.Word && r.peek(2).Are("on") || r.is(t.Text, "as") && r.peek(3).Are("on")):
		r.joinEdge()
	case r.is("left", "join"), r.is("left", "outer", "join"):
		r.leftJoin()
	case r.is("where"), r.is("filter"):
		r.accept("filter")
		r.accept("where")
		if r.is("{") {
			r.match = append(r.match, r.braced()...)
			return
		}
		r.match = append(r.match, r.condition())
	case r.is("optional"):
		r.optionalMatch()
	case r.is("any", "shortest"), r.is("all", "shortest"), r.is("shortest"):
		for r.accept("any") || r.accept("all") || r.accept("shortest") || r.peek(0).Kind == lex.Number && r.accept(r.peek(0).Text) {
		}
		if r.peek(0).Kind == lex.Dollar && r.peek(1).Text != "=" {
			r.traversal(true)
			return
		}
		r.pattern(r.pathName())
	case r.is("any", "(") && (r.isAt(2, "(", ")", ":") || r.isAt(3, ":", ")")) && !r.known(r.peek(2).Text), r.is("any") && r.isAt(2, "="):
		r.next() // any path between two ends
	case (r.is("trail") || r.is("walk")) && (r.isAt(1, "(") || r.peek(2).Text == "="):
		r.next() // a walk lists each end once, so its mode makes no difference
	case (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.peek(1).Text == "=" && !r.known(t.Text) && r.patternAt(2):
		r.pattern(r.pathName())
	case (r.is("_or") || r.is("or") || r.is("_and") || r.is("and")) && r.peek(1).Text == ":":
		refuse.If(len(r.order) == 0)
		r.match = append(r.match, r.logic(scope{node: r.order[len(r.order)-1]}))
	case t.Kind == lex.Dollar && r.peek(1).Text == ":" && r.peek(2).Text == "{":
		v := r.variable()
		r.next()
		r.match = append(r.match, r.filters(scope{node: v})...)
	case t.Kind == lex.Dollar && r.peek(1).Text == ":", t.Kind == lex.Word && r.isAt(1, ":") && r.NodeType(r.peek(2).Text) != "", t.Kind == lex.Dollar && r.peek(1).Are("is") && r.NodeType(r.peek(2).Text) != "":
		r.binding()
		if r.linkAt(0) { // $p: Person -[memberOf]-> $t
			r.patternFrom("", nodeRef{name: t.Text, typ: r.vars[t.Text]})
		}
	case t.Kind == lex.Word && r.NodeType(t.Text) != "" && !r.known(t.Text) && r.peek(1).Kind == lex.Word && r.EdgeType(r.peek(1).Text) == nil && !slices.Contains(lex.Starters, strings.ToLower(r.peek(1).Text)) && r.peek(2).Kind != lex.Mark:
		typ := r.NodeType(r.word()) // Product p
		r.match = append(r.match, leaf(r.bind(r.word(), typ)+": "+typ))
	case t.Kind == lex.Dollar && r.peek(1).Text == "." && r.peek(3).Text == ":":
		v := r.variable()
		r.next()
		r.match = append(r.match, r.filterOf(scope{node: v}, r.word())...)
	case t.Kind == lex.Dollar && r.edgeNext():
		r.traversal(false)
	case t.Kind == lex.Dollar && r.peek(1).Text == "(":
		r.alternatives()
	case t.Kind == lex.Dollar && r.linkAt(1):
		r.pattern("")
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

// patternAt reports whether a pattern, perhaps a shortest one, comes n places after the next token.
func (r *rewriter) patternAt(n int) bool {
	switch naming.Plain(r.peek(n).Text) {
	case "(", "any", "all", "shortest", "shortestpath", "allshortestpaths":
		return true
	}
	return false
}

// linkAt reports whether an arrow of a pattern comes n places after the next token.
func (r *rewriter) linkAt(n int) bool {
	second, named := r.peek(n+1), false
	if second.Kind == lex.Word && r.EdgeType(second.Text) != nil {
		named = r.peek(n+2).Text == "->" || r.peek(n+2).Text == "-"
	}
	switch r.peek(n).Text {
	case "->":
		return true
	case "<-":
		return named || second.Text == "[" || second.Text == "-"
	case "-":
		return named || second.Text == "[" || second.Text == "-" || second.Text == "->"
	case "~":
		return second.Text == "["
	case "<":
		return second.Text == "~"
	}
	return false
}

// leftJoin reads LEFT JOIN $o: Order ON $c placed $o.
func (r *rewriter) leftJoin() {
	r.expect("left")
	r.accept("outer")
	r.expect("join")
	saved := r.match
	r.match = nil
	r.item()
	if r.accept("on") {
		r.item()
		for r.accept("and") {
			r.item()
		}
	}
	r.match = append(saved, cond{op: "optional", subs: r.match})
}

// joinEdge reads DependsOn d ON d.src = $s AND d.dst = $t in a match.
func (r *rewriter) joinEdge() {
	e := r.EdgeType(r.word())
	j := &joined{edge: e, alias: naming.Lower(e.Name)}
	r.accept("as")
	if !r.is("on") {
		j.alias = r.word()
	}
	r.expect("on")
	for {
		paren := r.accept("(")
		var sides [2][2]string
		for i := range sides {
			if i > 0 && !r.accept("==") {
				r.expect("=")
			}
			if t := r.next(); t.Kind == lex.Word || t.Kind == lex.Dollar {
				sides[i][0] = t.Text
			}
			if r.accept(".") {
				sides[i][1] = r.word()
			}
		}
		if paren {
			r.expect(")")
		}
		mine, other := sides[0], sides[1]
		if mine[0] != j.alias {
			mine, other = other, mine
		}
		end := r.EndNamed(e, mine[1])
		if !r.known(other[0]) && other[1] == "" && end != "" {
			r.bind(other[0], e.EndName(end == "to"))
		}
		refuse.If(mine[0] != j.alias || !r.known(other[0]))
		j.conditions++
		switch end {
		case "from":
			j.from = other[0]
		case "to":
			j.to = other[0]
		default:
			panic(refuse.GiveUp{})
		}
		refuse.If(other[1] != "" && !r.Names(r.vars[other[0]], other[1]))
		if !r.is("and", j.alias, ".") || r.EndNamed(e, r.peek(3).Text) == "" {
			break
		}
		r.next()
	}
	r.match = append(r.match, leaf(r.edgeClause(j)))
}

// alternatives reads the ways between two nodes, as in $c (placed has | reviewed) $p.
func (r *rewriter) alternatives() {
	a := r.variable()
	r.expect("(")
	var ways [][]*naming.Relation
	for {
		var way []*naming.Relation
		typ := r.vars[a]
		for !r.isOne("|", ")") {
			if len(way) > 0 {
				r.accept("/")
			}
			rel := r.Relation(typ, r.word())
			refuse.If(rel == nil)
			way, typ = append(way, rel), rel.Other()
		}
		refuse.If(len(way) == 0 || len(ways) > 0 && typ != last(ways[0]).Other())
		ways = append(ways, way)
		if r.accept(")") {
			break
		}
		r.expect("|")
	}
	refuse.If(r.peek(0).Kind != lex.Dollar)
	b := r.next().Text
	if !r.known(b) {
		typ := last(ways[0]).Other()
		r.match = append(r.match, leaf(r.bind(b, typ)+": "+typ))
	}
	c := cond{op: "any"}
	for _, way := range ways {
		from, sub := a, cond{op: "exists"}
		for i, rel := range way {
			to := b
			if i < len(way)-1 {
				to = r.fresh(rel.Other())
			}
			sub.subs = append(sub.subs, leaf(rel.Clause(from, "", to)))
			from = to
		}
		c.subs = append(c.subs, sub)
	}
	r.match = append(r.match, c)
}

// last returns the last element of a list.
func last[T any](list []T) T { return list[len(list)-1] }

// known reports whether a name is a variable.
func (r *rewriter) known(name string) bool {
	_, ok := r.vars[name]
	return ok || r.paths[name]
}

// pathName reads `w =` before a pattern, or makes a name.
func (r *rewriter) pathName() string {
	if t := r.peek(0); (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.peek(1).Text == "=" {
		name := r.next().Text
		r.expect("=")
		r.pathPrefix()
		r.paths[name] = true
		return name
	}
	return r.newPath()
}

// pathPrefix reads the words before a pattern that choose paths: a walk lists each end once, with a shortest path.
func (r *rewriter) pathPrefix() {
	for r.isOne("any", "all", "shortest", "path", "paths", "walk", "trail") || r.peek(0).Kind == lex.Number && r.peek(0).Text == "1" {
		r.next()
	}
}

// optionalMatch reads OPTIONAL MATCH … or optional { … }.
func (r *rewriter) optionalMatch() {
	r.expect("optional")
	r.checkStage()
	saved := r.match
	r.match = nil
	r.accept("match")
	if r.accept("{") {
		for !r.accept("}") {
			r.item()
		}
	} else {
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

// binding reads $p: Person { … }, or $p: Person(level: lead).
func (r *rewriter) binding() {
	name := r.next().Text
	if !r.accept(":") {
		r.expect("is")
	}
	typ := r.NodeType(r.word())
	refuse.If(typ == "" || r.is("|"))
	known := r.known(name)
	v := r.bind(name, typ)
	var props []string
	if r.is("{") && !r.try(func() { props = r.props(typ) }) {
		r.match = append(r.match, leaf(v+": "+typ))
		r.match = append(r.match, r.filters(scope{node: name})...)
		return
	}
	if r.is("(") && r.peek(1).Kind == lex.Word && r.peek(2).Text == ":" {
		r.match = append(r.match, leaf(v+": "+typ))
		r.arguments(&r.read, scope{node: name})
		return
	}
	if known && len(props) == 0 && slices.ContainsFunc(r.match, func(c cond) bool { return c.text == v+": "+typ }) {
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
	if r.peek(i).Kind == lex.Dollar && r.peek(i+1).Text == ":" {
		i += 2
	}
	if r.peek(i).Text == "<" && r.peek(i+1).Kind == lex.Word {
		return true
	}
	return r.peek(i).Kind == lex.Word && r.EdgeType(r.peek(i).Text) != nil
}

// traversal reads $p knows{1,3} $q. A shortest one gets a variable for the walk.
func (r *rewriter) traversal(shortest bool) {
	a := r.next().Text
	bound := ""
	if r.peek(0).Kind == lex.Dollar {
		bound = r.next().Text
		r.expect(":")
	}
	either := r.accept("<")
	var names []string
	from, to := "", ""
	for {
		e := r.EdgeType(r.word())
		refuse.If(e == nil)
		names, from, to = append(names, naming.Lower(e.Name)), e.EndName(false), e.EndName(true)
		if !r.accept("|") {
			break
		}
	}
	if either {
		r.expect(">")
	}
	edge := strings.Join(names, "|")
	if either {
		edge = "<" + edge + ">"
	}
	walks, braces := true, 0
	if r.is("(") && r.peek(1).Kind == lex.Word && r.isAt(2, ":") {
		r.edgeArguments()
	}
	switch {
	case r.is("{") && r.peek(1).Kind == lex.Word: // the properties of the edge
		walks, braces = false, r.at
		r.skipGroup()
	case r.accept("*"):
		edge += r.bounds("..")
	case r.accept("+"):
		edge += "{1,64}"
	case r.accept("{"):
		edge += r.bounds(",")
		r.expect("}")
	default:
		walks = false
	}
	if (shortest || r.shortest) && walks && bound == "" {
		bound = r.newPath()
	}
	if k := r.peek(0).Kind; k != lex.Dollar && k != lex.Word {
		panic(refuse.GiveUp{})
	}
	b := r.next().Text
	if !walks && bound == "" && r.is("as") && r.peek(1).Kind == lex.Dollar {
		r.next()
		bound = r.next().Text
	}
	if len(names) == 1 && !walks && bound == "" {
		bound = r.edgeByType(names[0])
	}
	if braces > 0 && bound == "" {
		bound = r.fresh(r.EdgeType(names[0]).Name)
	}
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
			r.bind(bound, r.EdgeType(names[0]).Name)
		}
		edge = "$" + naming.Lower(bound) + ":" + edge
	}
	r.match = append(r.match, leaf(left+" "+edge+" "+r.bind(b, to)))
	if braces > 0 {
		after := r.at
		r.at = braces
		r.match = append(r.match, r.filters(scope{node: bound})...)
		r.at = after
	}
}

// edgeArguments reads the properties of an edge in parentheses in a traversal, as in $a wrote(role: translator) $w, as
// if they stood in braces.
func (r *rewriter) edgeArguments() {
	depth := 0
	for i := r.at; i < len(r.tokens); i++ {
		switch t := r.tokens[i]; {
		case t.Kind == lex.Mark && t.Text == "(":
			depth++
		case t.Kind == lex.Mark && t.Text == ")":
			if depth--; depth == 0 {
				r.tokens = slices.Clone(r.tokens)
				r.tokens[r.at].Text, r.tokens[i].Text = "{", "}"
				return
			}
		}
	}
	panic(refuse.GiveUp{})
}
