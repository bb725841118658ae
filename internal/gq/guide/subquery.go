package guide

import "github.com/omnigraph-go/omnigraph/gq/catalog"

// countPerNode returns a read that counts, for each node, the nodes that its edges lead to.
func countPerNode(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	return query("", []string{x.a + ": " + e.From}, returns(x.a+".id", "count { "+x.a+" "+EdgeName(e)+" $_ } as n"), "order { n desc }", limit20)
}

// listPerNode returns a read that lists, for each node, some of the nodes that its edges lead to.
func listPerNode(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	_, to := x.labels()
	block := x.a + " " + EdgeName(e) + " " + x.b + " return { " + to + " as name } order { name } limit 5"
	return query("", []string{x.a + ": " + e.From}, returns(x.a+".id", "collect { "+block+" } as neighbours"), limit20)
}

// firstPerNode returns a read that lists, for each node, one of the nodes that its edges lead to.
func firstPerNode(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	_, to := x.labels()
	block := x.a + " " + EdgeName(e) + " " + x.b + " return { " + to + " as name } order { name }"
	return query("", []string{x.a + ": " + e.From}, returns(x.a+".id", "first { "+block+" } as one"), "order { one.name }", limit20)
}
