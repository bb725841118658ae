package guide

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// query formats a query named example. It leaves out empty clauses.
func query(params string, match []string, rest ...string) string {
	var b strings.Builder
	b.WriteString("query example(" + params + ") {\n  match {\n")
	for _, m := range match {
		for _, line := range strings.Split(m, "\n") {
			b.WriteString("    " + line + "\n")
		}
	}
	b.WriteString("  }\n")
	for _, r := range rest {
		b.WriteString("  " + r + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// returns returns a return clause.
func returns(columns ...string) string { return "return { " + strings.Join(columns, ", ") + " }" }

// limit20 is the limit of the examples that may have many rows.
const limit20 = "limit 20"

// ends holds the variables at the two ends of an edge and the node types there.
type ends struct {
	a, b     string
	from, to *catalog.Node // node types
}

// endsOf chooses variables for the ends of an edge.
func endsOf(s *catalog.Schema, e *catalog.Edge) ends {
	x := ends{from: s.Node(e.From), to: s.Node(e.To)}
	names := beside(x.from, x.to)
	x.a, x.b = names.of(e.From), names.of(e.To)
	return x
}

// labels returns expressions that tell the nodes at the two ends apart for a reader, such as
// $person.name.
func (e ends) labels() (a, b string) { return e.a + "." + Label(e.from), e.b + "." + Label(e.to) }

// overviewRead is a read that shows all clauses.
func overviewRead(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return byKey(s)
	}
	x := endsOf(s, e)
	from, to := x.labels()
	name := Label(x.from)
	binding, param := x.a+": "+x.from.Name, ""
	if name == "id" {
		param, binding = "$id: String", binding+"\n"+from+" = $id"
	} else {
		param = "$" + name + ": " + labelType(x.from)
		binding += " { " + name + ": $" + name + " }"
	}
	return query(param, []string{binding, x.a + " " + EdgeName(e) + " " + x.b}, returns(to), "order { "+to+" }", limit20)
}

// byKey is a read of one node by its key. Like the other examples, it is empty if the schema has no
// suitable type.
func byKey(s *catalog.Schema) string {
	n := keyed(s)
	if n == nil {
		return ""
	}
	v, key := variable(n), n.Key[0]
	return query("$"+key+": "+labelType(n), []string{fmt.Sprintf("%s: %s { %s: $%s }", v, n.Name, key, key)}, returns(v))
}

// allNodes is a read of all nodes of a type.
func allNodes(s *catalog.Schema) string {
	n := firstNode(s)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, returns(v+"."+Label(n)), limit20)
}

// propertyQuery shows a condition on the first property of a suitable type: `want` reports whether
// a type is suitable.
func propertyQuery(s *catalog.Schema, want func(value.Type) bool, match func(v string, n *catalog.Node, p *catalog.Property) []string, optional bool) string {
	n, p := find(s, want)
	if n == nil {
		return ""
	}
	v := variable(n)
	t := p.Type
	if t.List {
		t = t.Elem()
	}
	param := "$" + p.Name + ": " + paramType(t)
	if optional {
		param += "?"
	}
	return query(param, match(v, n, p), returns(v+"."+Label(n)), limit20)
}

// condition returns a function that writes a match with one condition on a property. In `format`,
// the first %s stands for the property and the second for the parameter.
func condition(format string) func(string, *catalog.Node, *catalog.Property) []string {
	return func(v string, n *catalog.Node, p *catalog.Property) []string {
		return []string{v + ": " + n.Name, fmt.Sprintf(format, v+"."+p.Name, "$"+p.Name)}
	}
}

// optionalInline is a read with an optional condition in the braces of a binding.
func optionalInline(s *catalog.Schema) string {
	return propertyQuery(s, isPlain, func(v string, n *catalog.Node, p *catalog.Property) []string {
		return []string{fmt.Sprintf("%s: %s { %s: $%s? }", v, n.Name, p.Name, p.Name)}
	}, true)
}

// compare is a read with a comparison.
func compare(s *catalog.Schema) string {
	return propertyQuery(s, isOrdered, condition("%s >= %s"), false)
}

// contains is a read that tests whether a text contains another.
func contains(s *catalog.Schema) string {
	return propertyQuery(s, isText, condition("%s contains %s"), false)
}

// element is a read that tests for an element of a list.
func element(s *catalog.Schema) string {
	return propertyQuery(s, isList, condition("%s contains %s"), false)
}

// search is a read that searches for words.
func search(s *catalog.Schema) string {
	return propertyQuery(s, isText, condition("search(%s, %s)"), false)
}

// fuzzy is a read that searches for similar words.
func fuzzy(s *catalog.Schema) string {
	return propertyQuery(s, isText, condition("fuzzy(%s, %s)"), false)
}

// optionalFilter is a read with an optional filter.
func optionalFilter(s *catalog.Schema) string {
	if n, _ := find(s, isOrdered); n != nil {
		return propertyQuery(s, isOrdered, condition("%s >= %s?"), true)
	}
	return propertyQuery(s, isPlain, condition("%s = %s?"), true)
}

// enumValue is a read that tests for a value of an enum.
func enumValue(s *catalog.Schema) string {
	n, p := find(s, isEnum)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{fmt.Sprintf("%s: %s { %s: %q }", v, n.Name, p.Name, p.Type.Enum[0])}, returns(v+"."+Label(n)), limit20)
}

