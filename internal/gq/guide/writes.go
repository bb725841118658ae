package guide

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// mutation formats a mutation of one statement.
func mutation(params []string, statement string) string {
	return "query example(" + strings.Join(params, ", ") + ") {\n  " + statement + "\n}\n"
}

// required assigns a parameter to each property that an insert must set.
func required(props []*catalog.Property) (params, assignments []string) {
	add := func(p *catalog.Property) {
		params = append(params, "$"+p.Name+": "+paramType(p.Type))
		assignments = append(assignments, p.Name+": $"+p.Name)
	}
	for _, p := range props {
		if !p.Type.Nullable && p.Type.Kind != value.Blob && p.Embed == nil {
			add(p)
		}
	}
	return params, assignments
}

// unwritable reports whether an insert must set a property that the text of a mutation cannot set.
func unwritable(props []*catalog.Property) bool {
	for _, p := range props {
		if !p.Type.Nullable && (p.Type.Kind == value.Blob || p.Embed != nil) {
			return true
		}
	}
	return false
}

// insertNode is a mutation that inserts or replaces a node.
func insertNode(s *catalog.Schema) string {
	for _, keyedFirst := range []bool{true, false} {
		for _, n := range s.Nodes {
			if len(n.Key) > 0 != keyedFirst || unwritable(n.Properties) {
				continue
			}
			if params, set := required(n.Properties); len(set) > 0 {
				return mutation(params, "insert "+n.Name+" { "+strings.Join(set, ", ")+" }")
			}
		}
	}
	return ""
}

// insertEdge is a mutation that inserts an edge.
func insertEdge(s *catalog.Schema) string {
	for _, e := range s.Edges {
		if e.HasInterfaceEnd() || unwritable(e.Properties) || e.Property("src_id") != nil || e.Property("dst_id") != nil {
			continue
		}
		params, set := required(e.Properties)
		params = append([]string{"$src_id: String", "$dst_id: String"}, params...)
		set = append([]string{"from: $src_id", "to: $dst_id"}, set...)
		return mutation(params, "insert "+e.Name+" { "+strings.Join(set, ", ")+" }")
	}
	return ""
}

// update is a mutation that updates a node.
func update(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		where := selector(n)
		if where == nil {
			continue
		}
		for _, p := range n.Properties {
			if !isPlain(p.Type) || n.IsKey(p.Name) || p == where {
				continue
			}
			return mutation([]string{"$" + where.Name + ": " + paramType(where.Type), "$" + p.Name + ": " + paramType(p.Type)},
				"update "+n.Name+" set { "+p.Name+": $"+p.Name+" } where "+where.Name+" = $"+where.Name)
		}
	}
	return ""
}

// upsertNode is a mutation that changes or inserts a node, and returns it.
func upsertNode(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		if len(n.Key) == 0 || unwritable(n.Properties) {
			continue
		}
		if params, set := required(n.Properties); len(set) > 0 {
			return mutation(params, "$saved = upsert "+n.Name+" { "+strings.Join(set, ", ")+" }\n  return { $saved.id as id }")
		}
	}
	return ""
}

// forEachMatch is a mutation that updates each node of a match.
func forEachMatch(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		for _, p := range n.Properties {
			if isPlain(p.Type) && !n.IsKey(p.Name) {
				return mutation([]string{"$new: " + paramType(p.Type)},
					"match { $x: "+n.Name+" } limit 10 {\n    update "+n.Name+" set { "+p.Name+": $new } where id = $x.id\n  }")
			}
		}
	}
	return ""
}

// forEachElement is a mutation that deletes a node for each element of a list.
func forEachElement(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		if n.Property("id") == nil {
			return mutation([]string{"$ids: [String]"}, "for $x in $ids {\n    delete "+n.Name+" where id = $x\n  }")
		}
	}
	return ""
}

// deleteNode is a mutation that deletes a node.
func deleteNode(s *catalog.Schema) string {
	for _, n := range s.Nodes {
		if where := selector(n); where != nil {
			return mutation([]string{"$" + where.Name + ": " + paramType(where.Type)}, "delete "+n.Name+" where "+where.Name+" = $"+where.Name)
		}
	}
	return ""
}

// selector returns the property with which an update or a delete selects nodes. It is the key if
// the key has exactly one member, and nil otherwise.
func selector(n *catalog.Node) *catalog.Property {
	if len(n.Key) != 1 {
		return nil
	}
	return n.Property(n.Key[0])
}
