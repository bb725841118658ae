package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/cursor"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// nodeRef is a node of a pattern such as (p:Person {name: 'Ann'})-[:KNOWS]->(q).
type nodeRef struct {
	name   string // of the variable, or ""
	typ    string
	props  []string // the conditions in braces, as `name: value`
	filter []cond   // the conditions after WHERE
	isNew  bool     // the variable was not known before
}

// link is an edge of a pattern.
type link struct {
	name   string // of the variable, or ""
	types  []*catalog.Edge
	left   bool   // it points to the left
	both   bool   // it has no direction
	bounds string // such as {1,3}, or ""
	props  []string
	filter []cond // the conditions after WHERE
	differ bool   // another edge of the pattern must be another one
}

// parseCount checks that a text is a number and returns it without a sign.
func parseCount(s string) (string, error) {
	_, err := strconv.ParseUint(s, 10, 31)
	return s, err
}

// patternClauses reads a pattern and returns its clauses.
func (r *rewriter) patternClauses() []cond {
	return r.clauses(func() { r.pattern("") })
}

// comprehension reads a pattern, perhaps with conditions after WHERE, and the bar after it in a list of Cypher.
func (r *rewriter) comprehension() []cond {
	r.Expect("[")
	out := r.clauses(func() {
		r.pattern("")
		if r.Accept("where") {
			r.match = append(r.match, r.condition())
		}
	})
	r.Expect("|")
	return out
}

// pattern reads a pattern and appends its clauses to r.match. The path is the name of the variable of
// the walk, or "".
func (r *rewriter) pattern(path string) {
	if r.IsOne("shortestpath", "allshortestpaths") {
		r.Next()
		r.Expect("(")
		if path == "" {
			path = r.newPath()
		}
		r.pattern(path)
		r.Expect(")")
		return
	}
	r.patternFrom(path, r.node())
}

// patternFrom reads a pattern after its first node.
func (r *rewriter) patternFrom(path string, first nodeRef) {
	nodes := []nodeRef{first}
	var links []link
	for r.IsOne("-", "<-", "~", "<", "->") {
		links = append(links, r.link())
		nodes = append(nodes, r.node())
	}
	refuse.If(path != "" && len(links) != 1)
	for _, n := range nodes { // the names of the others must differ from these
		if n.name != "" {
			r.bind(n.name, n.typ)
		}
	}
	for i := range nodes {
		r.settle(nodes, links, i)
	}
	for i := range links {
		for j := range i {
			r.distinguish(nodes, links, j, i)
		}
	}
	for i, l := range links {
		r.writeLink(path, nodes[i], l, nodes[i+1])
		for j := range i {
			r.differ(nodes, links, j, i)
		}
	}
}

// sameEdge reports whether two edges of a pattern could be one edge of the graph. A pattern of Cypher and ISO GQL takes each
// edge once.
func (r *rewriter) sameEdge(nodes []nodeRef, links []link, i, j int) bool {
	a, b := links[i], links[j]
	if a.bounds+b.bounds != "" || len(a.types) != 1 || len(b.types) != 1 || a.types[0] != b.types[0] {
		return false
	}
	if a.both || b.both {
		return true
	}
	from, to := nodes[i], nodes[i+1]
	if a.left {
		from, to = to, from
	}
	otherFrom, otherTo := nodes[j], nodes[j+1]
	if b.left {
		otherFrom, otherTo = otherTo, otherFrom
	}
	return !r.apart(from, otherFrom) && !r.apart(to, otherTo)
}

// apart reports whether the types of two nodes, or the rest of the text, say that they differ.
func (r *rewriter) apart(a, b nodeRef) bool {
	x, y := r.Schema.Node(r.vars[a.name]), r.Schema.Node(r.vars[b.name])
	return a.name != "" && b.name != "" && a.name != b.name && (x != nil && y != nil && x != y || r.ComparedLater(a.name, b.name))
}