// oneOf returns a read that tests whether a property has one of several values.
func oneOf(s *catalog.Schema) string {
	n, p := find(s, isPlain)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("$values: ["+paramType(p.Type)+"]", []string{v + ": " + n.Name, v + "." + p.Name + " in $values"}, returns(v+"."+Label(n)), limit20)
}

// matches returns a read that tests a property with a regular expression.
func matches(s *catalog.Schema) string {
	return propertyQuery(s, isText, condition("%s matches %s"), false)
}

// isNull returns a read that keeps the nodes in which a property has no value.
func isNull(s *catalog.Schema) string {
	n, p := find(s, func(t value.Type) bool { return t.Nullable && t.Kind != value.Blob })
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name, v + "." + p.Name + " is null"}, returns(v+"."+Label(n)), limit20)
}

// either returns a read that keeps the nodes for which one of two conditions holds.
func either(s *catalog.Schema) string {
	n, p := find(s, isPlain)
	if n == nil {
		return ""
	}
	v := variable(n)
	one, two := v+"."+p.Name+" = $first", v+"."+p.Name+" = $second"
	if p.Type.Nullable {
		two = v + "." + p.Name + " is null"
		return query("$first: "+paramType(p.Type), []string{v + ": " + n.Name, "any { " + one + " " + two + " }"}, returns(v+"."+Label(n)), limit20)
	}
	return query("$first: "+paramType(p.Type)+", $second: "+paramType(p.Type), []string{v + ": " + n.Name, "any { " + one + " " + two + " }"}, returns(v+"."+Label(n)), limit20)
}

// withEdge returns a read that keeps the nodes that have an edge of a type.
func withEdge(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + ": " + e.From, "exists { " + x.a + " " + EdgeName(e) + " $_ }"}, returns(from), limit20)
}

// dateParam is a read with a date as a parameter.
func dateParam(s *catalog.Schema) string {
	return propertyQuery(s, func(t value.Type) bool { return !t.List && t.Kind.IsScale() && t.Kind.Literal() != "" }, condition("%s < %s"), false)
}

// along is a read that follows an edge.
func along(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, to := x.labels()
	return query("", []string{x.a + " " + EdgeName(e) + " " + x.b}, returns(from, to), limit20)
}

// loopQuery shows an edge between nodes of one type. `form` is the format of the edge, with %s for
// its name.
func loopQuery(s *catalog.Schema, form string) string {
	e := edge(s, isLoop)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, to := x.labels()
	return query("", []string{x.a + " " + fmt.Sprintf(form, EdgeName(e)) + " " + x.b}, returns(from, to), limit20)
}

// hops is a read that walks one to three hops.
func hops(s *catalog.Schema) string { return loopQuery(s, "%s{1,3}") }

// hopsFromStart is a read that walks zero hops or one.
func hopsFromStart(s *catalog.Schema) string { return loopQuery(s, "%s{0,1}") }

// undirected is a read that follows an edge in both directions.
func undirected(s *catalog.Schema) string { return loopQuery(s, "<%s>") }

// wayBack is a read of each node from which a walk leads back to that same node.
func wayBack(s *catalog.Schema) string {
	e := edge(s, isLoop)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + " " + EdgeName(e) + "{1,10} " + x.a}, returns(from), limit20)
}

// boundWalk is a read that binds a walk.
func boundWalk(s *catalog.Schema) string {
	e := edge(s, isLoop)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, to := x.labels()
	return query("", []string{x.a + " $w:" + EdgeName(e) + "{1,6} " + x.b}, returns(from, to, "$w.hops", "$w.nodes"), "order { $w.hops }", limit20)
}

// eitherEdge is a read that follows one of two edges between the same types.
func eitherEdge(s *catalog.Schema) string {
	for i, e := range s.Edges {
		for _, other := range s.Edges[i+1:] {
			if !e.HasInterfaceEnd() && !other.HasInterfaceEnd() && other.From == e.From && other.To == e.To {
				x := endsOf(s, e)
				from, to := x.labels()
				return query("", []string{x.a + " " + EdgeName(e) + "|" + EdgeName(other) + " " + x.b}, returns(from, to), limit20)
			}
		}
	}
	return ""
}

