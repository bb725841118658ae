package guide

import (
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Label returns the property that best tells the nodes of a type apart for a reader: the first
// member of the key, else a text property, else another property of one plain value, else the id
// that every node has.
func Label(n *catalog.Node) string {
	if len(n.Key) > 0 {
		return n.Key[0]
	}
	for _, p := range n.Properties {
		if isText(p.Type) {
			return p.Name
		}
	}
	for _, p := range n.Properties {
		if isPlain(p.Type) {
			return p.Name
		}
	}
	return "id"
}

// labelType returns the type of a parameter that is compared with the label.
func labelType(n *catalog.Node) string {
	if p := n.Property(Label(n)); p != nil {
		return paramType(p.Type)
	}
	return value.String.String()
}

// EdgeName returns the name of an edge type as queries write it: its first letter is in lower
// case.
func EdgeName(e *catalog.Edge) string { return lowerFirst(e.Name) }

// paramType formats the type of a parameter that takes values of a property.
func paramType(t value.Type) string {
	t.Enum = nil
	return t.Required().String()
}

// isPlain reports whether values of the type can be compared. It and the functions from here to
// isOrdered are conditions to pass to find.
func isPlain(t value.Type) bool { return !t.List && t.Kind.IsComparable() }
func isText(t value.Type) bool  { return t.Kind == value.String && !t.List && t.Enum == nil }
func isEnum(t value.Type) bool  { return t.Enum != nil && !t.List }
func isList(t value.Type) bool  { return t.List }

// isNumber reports whether the type is numeric.
func isNumber(t value.Type) bool { return t.Kind.IsNumeric() && !t.List }
func isVector(t value.Type) bool { return t.Kind == value.Vector && !t.List }

// isOrdered reports whether a range of values is useful.
func isOrdered(t value.Type) bool { return !t.List && t.Kind.IsScale() }

// find returns the first node type with a property of a suitable type, and the property. The
// function `want` reports whether a type is suitable. find prefers properties outside the key to
// members of the key, and then node types with a key. If no property is suitable, both results are
// nil.
func find(s *catalog.Schema, want func(value.Type) bool) (*catalog.Node, *catalog.Property) {
	var node *catalog.Node
	var found *catalog.Property
	best := 0
	for _, n := range s.Nodes {
		for _, p := range n.Properties {
			if !want(p.Type) {
				continue
			}
			score := 1
			if len(n.Key) > 0 {
				score++
			}
			if !n.IsKey(p.Name) {
				score += 2
			}
			if score > best {
				best, node, found = score, n, p
			}
		}
	}
	return node, found
}

// keyed returns the first node type with a key of one property.
func keyed(s *catalog.Schema) *catalog.Node {
	for _, n := range s.Nodes {
		if len(n.Key) == 1 {
			return n
		}
	}
	return nil
}

// edge returns the first edge type that satisfies the condition `want`, or nil. It looks only at edges between
// node types; sharedEdge is for the others.
func edge(s *catalog.Schema, want func(*catalog.Edge) bool) *catalog.Edge {
	for _, e := range s.Edges {
		if !e.HasInterfaceEnd() && want(e) {
			return e
		}
	}
	return nil
}

// isLoop reports whether the edge joins nodes of one type.
func isLoop(e *catalog.Edge) bool { return e.From == e.To }

// anyEdge returns an edge type. It prefers one between two different types, because its
// direction is clear.
func anyEdge(s *catalog.Schema) *catalog.Edge {
	if e := edge(s, func(e *catalog.Edge) bool { return !isLoop(e) }); e != nil {
		return e
	}
	return edge(s, isLoop)
}

// variables is the set of the variable names in use.
type variables map[string]bool

// of returns an unused variable name, made from the type's name, and records it as used. It adds a
// number if the plain name is taken.
func (v variables) of(typ string) string {
	base := "$" + lowerFirst(typ)
	name := base
	for i := 2; v[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	v[name] = true
	return name
}

// beside returns the set of names that new variables must avoid: the names of the types'
// properties, and the names of the other parameters of the examples. The examples name parameters
// after properties.
func beside(nodes ...*catalog.Node) variables {
	v := variables{"$w": true, "$words": true, "$near": true}
	for _, n := range nodes {
		for _, p := range n.Properties {
			v["$"+p.Name] = true
		}
	}
	return v
}

// variable returns a variable name for a node of the type.
func variable(n *catalog.Node) string { return beside(n).of(n.Name) }

// lowerFirst changes the first letter of s to lower case.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// NodeVariable returns the variable that stands for a node type in conditions and clauses. It
// differs from every property of the type, because conditions name parameters after properties.
func NodeVariable(n *catalog.Node) string { return variable(n) }

// EdgeOut writes how a match follows an edge away from the node that NodeVariable names, such as
// `$person knows $person2`.
func EdgeOut(n *catalog.Node, e *catalog.Edge) string {
	node, other := endsAt(n, e.To)
	return node + " " + EdgeName(e) + " " + other
}

// EdgeIn writes how a match follows an edge to the node that NodeVariable names, such as
// `$person2 knows $person`.
func EdgeIn(n *catalog.Node, e *catalog.Edge) string {
	node, other := endsAt(n, e.From)
	return other + " " + EdgeName(e) + " " + node
}

// endsAt returns a variable for a node, and a variable for the node at the other end of an edge.
func endsAt(n *catalog.Node, otherType string) (node, other string) {
	names := beside(n)
	node = names.of(n.Name)
	return node, names.of(otherType)
}

// BoundEdge writes how a match binds an edge, such as `$person $w:knows $person2`, and returns the
// variable of the edge. The variables differ from the properties of the edge.
func BoundEdge(e *catalog.Edge) (variable, clause string) {
	names := variables{}
	for _, p := range e.Properties {
		names["$"+p.Name] = true
	}
	variable = names.of("W")
	from := names.of(e.From)
	return variable, from + " " + variable + ":" + EdgeName(e) + " " + names.of(e.To)
}

// Clause writes how a match follows an edge from its source to its target, such as `$person
// knows $person2`.
func Clause(e *catalog.Edge) string {
	names := variables{}
	from := names.of(e.From)
	return from + " " + EdgeName(e) + " " + names.of(e.To)
}