// distinguish gives variables to two edges that must differ, if the nodes at their ends do not tell them apart.
func (r *rewriter) distinguish(nodes []nodeRef, links []link, i, j int) {
	if !r.sameEdge(nodes, links, i, j) || !naming.Parallel(links[i].types[0]) && !links[i].both && !links[j].both && r.differingEnd(nodes, links, i, j) != "" {
		return
	}
	for _, l := range []*link{&links[i], &links[j]} {
		if l.differ = true; l.name == "" {
			l.name = r.fresh(l.types[0].Name)
		}
	}
}

// differingEnd writes that the nodes differ from which two edges lead to one node, or "" if the edges do not meet so.
func (r *rewriter) differingEnd(nodes []nodeRef, links []link, i, j int) string {
	a, b := nodes[i], nodes[j+1]
	if j != i+1 || links[i].left == links[j].left || a.name == "" || b.name == "" || a.name == b.name {
		return ""
	}
	return "$" + naming.Lower(a.name) + " != $" + naming.Lower(b.name)
}

// differ writes that two edges differ.
func (r *rewriter) differ(nodes []nodeRef, links []link, i, j int) {
	switch {
	case !r.sameEdge(nodes, links, i, j):
	case links[i].differ && links[j].differ:
		r.match = append(r.match, leaf("$"+naming.Lower(links[i].name)+".id != $"+naming.Lower(links[j].name)+".id"))
	default:
		r.match = append(r.match, leaf(r.differingEnd(nodes, links, i, j)))
	}
}

// newPath makes a variable for a walk.
func (r *rewriter) newPath() string {
	name := "w"
	for r.paths[name] || r.vars[name] != "" {
		name += "w"
	}
	r.paths[name] = true
	return name
}

// node reads a node of a pattern: (p:Person), or a variable without parentheses. After an arrow a node
// may be missing.
func (r *rewriter) node() (n nodeRef) {
	if r.Peek(0).Kind == lex.Dollar {
		n.name = r.Next().Text
		n.isNew = !r.known(n.name)
		if r.Is(":") {
			r.Next()
			if n.typ = r.NodeType(r.Word()); n.typ == "" || r.Is("|") {
				panic(refuse.GiveUp{})
			}
			if r.Is("{") {
				n.props = r.props(n.typ)
			}
		}
		return n
	}
	if r.IsOne("}", ",") {
		return n
	}
	r.Expect("(")
	if t := r.Peek(0); (t.Kind == lex.Word || t.Kind == lex.Dollar) && !r.Is("where") && !r.Is("is") {
		n.name = r.Next().Text
	}
	if r.Accept(":") || r.Accept("is") {
		if n.typ = r.NodeType(r.Word()); n.typ == "" || r.IsOne("|", "&", ":") {
			panic(refuse.GiveUp{})
		}
	}
	if r.Is("{") {
		typ := n.typ
		if typ == "" {
			typ = r.vars[n.name]
		}
		n.props = r.props(typ)
	}
	_, known := r.vars[n.name]
	n.isNew = !known || n.name == ""
	if r.Accept("where") {
		refuse.If(n.name == "")
		r.bind(n.name, n.typ)
		n.filter = append(n.filter, r.condition())
	}
	r.Expect(")")
	return n
}

// props reads the properties in braces.
func (r *rewriter) props(typ string) (out []string) {
	r.Expect("{")
	for !r.Accept("}") {
		if len(out) > 0 {
			r.Accept(",")
		}
		name := r.Next()
		refuse.If(name.Kind != lex.Word && name.Kind != lex.Text)
		if !r.Accept(":") {
			r.Expect("=")
		}
		p := r.Property(typ, name.Text)
		if filter, _ := r.Suffixed(typ, name.Text); p == nil && filter != nil { // rows_gt: 5 is no equality
			panic(refuse.GiveUp{})
		}
		out = append(out, r.PropertyName(typ, name.Text)+": "+r.Optional(r.valueOf(p)))
	}
	return out
}

