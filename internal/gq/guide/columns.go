package guide

import "github.com/omnigraph-go/omnigraph/gq/catalog"

// distinctValues returns a read of the values of a property, each once.
func distinctValues(s *catalog.Schema) string {
	n, p := find(s, isPlain)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, "return distinct { "+v+"."+p.Name+" }", limit20)
}

// collectByNode returns a read that lists, for each node, the nodes that its edges lead to.
func collectByNode(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, to := x.labels()
	return query("", []string{x.a + " " + EdgeName(e) + " " + x.b}, returns(from, "count(distinct "+x.b+") as n", "collect("+to+") as all"), "order { n desc }", limit20)
}

// havingSeveral returns a read of the nodes with more than one edge of a type.
func havingSeveral(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + " " + EdgeName(e) + " " + x.b}, returns(from, "count("+x.b+") as n"), "having { n > 1 }", "order { n desc }", limit20)
}
