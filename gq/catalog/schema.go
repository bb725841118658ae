// Package catalog holds the resolved schema of a graph: the types, properties and constraints
// that a .pg source declares, with every name resolved.
package catalog

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Schema is a resolved schema. It is immutable after [Schema.Index]. Package resolve and
// [Decode] return only indexed schemas.
type Schema struct {
	Interfaces []*Interface `json:"interfaces,omitempty"` // in source order, like Nodes and Edges
	Nodes      []*Node      `json:"nodes"`                // node types
	Edges      []*Edge      `json:"edges"`                // edge types

	nodes      map[string]*Node      // by name
	edges      map[string]*Edge      // by lower-case name
	interfaces map[string]*Interface // by name
}

// Interface is a named set of properties that node types share. Each node type that implements
// it has a copy of the properties.
type Interface struct {
	Name       string      `json:"name"`       // name of the interface
	Properties []*Property `json:"properties"` // in source order

	common []*Property          // see Common
	byName map[string]*Property // the properties of Common
}

// Node is a node type.
type Node struct {
	Name        string       `json:"name"`                  // name of the type
	Description string       `json:"description,omitempty"` // text from @description, or ""
	RenameFrom  string       `json:"rename_from,omitempty"` // old name from @rename_from, or ""
	Implements  []string     `json:"implements,omitempty"`  // names of interfaces
	Properties  []*Property  `json:"properties"`            // those of its interfaces first, in their order, then its own
	Key         []string     `json:"key,omitempty"`         // property names, sorted, as in the ids; nil without a key
	KeyOrder    []string     `json:"key_order,omitempty"`   // the Key in the order of @key; nil if that is sorted
	Unique      [][]string   `json:"unique,omitempty"`      // property names as written
	Index       [][]string   `json:"index,omitempty"`       // property names as written
	Ranges      []Range      `json:"ranges,omitempty"`      // rules about numbers
	Checks      []Check      `json:"checks,omitempty"`      // rules about texts
	Valid       *Validity    `json:"valid,omitempty"`       // nil without @valid
	Annotations []Annotation `json:"annotations,omitempty"` // in source order

	byName map[string]*Property // the properties; see IndexProperties
}

// Edge is an edge type.
type Edge struct {
	Name string `json:"name"` // name of the type
	From string `json:"from"` // From and To are names of node types, or of interfaces: see below
	To   string `json:"to"`
	// FromInterface and ToInterface say that From or To is the name of an interface. The node at this end
	// is then of any type that implements the interface.
	FromInterface bool `json:"from_interface,omitempty"`
	ToInterface   bool `json:"to_interface,omitempty"`

	Description string       `json:"description,omitempty"` // text from @description, or ""
	RenameFrom  string       `json:"rename_from,omitempty"` // old name from @rename_from, or ""
	Properties  []*Property  `json:"properties,omitempty"`  // in source order
	Unique      [][]string   `json:"unique,omitempty"`      // property names, "src" and "dst"
	Index       [][]string   `json:"index,omitempty"`       // property names, "src" and "dst"
	Card        *Cardinality `json:"card,omitempty"`        // nil without @card
	Valid       *Validity    `json:"valid,omitempty"`       // nil without @valid
	Annotations []Annotation `json:"annotations,omitempty"` // in source order

	byName map[string]*Property // the properties; see IndexProperties
}

// Property is a property of a node, an edge or an interface.
type Property struct {
	Name        string     `json:"name"`                  // name of the property
	Type        value.Type `json:"type"`                  // type of its values
	Description string     `json:"description,omitempty"` // text from @description, or ""
	RenameFrom  string     `json:"rename_from,omitempty"` // old name from @rename_from, or ""
	Embed       *Embed     `json:"embed,omitempty"`       // nil without @embed
	// Approximate says that nearest may search an approximate index of this Vector (@ann).
	Approximate bool `json:"approximate,omitempty"`
	// Default is the value that a new entity gets if a write leaves the property out (@default); nil for none.
	// Entities that a schema change takes over get it too, if the property is new to them.
	Default *Literal `json:"default,omitempty"`
	// Backfill gives stored rows their values when a schema change adds the property (@backfill); nil for none.
	Backfill    *Backfill    `json:"backfill,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"` // not interpreted by the language
}

// Embed says that a Vector property is the embedding of a String property.
type Embed struct {
	Source string `json:"source"`          // name of the String property
	Model  string `json:"model,omitempty"` // name of the embedding model; "" if @embed names none
}

// Cardinality bounds the number of edges of one type for each source node. Max is -1 for no
// upper bound.
type Cardinality struct {
	Min int `json:"min"` // least number of edges
	Max int `json:"max"` // greatest number of edges, or -1
}

// Range bounds a numeric property. Both ends are inclusive; a nil end is unbounded.
type Range struct {
	Property string       `json:"property"`      // name of the property
	Min      *value.Value `json:"min,omitempty"` // least value; nil for no bound
	Max      *value.Value `json:"max,omitempty"` // greatest value; nil for no bound
}

// Bounds returns the ends of the range.
func (r Range) Bounds() value.Bounds { return value.Bounds{Min: r.Min, Max: r.Max} }

// Check requires a String property to match a regular expression (RE2 syntax,
// unanchored).
type Check struct {
	Property string `json:"property"` // name of the property
	Pattern  string `json:"pattern"`  // the regular expression
}

// Validity names the properties that say when an entity is valid (@valid): from Since, inclusive, to Until, exclusive. Both are a
// Date, which stands for its first instant in UTC, or both are a DateTime. Since has a value that is before that of
// Until; an entity without a value of Until is still valid.
type Validity struct {
	Since string `json:"since"` // name of a property that is never null
	Until string `json:"until"` // name of a property that may be null
}