// link reads an edge of a pattern. Of the arrows at its sides, two or none leave the direction open.
func (r *rewriter) link() (l link) {
	if r.Accept("->") {
		return l
	}
	left := r.Accept("<-") || r.Accept("<", "~")
	if !left && !r.Accept("-") {
		r.Expect("~")
	}
	e := r.EdgeType(r.Peek(0).Text)
	if r.Peek(0).Kind == lex.Word && e != nil { // -placed->
		r.Next()
		l.types = append(l.types, e)
	} else if r.Accept("[") {
		r.linkBody(&l)
		r.Expect("]")
	}
	right := r.Accept("->") || r.Accept("~", ">") || r.Accept(">")
	if !right && !r.Accept("-") {
		r.Expect("~")
	}
	l.left, l.both = left && !right, left == right
	if bounds := r.quantifier(); bounds != "" {
		l.bounds = bounds
	}
	return l
}

// quantifier reads the bounds of a walk that come after an arrow in ISO GQL, or after an edge, and returns them as this language writes them,
// or "" if there are none.
func (r *rewriter) quantifier() (bounds string) {
	switch {
	case r.Accept("{"):
		bounds = r.Bounds(",")
		r.Expect("}")
	case r.Accept("+"):
		bounds = cursor.BoundsFrom("1")
	case r.Accept("*"):
		bounds = cursor.BoundsFrom("0")
	}
	return bounds
}

// linkBody reads what is between the brackets of an edge.
func (r *rewriter) linkBody(l *link) {
	t := r.Peek(0)
	// A name without a colon is a variable, unless it is the name of a type.
	bare := t.Kind == lex.Word && r.EdgeType(t.Text) != nil && !r.known(t.Text) && !r.IsAt(1, ":")
	if !bare && (t.Kind == lex.Word || t.Kind == lex.Dollar) && !r.Is("where") && !r.Is("is") {
		l.name = r.Next().Text
	}
	if bare || r.Accept(":") || r.Accept("is") {
		for {
			e := r.EdgeType(r.Word())
			refuse.If(e == nil)
			l.types = append(l.types, e)
			if !r.Accept("|") {
				break
			}
			r.Accept(":")
		}
	}
	if r.Accept("*") {
		l.bounds = cursor.BoundsFrom("1")
		if r.Peek(0).Kind == lex.Number || r.Is("..") {
			l.bounds = r.Bounds("..")
		}
	}
	if r.Is("{") {
		refuse.If(len(l.types) != 1)
		l.props = r.props(l.types[0].Name)
	}
	if r.Accept("where") {
		refuse.If(len(l.types) != 1 || l.name == "" || l.bounds != "")
		r.bind(l.name, l.types[0].Name)
		l.filter = append(l.filter, r.condition())
	}
}

// settle gives a node of a pattern a name and a type, and writes its binding if the edges do not
// determine what it is.
func (r *rewriter) settle(nodes []nodeRef, links []link, i int) {
	n := &nodes[i]
	needed := len(n.props) > 0 || r.Schema.Interface(n.typ) != nil || len(links) == 0
	for j := i - 1; j <= i; j++ {
		if j < 0 || j >= len(links) {
			continue
		}
		l := links[j]
		if len(l.types) != 1 || l.bounds != "" && n.typ != "" {
			needed = needed || n.typ != ""
			continue
		}
		end, shared := l.types[0].End((j == i) == l.left)
		needed = needed || shared && n.typ != "" // the edge alone does not give the node this type
		if n.typ == "" && r.vars[n.name] == "" {
			n.typ = end
		}
	}
	switch {
	case n.name != "":
		r.bind(n.name, n.typ)
	case i > 0 && i < len(links) && n.typ == "":
		panic(refuse.GiveUp{}) // two edges meet at a node of an unknown type
	case i > 0 && i < len(links), n.typ != "" && (needed || len(links) == 0):
		n.name = r.fresh(n.typ)
	}
	if n.name == "" || !needed {
		r.match = append(r.match, n.filter...)
		return
	}
	v := "$" + naming.Lower(n.name)
	switch {
	case n.isNew && n.typ != "":
		clause := v + ": " + n.typ
		constants, others := r.constants(n.props)
		if len(constants) > 0 {
			clause += " { " + strings.Join(constants, ", ") + " }"
		}
		r.match = append(r.match, leaf(clause))
		for _, p := range others {
			name, value, _ := strings.Cut(p, ": ")
			r.match = append(r.match, leaf(v+"."+name+" = "+value))
		}
	case n.isNew && len(links) == 0:
		panic(refuse.GiveUp{}) // (n) alone is a node of any type
	default:
		for _, p := range n.props {
			name, value, _ := strings.Cut(p, ": ")
			r.match = append(r.match, leaf(v+"."+name+" = "+value))
		}
	}
	r.match = append(r.match, n.filter...)
}

