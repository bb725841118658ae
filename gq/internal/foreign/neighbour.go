package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// quantifiers maps the words of GraphQL servers for how many nodes of a relation a filter has to fit.
var quantifiers = map[string]string{"some": "some", "any": "some", "is": "some", "none": "none", "isnot": "none", "every": "every", "all": "every", "not": "none"}

// neighbours reads a filter on the nodes at the other end of a relation, as in
// placed: { some: { paid: true } } or placed: { paid: true }.
func (r *rewriter) neighbours(sc scope, rel *relation) cond {
	if c, ok := r.anyNeighbour(sc, rel); ok {
		return c
	}
	if quantifiers[plain(r.peek(1).text)] == "" || r.peek(2).text != ":" || plain(r.peek(1).text) == "not" || !r.isAt(3, "{") {
		return r.quantifiedRelation(sc, rel, "some")
	}
	r.expect("{")
	c := cond{op: "all"}
	for !r.accept("}") {
		if r.accept(",") {
			continue
		}
		quantifier := quantifiers[plain(r.word())]
		r.expect(":")
		c.subs = append(c.subs, r.quantifiedRelation(sc, rel, quantifier))
	}
	return all(c.subs)
}

// anyNeighbour reads null, { exists: false } and { isNull: true } as a filter of a relation.
func (r *rewriter) anyNeighbour(sc scope, rel *relation) (c cond, ok bool) {
	exists := cond{op: "exists", subs: []cond{leaf(rel.clause(sc.node, "", ""))}}
	none := cond{op: "not", subs: exists.subs}
	if r.accept("null") {
		return none, true
	}
	name := plain(r.peek(1).text)
	if r.peek(2).text != ":" || r.property(rel.other(), r.peek(1).text) != nil {
		return cond{}, false
	}
	switch name {
	case "exists", "isnull", "null", "notnull":
		if !r.isAt(4, "}") || !r.peek(3).are("true") && !r.peek(3).are("false") {
			return cond{}, false
		}
		yes := r.peek(3).are("true") == (name == "exists" || name == "notnull")
		r.skipGroup()
		if yes {
			return exists, true
		}
		return none, true
	}
	return cond{}, false
}

// quantifiedRelation reads the filter in braces on the nodes of a relation and on its edges, and writes the condition that some,
// none or every one of them fits it.
func (r *rewriter) quantifiedRelation(sc scope, rel *relation, quantifier string) cond {
	to := r.fresh(rel.other())
	inner := scope{node: to, edge: &edgeScope{edge: rel.edge}}
	filters := r.filters(inner)
	traversal := leaf(rel.clause(sc.node, inner.edge.name, to))
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
	panic(giveUp{})
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
	plainBase := plain(base)
	rel := r.relation(typ, base)
	if cut, found := strings.CutSuffix(plainBase, "connection"); found && rel == nil {
		rel = r.relation(typ, cut)
	}
	if rel == nil || plainBase == plain(name) && !strings.HasSuffix(plainBase, "connection") {
		return cond{}, false
	}
	if quantifier == "none" && r.accept("null") {
		return cond{op: "exists", subs: []cond{leaf(rel.clause(sc.node, "", ""))}}, true
	}
	return r.quantifiedRelation(sc, rel, quantifier), true
}

// throughEdge reads the filter after node, edge or the name of the type of the node, in a filter on the nodes of a relation.
func (r *rewriter) throughEdge(sc scope, name string) (out []cond, ok bool) {
	if sc.edge == nil || !r.is("{") {
		return nil, false
	}
	switch {
	case isEdgeWrapper(name):
		return r.filters(scope{node: r.edgeOf(sc)}), true
	case plain(name) == "node" || r.tableNode(name) != "" && r.tableNode(name) == r.vars[sc.node]:
		return r.filters(sc), true
	}
	return nil, false
}

// isEdgeWrapper reports whether a field holds the properties of an edge.
func isEdgeWrapper(name string) bool {
	return slices.Contains([]string{"edge", "properties", "relationship", "edgeproperties"}, plain(name))
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
	return r.property(sc.edge.edge.Name, name)
}

// nodeApart reports whether the selection that begins at the next token has a field of its own for the node, such as node
// or the name of its type. The other fields then mean the edge first.
func (r *rewriter) nodeApart(sc scope) bool {
	if sc.edge == nil {
		return false
	}
	typ, depth := r.vars[sc.node], 0
	for i := r.at; i < len(r.tokens); i++ {
		t := r.tokens[i]
		switch {
		case t.kind == mark && strings.Contains("{([", t.text):
			depth++
		case t.kind == mark && strings.Contains("})]", t.text):
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && t.kind == word && tokens(r.tokens[i+1:]).at(0).text == "{" && r.property(typ, t.text) == nil:
			if plain(t.text) == "node" || r.tableNode(t.text) == typ && r.relation(typ, t.text) == nil {
				return true
			}
		}
	}
	return false
}