// edgeBinding is a read that binds an edge.
func edgeBinding(s *catalog.Schema) string {
	e := edge(s, func(e *catalog.Edge) bool { return shown(e) != "" })
	if e == nil {
		if e = anyEdge(s); e == nil {
			return ""
		}
	}
	x := endsOf(s, e)
	from, to := x.labels()
	column := shown(e)
	if column == "" {
		column = "id"
	}
	return query("", []string{x.a + " $w:" + EdgeName(e) + " " + x.b}, returns(from, to, "$w."+column), limit20)
}

// shown returns the name of a property of the edge that a read can return, or "" if there is
// none.
func shown(e *catalog.Edge) string {
	for _, p := range e.Properties {
		if isPlain(p.Type) {
			return p.Name
		}
	}
	return ""
}

// without is a read of the nodes without an edge.
func without(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + ": " + e.From, "not { " + x.a + " " + EdgeName(e) + " $_ }"}, returns(from), limit20)
}

// countAll is a read that counts all nodes of a type.
func countAll(s *catalog.Schema) string {
	n := firstNode(s)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, returns("count("+v+") as n"))
}

// countByNode is a read that counts edges for each node.
func countByNode(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + " " + EdgeName(e) + " " + x.b}, returns(from, "count("+x.b+") as n"), "order { n desc }", limit20)
}

// overNumber is a read with an aggregate of a numeric property.
func overNumber(s *catalog.Schema) string {
	n, p := find(s, isNumber)
	if n == nil {
		return ""
	}
	v := variable(n)
	place := v + "." + p.Name
	var columns []string
	for _, a := range plan.Aggregates {
		if a.Arg.Accepts(p.Type) {
			columns = append(columns, a.Name+"("+place+") as "+a.Name)
		}
	}
	return query("", []string{v + ": " + n.Name}, returns(columns...))
}

// columns is a read that shows the forms of a column.
func columns(s *catalog.Schema) string {
	n := firstNode(s)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, returns(v+"."+Label(n), v+".id as identity", v), limit20)
}

// firstTen is a read with an order and a limit.
func firstTen(s *catalog.Schema) string {
	n, p := find(s, isPlain)
	if n == nil {
		return ""
	}
	v := variable(n)
	place := v + "." + p.Name
	return query("", []string{v + ": " + n.Name}, returns(v+".id", place), "order { "+place+" desc }", "limit 10")
}

// limitParam returns a read whose limit is a parameter.
func limitParam(s *catalog.Schema) string {
	n := firstNode(s)
	if n == nil {
		return ""
	}
	label := variable(n) + "." + Label(n)
	return query("$limit: I32 @range(1..100) @default(20)", []string{variable(n) + ": " + n.Name}, returns(label), "order { "+label+" }", "limit $limit")
}

// defaultParam returns a read with a condition on a parameter that has a default.
func defaultParam(s *catalog.Schema) string {
	n, p := find(s, func(t value.Type) bool { return t.Kind == value.String && !t.List })
	if n == nil {
		return ""
	}
	v := variable(n)
	def := "a"
	if p.Type.Enum != nil {
		def = p.Type.Enum[0]
	}
	return query("$"+p.Name+": String @default("+strconv.Quote(def)+")",
		[]string{v + ": " + n.Name, v + "." + p.Name + " = $" + p.Name}, returns(v+"."+Label(n)), limit20)
}

// ranked is a read ordered by bm25.
func ranked(s *catalog.Schema) string {
	n, p := find(s, isText)
	if n == nil {
		return ""
	}
	v := variable(n)
	score := fmt.Sprintf("bm25(%s.%s, $words)", v, p.Name)
	return query("$words: String", []string{v + ": " + n.Name}, returns(v+"."+Label(n), score+" as score"), "order { "+score+" }", limit20)
}

// nearest is a read ordered by nearest.
func nearest(s *catalog.Schema) string {
	n, p := find(s, isVector)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("$near: "+paramType(p.Type), []string{v + ": " + n.Name}, returns(v+"."+Label(n)), fmt.Sprintf("order { nearest(%s.%s, $near) }", v, p.Name), limit20)
}

// fused is a read ordered by rrf.
func fused(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		var text, vector *catalog.Property
		for _, p := range n.Properties {
			switch {
			case isText(p.Type):
				text = p
			case isVector(p.Type):
				vector = p
			}
		}
		if text == nil || vector == nil {
			continue
		}
		v := variable(n)
		return query("$words: String, $near: "+paramType(vector.Type), []string{v + ": " + n.Name}, returns(v+"."+Label(n)),
			fmt.Sprintf("order { rrf(bm25(%s.%s, $words), nearest(%s.%s, $near)) }", v, text.Name, v, vector.Name), limit20)
	}
	return ""
}