// constants divides properties in braces into those whose values use no variable of the match, which may stand in a
// binding, and the others.
func (r *rewriter) constants(props []string) (constants, others []string) {
	for _, p := range props {
		if slices.ContainsFunc(must(lex.Scan(p)), func(t lex.Token) bool {
			return t.Text == "{" || t.Kind == lex.Dollar && r.known(t.Text) && (r.element == nil || t.Text != naming.Lower(r.element.name))
		}) {
			others = append(others, p)
		} else {
			constants = append(constants, p)
		}
	}
	return constants, others
}

// writeLink writes the traversal of an edge between two nodes.
func (r *rewriter) writeLink(path string, a nodeRef, l link, b nodeRef) {
	if l.left {
		a, b = b, a
	}
	if len(l.types) == 0 { // any edge between the types of the two ends
		from, to := r.vars[a.name], r.vars[b.name]
		for _, e := range r.Schema.Edges {
			if r.AtEnd(e, false, from) && (to == "" || r.AtEnd(e, true, to)) || l.both && r.AtEnd(e, true, from) && (to == "" || r.AtEnd(e, false, to)) {
				l.types = append(l.types, e)
			}
		}
	}
	var names []string
	same := true
	for _, e := range l.types {
		if !slices.Contains(names, naming.Lower(e.Name)) {
			names = append(names, naming.Lower(e.Name))
		}
		same = same && e.EndName(false) == e.EndName(true)
	}
	refuse.If(len(names) == 0)
	edge := strings.Join(names, "|")
	if l.both && same {
		edge = "<" + edge + ">"
	}
	edge += l.bounds
	if l.name != "" && l.bounds != "" && !r.known(l.name) && r.Mentions(l.name) && (path == "" || !r.Mentions(path)) {
		path = l.name // a list of the edges of a walk
	}
	if path != "" {
		r.paths[path] = true
		if e := l.types[0]; same && !slices.ContainsFunc(l.types, func(o *catalog.Edge) bool { return o.From != e.From }) {
			r.walks[path] = e.From
		}
		edge = "$" + naming.Lower(path) + ":" + edge
	} else if l.name != "" && l.bounds == "" && len(l.types) == 1 && (l.differ || len(l.props)+len(l.filter) > 0 || r.Mentions(l.name)) {
		edge = r.bind(l.name, l.types[0].Name) + ":" + edge
	} else if len(l.props) > 0 && len(l.types) == 1 && l.bounds == "" {
		l.name = r.fresh(l.types[0].Name)
		edge = "$" + l.name + ":" + edge
	} else if len(l.props) > 0 {
		panic(refuse.GiveUp{})
	}
	if bound := ""; path == "" && l.bounds == "" && l.name == "" && len(l.props) == 0 && len(names) == 1 {
		if bound = r.edgeByType(names[0]); bound != "" {
			edge = "$" + naming.Lower(bound) + ":" + edge
		}
	}
	ends := [2]string{"$_", "$_"}
	for i, n := range []nodeRef{a, b} {
		if n.name != "" {
			ends[i] = "$" + naming.Lower(n.name)
		}
	}
	r.match = append(r.match, leaf(ends[0]+" "+edge+" "+ends[1]))
	for _, p := range l.props {
		name, value, _ := strings.Cut(p, ": ")
		r.match = append(r.match, leaf("$"+naming.Lower(l.name)+"."+name+" = "+value))
	}
	r.match = append(r.match, l.filter...)
}
