package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// hop is a step from a node to one of its neighbours in an expression such as $o.shipsTo.country.
type hop struct {
	relation *naming.Relation
	variable string
}

// access reads the names after the dot of a variable: a property, a property over edges such as
// $o.shipsTo.country, or a part of a time such as $p.born.year.
func (r *rewriter) access(variable string) string {
	name := r.MemberName()
	for r.Is(".") && r.Peek(1).Kind == lex.Word {
		typ := r.vars[variable]
		if p := r.Property(typ, name); p != nil {
			part := strings.ToLower(r.Peek(1).Text)
			refuse.If(timeParts[part] == "")
			r.SkipTwo()
			return timePart(part, r.member(variable, name))
		}
		rel := r.Relation(typ, name)
		refuse.If(rel == nil || r.inWhere != "")
		r.Next()
		to := r.fresh(rel.Other())
		r.hops = append(r.hops, leaf(rel.Clause(variable, "", to)))
		r.hopLast = hop{rel, to}
		variable, name = to, r.MemberName()
	}
	return r.member(variable, name)
}

// alone returns an expression of a place that cannot hold the traversals of properties over edges.
func (r *rewriter) alone(e string) string {
	refuse.If(len(r.hops) > 0)
	return e
}

// overEdges reads a condition with read, and puts the traversals that its properties need around it.
func (r *rewriter) overEdges(read func() cond) cond {
	saved := r.hops
	r.hops = nil
	c := read()
	if len(r.hops) > 0 {
		c = cond{op: "exists", subs: append(r.hops, c)}
	}
	r.hops = saved
	return c
}

// columnOverEdges changes a column that reads properties over edges: a node that has exactly one such
// edge needs a traversal, and others need a block.
func (r *rewriter) columnOverEdges(alias, e string) (newAlias, expr string) {
	hops := r.hops
	r.hops = nil
	if len(hops) == 0 {
		return alias, e
	}
	h := r.hopLast
	if len(hops) == 1 && h.relation.Single() {
		if h.relation.Edge.Card.Min < 1 {
			hops = []cond{{op: "optional", subs: hops}}
		}
		r.match = append(r.match, hops...)
		return alias, e
	}
	if alias == "" {
		alias = e[strings.LastIndexAny(e, "$.")+1:]
		alias = alias[:lex.WordLen(alias)]
	}
	value := "$" + naming.Lower(h.variable) + "."
	if open := strings.IndexByte(e, '('); open > 0 && strings.HasPrefix(e[open+1:], value) && strings.HasSuffix(e, ")") {
		switch name := e[:open]; name {
		case "sum", "min", "max", "avg":
			return alias, name + " { " + join(hops) + " return " + e[open+1:len(e)-1] + " }"
		}
	}
	refuse.If(!strings.HasPrefix(e, value) || lex.WordLen(e[len(value):]) != len(e)-len(value))
	return alias, "collect { " + join(hops) + " return { " + e + " as " + alias + " } limit 1000 }"
}

// related reads the argument of count or size in parentheses if it is a relation of a variable, as in
// count($c.placed), and writes a block that counts the neighbours.
func (r *rewriter) related() (block string, ok bool) {
	v := r.Peek(0)
	if v.Kind != lex.Dollar && v.Kind != lex.Word || r.Peek(1).Text != "." || r.Peek(3).Text != ")" {
		return "", false
	}
	typ := r.vars[v.Text]
	rel := r.Relation(typ, r.Peek(2).Text)
	if rel == nil || r.Property(typ, r.Peek(2).Text) != nil {
		return "", false
	}
	for range 4 {
		r.Next()
	}
	return "count { " + rel.Clause(v.Text, "", "") + " }", true
}

// edgeByType binds an edge without a variable if the text uses a property of it by the name of its type,
// as in Reviewed.stars. It returns the variable, or "".
func (r *rewriter) edgeByType(name string) string {
	for i := r.At; i+1 < len(r.Tokens); i++ {
		t := r.Tokens[i]
		selected := r.Tokens[i+1].Text == "{" && i > 0 && slices.Contains([]string{":", "{", ","}, r.Tokens[i-1].Text)
		if t.Kind == lex.Word && (selected || r.Tokens[i+1].Text == ".") && naming.Plain(t.Text) == naming.Plain(name) && !r.known(t.Text) && r.NodeType(t.Text) == "" && (i == 0 || r.Tokens[i-1].Text != ".") {
			r.bind(t.Text, r.EdgeType(name).Name)
			return t.Text
		}
	}
	return ""
}

// byType returns the only variable of a node type, which a text may use by the name of the type, or "".
func (r *rewriter) byType(name string) string {
	typ, found := r.TableNode(name), ""
	if typ == "" {
		return ""
	}
	for _, v := range r.order {
		if r.vars[v] == typ {
			if found != "" {
				return ""
			}
			found = v
		}
	}
	return found
}

// quantifiers maps the words of GraphQL servers for how many nodes of a relation a filter has to fit.
var quantifiers = map[string]string{"some": "some", "any": "some", "is": "some", "none": "none", "isnot": "none", "every": "every", "all": "every", "not": "none"}

// neighbours reads a filter on the nodes at the other end of a relation, as in
// placed: { some: { paid: true } } or placed: { paid: true }.
func (r *rewriter) neighbours(sc scope, rel *naming.Relation) cond {
	if c, ok := r.anyNeighbour(sc, rel); ok {
		return c
	}
	if quantifiers[naming.Plain(r.Peek(1).Text)] == "" || r.Peek(2).Text != ":" || naming.Plain(r.Peek(1).Text) == "not" || !r.IsAt(3, "{") {
		return r.quantifiedRelation(sc, rel, "some")
	}
	r.Expect("{")
	c := cond{op: "all"}
	for r.More("}") {
		quantifier := quantifiers[naming.Plain(r.Word())]
		r.Expect(":")
		c.subs = append(c.subs, r.quantifiedRelation(sc, rel, quantifier))
	}
	return all(c.subs)
}