// Fits reports whether the properties may have these types.
func (Validity) Fits(since, until value.Type) bool {
	instant := since.Kind == value.Date || since.Kind == value.DateTime
	return instant && !since.List && !since.Nullable && until.Nullable && until.Required().Equal(since)
}

// Annotation is an annotation that the schema keeps and does not interpret.
type Annotation struct {
	Name string   `json:"name"`           // name without the @
	Args []string `json:"args,omitempty"` // as written
}

// Node returns the node type with the given name, or nil.
func (s *Schema) Node(name string) *Node { return s.nodes[name] }

// Edge returns the edge type with the given name, ignoring case, or nil.
func (s *Schema) Edge(name string) *Edge { return s.edges[strings.ToLower(name)] }

// Interface returns the interface with the given name, or nil.
func (s *Schema) Interface(name string) *Interface { return s.interfaces[name] }

// Implementers returns the node types that implement an interface, in schema order.
func (s *Schema) Implementers(name string) []*Node {
	var list []*Node
	for _, n := range s.Nodes {
		if slices.Contains(n.Implements, name) {
			list = append(list, n)
		}
	}
	return list
}

// TypeProperty is the name of the property with which a variable over an interface shows the name of its
// node's type. So no property of an interface may have this name.
const TypeProperty = "type"

// Common returns the properties that a variable over the interface has: those of the interface, in
// source order, and then TypeProperty.
func (i *Interface) Common() []*Property { return i.common }

// Property returns the property of Common with the given name, or nil.
func (i *Interface) Property(name string) *Property { return i.byName[name] }

// Property returns the property with the given name, or nil.
func (n *Node) Property(name string) *Property { return n.byName[name] }

// Property returns the property with the given name, or nil.
func (e *Edge) Property(name string) *Property { return e.byName[name] }

// DeclaredKey returns the members of the key in the order of @key, in which a query writes their values. The result
// is nil without a key.
func (n *Node) DeclaredKey() []string {
	if len(n.KeyOrder) > 0 {
		return n.KeyOrder
	}
	return n.Key
}

// IsKey reports whether the property with the given name is a member of the key.
func (n *Node) IsKey(name string) bool { return slices.Contains(n.Key, name) }

// End returns the name of the node type or of the interface at an end of the edges: at the target if `to` is
// set, and at the source otherwise.
func (e *Edge) End(to bool) (name string, isInterface bool) {
	if to {
		return e.To, e.ToInterface
	}
	return e.From, e.FromInterface
}

// EndName returns the name of what is at an end: Person for a node type, and interface Named for an
// interface. The two have separate name spaces.
func (e *Edge) EndName(to bool) string {
	name, isInterface := e.End(to)
	if isInterface {
		return "interface " + name
	}
	return name
}

// HasInterfaceEnd reports whether an interface is at an end of the edges.
func (e *Edge) HasInterfaceEnd() bool { return e.FromInterface || e.ToInterface }

// EndsAt returns the node types that a node at an end of the edges may have, in schema order: at the target if
// `to` is set, and at the source otherwise.
func (s *Schema) EndsAt(e *Edge, to bool) []*Node {
	name, isInterface := e.End(to)
	if isInterface {
		return s.Implementers(name)
	}
	return []*Node{s.Node(name)}
}

// AtEnd reports whether a node of a type can be at an end of an edge: at the target if `to` is set, and at the
// source otherwise. The type is the name of a node type or, if isInterface is set, of an interface. A
// variable over an interface can be there if a type that implements the interface can.
func (s *Schema) AtEnd(e *Edge, to bool, typ string, isInterface bool) bool {
	name, shared := e.End(to)
	switch {
	case typ == name && isInterface == shared:
		return true
	case isInterface:
		return slices.ContainsFunc(s.Implementers(typ), func(n *Node) bool { return s.AtEnd(e, to, n.Name, false) })
	case shared:
		n := s.Node(typ)
		return n != nil && slices.Contains(n.Implements, name)
	}
	return false
}

// Index builds the name tables of a schema. The lists of the schema must be complete, and names
// must be unique.
func (s *Schema) Index() {
	s.nodes = make(map[string]*Node, len(s.Nodes))
	for _, n := range s.Nodes {
		s.nodes[n.Name] = n
		n.IndexProperties()
	}
	s.edges = make(map[string]*Edge, len(s.Edges))
	for _, e := range s.Edges {
		s.edges[strings.ToLower(e.Name)] = e
		e.IndexProperties()
	}
	s.interfaces = make(map[string]*Interface, len(s.Interfaces))
	for _, i := range s.Interfaces {
		s.interfaces[i.Name] = i
		i.IndexProperties()
	}
}

// IndexProperties builds the tables that [Interface.Common] and [Interface.Property] read.
func (i *Interface) IndexProperties() {
	// A schema that was stored before TypeProperty was reserved may have a property of this name.
	i.common = slices.DeleteFunc(slices.Clone(i.Properties), func(p *Property) bool { return p.Name == TypeProperty })
	i.common = append(i.common, &Property{Name: TypeProperty, Type: value.Of(value.String)})
	i.byName = byName(i.common)
}

// IndexProperties builds the table that [Node.Property] reads.
func (n *Node) IndexProperties() { n.byName = byName(n.Properties) }

// IndexProperties builds the table that [Edge.Property] reads.
func (e *Edge) IndexProperties() { e.byName = byName(e.Properties) }

// byName maps the names of properties to the properties.
func byName(props []*Property) map[string]*Property {
	m := make(map[string]*Property, len(props))
	for _, p := range props {
		m[p.Name] = p
	}
	return m
}
