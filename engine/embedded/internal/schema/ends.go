package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// An edge type with an interface at an end joins nodes of several types, but the ends of an edge in a
// table are ordinals of one node table. So each such interface has a reference type, a node type that the
// catalog does not have. An entity of it, a reference, stands for one node of a type that implements the
// interface; its id is [RefID] of this node, and it has no properties. The first edge at a node creates
// the reference, and the removal of the node removes it. All files, records and indexes treat reference
// types as node types. Nothing outside the engine sees them.

// RefID returns the id of the reference that stands for a node. Names of types contain no NUL.
func RefID(typ, id string) string { return typ + "\x00" + id }

// SplitRef is the inverse of RefID.
func SplitRef(ref string) (typ, id string) {
	typ, id, _ = strings.Cut(ref, "\x00")
	return typ, id
}

// NodeTypes returns the node types that the catalog declares, in schema order.
func (s *Schema) NodeTypes() []*Type { return s.Nodes[:s.declared] }

// Declared returns the number of node types that the catalog declares. They come first among the node types.
func (s *Schema) Declared() int { return s.declared }

// Reference returns the reference type of an interface, or nil if the interface is at no end of an edge type.
func (s *Schema) Reference(name string) *Type { return s.references[name] }

// resolveReferences adds a reference type for each interface that is at an end of an edge type.
func (s *Schema) resolveReferences() {
	s.references = map[string]*Type{}
	for _, e := range s.Catalog.Edges {
		for _, to := range []bool{false, true} {
			name, isInterface := e.End(to)
			of := s.interfaces[name]
			if !isInterface || of == nil || s.references[name] != nil {
				continue
			}
			t := &Type{Entity: plan.Node, Index: len(s.Nodes), Name: "interface " + name, IDProp: -1, Of: of, node: &catalog.Node{}}
			t.IndexNames()
			for _, m := range of.Members {
				m.Type.Refs = append(m.Type.Refs, t.Index)
			}
			s.Nodes = append(s.Nodes, t)
			s.references[name] = t
		}
	}
}

// endType returns the node type or the reference type at an end of an edge type, or nil if the schema has
// none.
func (s *Schema) endType(e *catalog.Edge, to bool) *Type {
	name, isInterface := e.End(to)
	if isInterface {
		return s.references[name]
	}
	return s.nodes[name]
}

// EndType returns the node type or the reference type at an end of an edge type: at the target if `to` is set.
func (s *Schema) EndType(edge *Type, to bool) *Type {
	if to {
		return s.Nodes[edge.To]
	}
	return s.Nodes[edge.From]
}

// EndName returns [catalog.Edge.EndName] of an end of an edge type.
func (s *Schema) EndName(edge *Type, to bool) string { return s.EndType(edge, to).Name }

// Implements reports whether the entities of a reference type may stand for nodes of a type.
func (t *Type) Implements(member *Type) bool { return t.Of.Position(member) >= 0 }

// CheckEnd checks that a value has the form of EndValue, and names a type that fits the end. It returns what is
// wrong, or "".
func (t *Type) CheckEnd(v value.Value) string {
	if t.Of == nil {
		if v.IsNull() || v.Kind() != value.String || v.IsList() {
			return "the value must be the id of a node"
		}
		return ""
	}
	text := func(v value.Value) bool { return !v.IsNull() && v.Kind() == value.String && !v.IsList() }
	if v.IsNull() || !v.IsList() || len(v.Elems()) != 2 || !text(v.Elems()[0]) || !text(v.Elems()[1]) {
		return "the value must be an object with the type and the id of a node"
	}
	if typ, _ := plan.NodeOf(v); !slices.ContainsFunc(t.Of.Members, func(m Member) bool { return m.Type.Name == typ }) {
		return fmt.Sprintf("node type %s does not implement %s; use one of %s", typ, t.Of.Type.Name, t.memberList())
	}
	return ""
}

// memberList returns the names of the types that implement the interface of a reference type, for messages.
func (t *Type) memberList() string {
	names := make([]string, len(t.Of.Members))
	for i, m := range t.Of.Members {
		names[i] = m.Type.Name
	}
	return strings.Join(names, ", ")
}

// Label returns the type and the id of the node that an entity of a node type is or stands for.
func (t *Type) Label(id string) (typ, node string) {
	if t.Of == nil {
		return t.Name, id
	}
	return SplitRef(id)
}

// EndValue returns an end of an edge as changes and exports show it: the id of the node, or for an end at an interface
// a record of the node's type and id. The parameter `id` is the id of the entity of type t at the end.
func (t *Type) EndValue(id string) value.Value {
	if t.Of == nil {
		return value.OfString(id)
	}
	return plan.OfNode(SplitRef(id))
}

// EndID is the inverse of EndValue.
func (t *Type) EndID(v value.Value) string {
	if t.Of == nil {
		return v.Str()
	}
	return RefID(plan.NodeOf(v))
}

// Spell returns the node that an entity of a node type is or stands for, as messages show it: its type and
// its id.
func (t *Type) Spell(id string) string {
	typ, node := t.Label(id)
	return fmt.Sprintf("%s %q", typ, node)
}
