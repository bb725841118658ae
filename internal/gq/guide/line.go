package guide

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// NodeLine describes a node type on one line and marks its key.
func NodeLine(n *catalog.Node) string {
	return n.Name + body(n.Properties, n.Key) + remark(n.Description)
}

// EdgeLine describes an edge type on one line.
func EdgeLine(e *catalog.Edge) string {
	return e.Name + ": " + e.From + " -> " + e.To + body(e.Properties, nil) + remark(e.Description)
}

// body describes the properties of a type in braces, or returns "" if there are none. The list
// `key` contains the names of the properties of the type's key.
func body(props []*catalog.Property, key []string) string {
	if len(props) == 0 {
		return ""
	}
	parts := make([]string, len(props))
	for i, p := range props {
		parts[i] = p.Name + ": " + p.Type.String()
		if slices.Contains(key, p.Name) {
			parts[i] += " @key"
		}
	}
	return " { " + strings.Join(parts, ", ") + " }"
}

// remark formats the first line of a description as a comment.
func remark(description string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	if line == "" {
		return ""
	}
	return " // " + line
}