// anyNeighbour reads null, { exists: false } and { isNull: true } as a filter of a relation.
func (r *rewriter) anyNeighbour(sc scope, rel *naming.Relation) (c cond, ok bool) {
	some := func(exists bool) cond {
		return cond{op: map[bool]string{true: "exists", false: "not"}[exists], subs: []cond{leaf(rel.Clause(sc.node, "", ""))}}
	}
	if r.Accept("null") {
		return some(false), true
	}
	name := naming.Plain(r.Peek(1).Text)
	if r.Peek(2).Text != ":" || r.Property(rel.Other(), r.Peek(1).Text) != nil {
		return cond{}, false
	}
	positive := name == "exists" || name == "notnull"
	named := positive || name == "isnull" || name == "null"
	if !named || !r.IsAt(4, "}") || !r.Peek(3).Are("true") && !r.Peek(3).Are("false") {
		return cond{}, false
	}
	yes := r.Peek(3).Are("true") == positive
	r.SkipGroup()
	return some(yes), true
}

// quantifiedRelation reads the filter in braces on the nodes of a relation and on its edges, and writes the condition that some,
// none or every one of them fits it.
func (r *rewriter) quantifiedRelation(sc scope, rel *naming.Relation, quantifier string) cond {
	inner := r.across(rel)
	filters := r.filters(inner)
	traversal := leaf(rel.Clause(sc.node, inner.edge.name, inner.node))
	subs := append([]cond{traversal}, filters...)
	switch quantifier {
	case "some":
		return cond{op: "exists", subs: subs}
	case "none":
		return cond{op: "not", subs: subs}
	case "every":
		if len(filters) > 0 {
			return cond{op: "not", subs: []cond{traversal, r.negated(all(filters))}}
		}
	}
	panic(refuse.GiveUp{})
}

// relationSuffixes are the words that servers append to the name of a relation in a filter, with their quantifiers.
var relationSuffixes = []struct{ suffix, quantifier string }{{"_some", "some"}, {"_none", "none"}, {"_every", "every"}, {"_all", "every"}, {"_not", "none"}}

// suffixedRelation reads the filter after a name such as reviews_NONE, reviewsConnection_SOME or reviewsAggregate.
func (r *rewriter) suffixedRelation(sc scope, name string) (c cond, ok bool) {
	typ, quantifier := r.vars[sc.node], "some"
	base := strings.ToLower(name)
	for _, s := range relationSuffixes {
		if cut, found := strings.CutSuffix(base, s.suffix); found {
			base, quantifier = cut, s.quantifier
			break
		}
	}
	plainBase := naming.Plain(base)
	rel := r.Relation(typ, base)
	if cut, found := strings.CutSuffix(plainBase, "connection"); found && rel == nil {
		rel = r.Relation(typ, cut)
	}
	if rel == nil || plainBase == naming.Plain(name) && !strings.HasSuffix(plainBase, "connection") {
		return cond{}, false
	}
	if quantifier == "none" && r.Accept("null") {
		return cond{op: "exists", subs: []cond{leaf(rel.Clause(sc.node, "", ""))}}, true
	}
	return r.quantifiedRelation(sc, rel, quantifier), true
}

// throughEdge reads the filter after node, edge or the name of the type of the node, in a filter on the nodes of a relation.
func (r *rewriter) throughEdge(sc scope, name string) (out []cond, ok bool) {
	if sc.edge == nil || !r.Is("{") {
		return nil, false
	}
	switch {
	case isEdgeWrapper(name):
		return r.filters(scope{node: r.edgeOf(sc)}), true
	case naming.Plain(name) == "node" || r.TableNode(name) != "" && r.TableNode(name) == r.vars[sc.node]:
		return r.filters(sc), true
	}
	return nil, false
}

// isEdgeWrapper reports whether a field holds the properties of an edge.
func isEdgeWrapper(name string) bool {
	return slices.Contains([]string{"edge", "properties", "relationship", "edgeproperties"}, naming.Plain(name))
}

// edgeOf returns the variable of the edge of a scope, which it binds first.
func (r *rewriter) edgeOf(sc scope) string {
	if sc.edge.name == "" {
		sc.edge.name = r.fresh(sc.edge.edge.Name)
	}
	return sc.edge.name
}

// edgeProperty returns the property of the edge of a scope that a name means, or nil.
func (r *rewriter) edgeProperty(sc scope, name string) *catalog.Property {
	if sc.edge == nil {
		return nil
	}
	return r.Property(sc.edge.edge.Name, name)
}

// nodeApart reports whether the selection that begins at the next token has a field of its own for the node, such as node
// or the name of its type. The other fields then mean the edge first.
func (r *rewriter) nodeApart(sc scope) bool {
	if sc.edge == nil {
		return false
	}
	typ, rest := r.vars[sc.node], r.Rest().Inner()
	for i, t := range rest.Outside() {
		if t.Kind == lex.Word && rest.At(i+1).Text == "{" && r.Property(typ, t.Text) == nil && (naming.Plain(t.Text) == "node" || r.TableNode(t.Text) == typ && r.Relation(typ, t.Text) == nil) {
			return true
		}
	}
	return false
}
