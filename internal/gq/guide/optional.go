package guide

import "github.com/omnigraph-go/omnigraph/gq/catalog"

// perhapsAlong returns a read of the nodes at one end of an edge, with the nodes at the other end if
// there are any.
func perhapsAlong(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, to := x.labels()
	return query("", []string{x.a + ": " + e.From, "optional { " + x.a + " " + EdgeName(e) + " " + x.b + " }"}, returns(from, to), limit20)
}

// countPerhaps returns a read that counts edges for each node, also for nodes without an edge.
func countPerhaps(s *catalog.Schema) string {
	e := anyEdge(s)
	if e == nil {
		return ""
	}
	x := endsOf(s, e)
	from, _ := x.labels()
	return query("", []string{x.a + ": " + e.From, "optional { " + x.a + " " + EdgeName(e) + " " + x.b + " }"}, returns(from, "count("+x.b+") as n"), "order { n desc }", limit20)
}
