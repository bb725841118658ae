package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// hop is a step from a node to one of its neighbours in an expression such as $o.shipsTo.country.
type hop struct {
	relation *relation
	variable string
}

// access reads the names after the dot of a variable: a property, a property over edges such as
// $o.shipsTo.country, or a part of a time such as $p.born.year.
func (r *rewriter) access(variable string) string {
	name := r.memberName()
	for r.is(".") && r.peek(1).kind == word {
		typ := r.vars[variable]
		if p := r.property(typ, name); p != nil {
			part := strings.ToLower(r.peek(1).text)
			refuse(timeParts[part] == "")
			r.skipTwo()
			return timePart(part, r.member(variable, name))
		}
		rel := r.relation(typ, name)
		refuse(rel == nil || r.inWhere != "")
		r.next()
		to := r.fresh(rel.other())
		r.hops = append(r.hops, leaf(rel.clause(variable, "", to)))
		r.hopLast = hop{rel, to}
		variable, name = to, r.memberName()
	}
	return r.member(variable, name)
}

// memberName reads the name of a property, perhaps in quotes.
func (r *rewriter) memberName() string {
	t := r.next()
	refuse(t.kind != word && t.kind != text)
	return t.text
}

// alone returns an expression of a place that cannot hold the traversals of properties over edges.
func (r *rewriter) alone(e string) string {
	refuse(len(r.hops) > 0)
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
	if len(hops) == 1 && h.relation.single() {
		if h.relation.edge.Card.Min < 1 {
			hops = []cond{{op: "optional", subs: hops}}
		}
		r.match = append(r.match, hops...)
		return alias, e
	}
	if alias == "" {
		alias = e[strings.LastIndexAny(e, "$.")+1:]
		alias = alias[:wordLen(alias)]
	}
	value := "$" + lower(h.variable) + "."
	if open := strings.IndexByte(e, '('); open > 0 && strings.HasPrefix(e[open+1:], value) && strings.HasSuffix(e, ")") {
		switch name := e[:open]; name {
		case "sum", "min", "max", "avg":
			return alias, name + " { " + join(hops) + " return " + e[open+1:len(e)-1] + " }"
		}
	}
	refuse(!strings.HasPrefix(e, value) || wordLen(e[len(value):]) != len(e)-len(value))
	return alias, "collect { " + join(hops) + " return { " + e + " as " + alias + " } limit 1000 }"
}

// related reads the argument of count or size in parentheses if it is a relation of a variable, as in
// count($c.placed), and writes a block that counts the neighbours.
func (r *rewriter) related() (block string, ok bool) {
	v := r.peek(0)
	if v.kind != dollar && v.kind != word || r.peek(1).text != "." || r.peek(3).text != ")" {
		return "", false
	}
	typ := r.vars[v.text]
	rel := r.relation(typ, r.peek(2).text)
	if rel == nil || r.property(typ, r.peek(2).text) != nil {
		return "", false
	}
	for range 4 {
		r.next()
	}
	return "count { " + rel.clause(v.text, "", "") + " }", true
}

// edgeByType binds an edge without a variable if the text uses a property of it by the name of its type,
// as in Reviewed.stars. It returns the variable, or "".
func (r *rewriter) edgeByType(name string) string {
	for i := r.at; i+1 < len(r.tokens); i++ {
		t := r.tokens[i]
		selected := r.tokens[i+1].text == "{" && i > 0 && slices.Contains([]string{":", "{", ","}, r.tokens[i-1].text)
		if t.kind == word && (selected || r.tokens[i+1].text == ".") && plain(t.text) == plain(name) && !r.known(t.text) && r.nodeType(t.text) == "" && (i == 0 || r.tokens[i-1].text != ".") {
			r.bind(t.text, r.edgeType(name).Name)
			return t.text
		}
	}
	return r.edgeByProperty(r.edgeType(name))
}

// edgeByProperty binds an edge that has no variable to a name that nothing declares: the text reads only
// properties of this edge by the name, and no other edge of the text has all of them.
func (r *rewriter) edgeByProperty(e *catalog.Edge) string {
	if r.unread[e] {
		return ""
	}
	used := map[string][]string{} // by name that nothing declares: the properties that the text reads
	declared := map[string]bool{}
	named := map[*catalog.Edge]int{}
	for i, t := range r.tokens {
		if t.kind != word && t.kind != dollar || i > 0 && (r.tokens[i-1].text == "." || r.tokens[i-1].are("query") || r.tokens[i-1].are("mutation")) {
			continue
		}
		if other := r.edgeType(t.text); other != nil && t.kind == word {
			named[other]++
		}
		if next := tokens(r.tokens[i+1:]); next.at(0).text == "." && next.at(1).kind == word {
			used[t.text] = append(used[t.text], next.at(1).text)
		} else {
			declared[t.text] = true
		}
	}
	reads := func(e *catalog.Edge, properties []string) bool {
		return !slices.ContainsFunc(properties, func(p string) bool { return r.property(e.Name, p) == nil })
	}
	found, candidates := "", false
	for _, t := range r.tokens {
		properties := used[t.text]
		if len(properties) == 0 || t.text == found || declared[t.text] || r.declared(t.text) || r.nodeType(t.text) != "" || !reads(e, properties) {
			continue
		}
		candidates = true
		if r.known(t.text) {
			continue
		}
		if found != "" || named[e] > 1 {
			return ""
		}
		for other := range named {
			if other != e && reads(other, used[t.text]) {
				return ""
			}
		}
		found = t.text
	}
	if !candidates {
		if r.unread == nil {
			r.unread = map[*catalog.Edge]bool{}
		}
		r.unread[e] = true
	}
	if found != "" {
		r.bind(found, e.Name)
		r.note(found + " is the edge " + lower(e.Name) + ", which has no variable in the text")
	}
	return found
}

// byType returns the only variable of a node type, which a text may use by the name of the type, or "".
func (r *rewriter) byType(name string) string {
	typ, found := r.tableNode(name), ""
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
