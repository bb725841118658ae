package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// item reads one clause of a match.
func (r *rewriter) item() {
	switch t := r.Peek(0); {
	case r.Is("match", "{"):
		r.Next()
		r.match = append(r.match, r.braced()...)
	case r.Accept(","), r.Accept(";"), r.Accept("and"), r.Accept("&&"), r.Accept("match"), r.Accept("on"):
	case r.Is("where"), r.Is("filter"):
		r.Accept("filter")
		r.Accept("where")
		if r.Is("{") {
			r.match = append(r.match, r.braced()...)
			return
		}
		r.match = append(r.match, r.condition())
	case r.Is("optional"):
		r.optionalMatch()
	case r.Is("any", "shortest"), r.Is("all", "shortest"), r.Is("shortest"):
		for r.Accept("any") || r.Accept("all") || r.Accept("shortest") || r.Peek(0).Kind == lex.Number && r.Accept(r.Peek(0).Text) {
		}
		if r.Peek(0).Kind == lex.Dollar && r.Peek(1).Text != "=" {
			r.traversal(true)
			return
		}
		r.pattern(r.pathName())
	case r.Is("any", "(") && (r.IsAt(2, "(", ")", ":") || r.IsAt(3, ":", ")")) && !r.known(r.Peek(2).Text), r.Is("any") && r.IsAt(2, "="):
		r.Next() // any path between two ends
	case (r.Is("trail") || r.Is("walk")) && (r.IsAt(1, "(") || r.Peek(2).Text == "="):
		r.Next() // a walk lists each end once, so its mode makes no difference
	case (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.Peek(1).Text == "=" && !r.known(t.Text) && r.PatternAt(2):
		r.pattern(r.pathName())
	case (r.Is("_or") || r.Is("or") || r.Is("_and") || r.Is("and")) && r.Peek(1).Text == ":":
		refuse.If(len(r.order) == 0)
		r.match = append(r.match, r.logic(scope{node: r.order[len(r.order)-1]}))
	case t.Kind == lex.Dollar && r.Peek(1).Text == ":" && r.Peek(2).Text == "{":
		v := r.variable()
		r.Next()
		r.match = append(r.match, r.filters(scope{node: v})...)
	case t.Kind == lex.Dollar && r.Peek(1).Text == ":", t.Kind == lex.Word && r.IsAt(1, ":") && r.NodeType(r.Peek(2).Text) != "", t.Kind == lex.Dollar && r.Peek(1).Are("is") && r.NodeType(r.Peek(2).Text) != "":
		r.binding()
		if r.linkAt(0) { // $p: Person -[memberOf]-> $t
			r.patternFrom("", nodeRef{name: t.Text, typ: r.vars[t.Text]})
		}
	case t.Kind == lex.Word && r.NodeType(t.Text) != "" && !r.known(t.Text) && r.Peek(1).Kind == lex.Word && r.EdgeType(r.Peek(1).Text) == nil && !slices.Contains(lex.Starters, strings.ToLower(r.Peek(1).Text)) && r.Peek(2).Kind != lex.Mark:
		typ := r.NodeType(r.Word()) // Product p
		r.match = append(r.match, leaf(r.bind(r.Word(), typ)+": "+typ))
	case t.Kind == lex.Dollar && r.Peek(1).Text == "." && r.Peek(3).Text == ":":
		v := r.variable()
		r.Next()
		r.match = append(r.match, r.filterOf(scope{node: v}, r.Word())...)
	case t.Kind == lex.Dollar && r.edgeNext():
		r.traversal(false)
	case t.Kind == lex.Dollar && r.linkAt(1):
		r.pattern("")
	case r.Is("("):
		var clauses []cond
		if r.try(func() { clauses = r.patternClauses() }) {
			r.match = append(r.match, clauses...)
			return
		}
		r.match = append(r.match, r.condition())
	case r.IsOne("shortestpath", "allshortestpaths"):
		r.pattern("")
	default:
		r.match = append(r.match, r.condition())
	}
}

// linkAt reports whether an arrow of a pattern comes n places after the next token.
func (r *rewriter) linkAt(n int) bool {
	second, named := r.Peek(n+1), false
	if second.Kind == lex.Word && r.EdgeType(second.Text) != nil {
		named = r.Peek(n+2).Text == "->" || r.Peek(n+2).Text == "-"
	}
	switch r.Peek(n).Text {
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

// last returns the last element of a list.
func last[T any](list []T) T { return list[len(list)-1] }

// known reports whether a name is a variable.
func (r *rewriter) known(name string) bool {
	_, ok := r.vars[name]
	return ok || r.paths[name]
}

// pathName reads `w =` before a pattern, or makes a name.
func (r *rewriter) pathName() string {
	if t := r.Peek(0); (t.Kind == lex.Word || t.Kind == lex.Dollar) && r.Peek(1).Text == "=" {
		name := r.Next().Text
		r.Expect("=")
		r.PathPrefix()
		r.paths[name] = true
		return name
	}
	return r.newPath()
}

// optionalMatch reads OPTIONAL MATCH … or optional { … }.
func (r *rewriter) optionalMatch() {
	r.Expect("optional")
	r.checkStage()
	inner := r.clauses(func() {
		r.Accept("match")
		if r.Is("{") {
			r.match = r.braced()
			return
		}
		for more := true; more; more = r.Accept(",") {
			r.item()
		}
		if r.Accept("where") {
			r.match = append(r.match, r.condition())
		}
	})
	r.match = append(r.match, cond{op: "optional", subs: inner})
}

// binding reads $p: Person { … }, or $p: Person(level: lead).
func (r *rewriter) binding() {
	name := r.Next().Text
	if !r.Accept(":") {
		r.Expect("is")
	}
	typ := r.NodeType(r.Word())
	refuse.If(typ == "" || r.Is("|"))
	known := r.known(name)
	v := r.bind(name, typ)
	var props []string
	if r.Is("{") && !r.try(func() { props = r.props(typ) }) {
		r.match = append(r.match, leaf(v+": "+typ))
		r.match = append(r.match, r.filters(scope{node: name})...)
		return
	}
	if r.Is("(") && r.Peek(1).Kind == lex.Word && r.Peek(2).Text == ":" {
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
	if r.Peek(i).Kind == lex.Dollar && r.Peek(i+1).Text == ":" {
		i += 2
	}
	if r.Peek(i).Text == "<" && r.Peek(i+1).Kind == lex.Word {
		return true
	}
	return r.Peek(i).Kind == lex.Word && r.EdgeType(r.Peek(i).Text) != nil
}

// traversal reads $p knows{1,3} $q. If the walk must be a shortest one, it gets a variable, which a path of GQ needs.
func (r *rewriter) traversal(shortest bool) {
	a := r.Next().Text
	bound := ""
	if r.Peek(0).Kind == lex.Dollar {
		bound = r.Next().Text
		r.Expect(":")
	}
	names, edge, from, to := r.edgeTypes()
	if r.Is("(") && r.Peek(1).Kind == lex.Word && r.IsAt(2, ":") {
		r.EdgeArguments()
	}
	propertiesAt := -1 // token at which the properties of the edge begin
	if r.Is("{") && r.Peek(1).Kind == lex.Word {
		propertiesAt = r.At
		r.SkipGroup()
	}
	bounds := ""
	if propertiesAt < 0 {
		bounds = r.walkBounds()
	}
	walks := bounds != ""
	if (shortest || r.shortest) && walks && bound == "" {
		bound = r.newPath()
	}
	if k := r.Peek(0).Kind; k != lex.Dollar && k != lex.Word {
		panic(refuse.GiveUp{})
	}
	b := r.Next().Text
	if !walks && bound == "" && r.Is("as") && r.Peek(1).Kind == lex.Dollar {
		r.Next()
		bound = r.Next().Text
	}
	if len(names) == 1 && !walks && bound == "" {
		bound = r.edgeByType(names[0])
	}
	if propertiesAt >= 0 && bound == "" {
		bound = r.fresh(r.EdgeType(names[0]).Name)
	}
	if len(names) > 1 || walks {
		from, to = "", ""
	}
	if from != to && r.vars[a] == to {
		from, to = to, from // $a is known to be at the target: only the types change places, not the text
	}
	left := r.bind(a, from)
	edge += bounds
	if bound != "" {
		if walks {
			r.paths[bound] = true
		} else {
			r.bind(bound, r.EdgeType(names[0]).Name)
		}
		edge = "$" + naming.Lower(bound) + ":" + edge
	}
	r.match = append(r.match, leaf(left+" "+edge+" "+r.bind(b, to)))
	if propertiesAt >= 0 {
		after := r.At
		r.At = propertiesAt
		r.match = append(r.match, r.filters(scope{node: bound})...)
		r.At = after
	}
}

// edgeTypes reads the edge types of a traversal: knows, knows|likes or, if it is undirected, <knows>. The ends are those of
// the last type.
func (r *rewriter) edgeTypes() (names []string, text, from, to string) {
	undirected := r.Accept("<")
	for {
		e := r.EdgeType(r.Word())
		refuse.If(e == nil)
		names, from, to = append(names, naming.Lower(e.Name)), e.EndName(false), e.EndName(true)
		if !r.Accept("|") {
			break
		}
	}
	text = strings.Join(names, "|")
	if undirected {
		r.Expect(">")
		text = "<" + text + ">"
	}
	return names, text, from, to
}

// walkBounds reads the bounds of a walk, and returns them as the language writes them, or "" if the traversal is not a walk.
func (r *rewriter) walkBounds() string {
	if r.Accept("*") {
		return r.Bounds("..")
	}
	return r.quantifier()
}
