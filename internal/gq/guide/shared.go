package guide

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// sharedEdge returns the first edge type with an interface at an end that satisfies the condition `want`, or nil. Each end
// has at least one node type.
func sharedEdge(s *catalog.Schema, want func(*catalog.Edge) bool) *catalog.Edge {
	for _, e := range s.Edges {
		if e.HasInterfaceEnd() && len(s.EndsAt(e, false)) > 0 && len(s.EndsAt(e, true)) > 0 && want(e) {
			return e
		}
	}
	return nil
}

// sharedTraversal is a read that follows an edge with an interface at an end.
func sharedTraversal(s *catalog.Schema) string {
	e := sharedEdge(s, func(*catalog.Edge) bool { return true })
	if e == nil {
		return ""
	}
	names := variables{"$w": true}
	a, b := names.of(e.From), names.of(e.To)
	types := []string{}
	for i, v := range []string{a, b} {
		if _, shared := e.End(i == 1); shared {
			types = append(types, v+".type")
		}
	}
	return query("", []string{a + " $w:" + EdgeName(e) + " " + b}, returns(append([]string{"$w.from", "$w.to"}, types...)...), limit20)
}

// insertShared is a mutation that inserts an edge with an interface at an end.
func insertShared(s *catalog.Schema) string {
	e := sharedEdge(s, func(e *catalog.Edge) bool {
		return !unwritable(e.Properties) && e.Property("src_node") == nil && e.Property("dst_node") == nil
	})
	if e == nil {
		return ""
	}
	params, set := required(e.Properties)
	params = append([]string{"$src_node: " + e.From, "$dst_node: " + e.To}, params...)
	set = append([]string{"from: $src_node", "to: $dst_node"}, set...)
	return mutation(params, "insert "+e.Name+" { "+strings.Join(set, ", ")+" }")
}
