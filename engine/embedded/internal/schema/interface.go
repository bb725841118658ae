package schema

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Interface is an interface of a schema with the node types that implement it.
type Interface struct {
	// Type has the properties of catalog.Interface.Common. No table holds entities of this type.
	Type    *Type
	Members []Member // by type name
}

// Member is a node type that implements an interface.
type Member struct {
	Type *Type
	// Props has, for each property of Interface.Type, its position in the properties of Type. It is -1 for
	// catalog.TypeProperty, and for a property that the type lacks.
	Props []int
}

// Interface returns the interface with the given name, or nil.
func (s *Schema) Interface(name string) *Interface { return s.interfaces[name] }

// InterfaceType returns the type that stands for the interface with the given name, or nil.
func (s *Schema) InterfaceType(name string) *Type {
	if i := s.interfaces[name]; i != nil {
		return i.Type
	}
	return nil
}

// resolveInterfaces sets s.interfaces. The node types must be resolved.
func (s *Schema) resolveInterfaces() {
	s.interfaces = map[string]*Interface{}
	for _, i := range s.Catalog.Interfaces {
		out := &Interface{Type: &Type{Entity: plan.Node, Index: -1, Name: i.Name, Props: i.Common(), IDProp: -1}}
		out.Type.IndexNames()
		for _, n := range s.Catalog.Implementers(i.Name) {
			out.Members = append(out.Members, s.member(out.Type, s.nodes[n.Name]))
		}
		slices.SortFunc(out.Members, func(a, b Member) int { return strings.Compare(a.Type.Name, b.Type.Name) })
		s.interfaces[i.Name] = out
	}
}

// member returns a node type as a member of an interface. The properties of the interface are those of
// the type `common`.
func (s *Schema) member(common, t *Type) Member {
	m := Member{Type: t, Props: make([]int, len(common.Props))}
	for i, p := range common.Props {
		m.Props[i] = -1
		if at, ok := t.Prop(p.Name); ok && p.Name != catalog.TypeProperty && t.Props[at].Type.Equal(p.Type) {
			m.Props[i] = at
		}
	}
	return m
}

// Member returns the member with the given name, or nil.
func (i *Interface) Member(name string) *Type {
	for _, m := range i.Members {
		if m.Type.Name == name {
			return m.Type
		}
	}
	return nil
}

// Position returns the position of a type among the members, or -1.
func (i *Interface) Position(t *Type) int {
	return slices.IndexFunc(i.Members, func(m Member) bool { return m.Type == t })
}
