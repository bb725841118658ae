// Package resolve builds the catalog of a parsed schema. It resolves every name and reports
// errors in types and constraints. It is separate from gq/catalog so that a program can link the
// catalog without the parser.
package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Schema resolves a parsed schema. It reports all errors at once. The schema is complete only if
// the list has no errors.
func Schema(tree *syntax.Schema) (*catalog.Schema, diag.List) { return SchemaWithin(nil, tree) }

// SchemaWithin is Schema with a meter, which may panic to end the work of SchemaWithin.
func SchemaWithin(m *work.Meter, tree *syntax.Schema) (*catalog.Schema, diag.List) {
	b := newBuilder(tree)
	b.meter = m
	b.build(tree)
	return b.schema, b.faults
}

// newBuilder returns a builder for a parsed schema.
func newBuilder(tree *syntax.Schema) *builder {
	b := &builder{
		schema:     &catalog.Schema{Nodes: []*catalog.Node{}, Edges: []*catalog.Edge{}},
		interfaces: map[string]*catalog.Interface{},
		traits:     map[*catalog.Property]traits{},
		nodes:      map[string]bool{},
		broken:     make(map[string]bool, len(tree.Broken)),
	}
	for _, name := range tree.Broken {
		b.broken[name] = true
	}
	return b
}

// build adds all declarations to the catalog.
func (b *builder) build(tree *syntax.Schema) {
	b.declare(tree)
	for _, d := range tree.Decls {
		if d, ok := d.(*syntax.Interface); ok {
			b.iface(d)
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *syntax.Interface:
		case *syntax.Node:
			b.node(d)
		case *syntax.Edge:
			b.edge(d)
		}
	}
	b.schema.Index()
	b.backfills()
	b.faults.Sort()
	b.faults = b.faults.Cut(diag.Most)
}

// builder builds a catalog from a parsed schema and collects the faults.
type builder struct {
	schema     *catalog.Schema               // the result
	faults     diag.List                     // errors found so far
	hints      int                           // number of suggestions looked up
	steps      int                           // number of visits of declarations, members and names
	meter      *work.Meter                   // counts the work; nil for no limits
	nodes      map[string]bool               // names of the declared node types
	nodeNames  []string                      // the same names in source order, for suggestions
	interfaces map[string]*catalog.Interface // by name
	traits     map[*catalog.Property]traits  // by property
	skip       map[syntax.Decl]bool          // repeated declarations of a name
	fills      []backfill                    // the expressions to check once all types are known
	// The names of the types with declarations that did not parse. The use of such a name is not
	// reported as an error.
	broken map[string]bool
}

// step adds n visits of declarations, members and names to the count.
func (b *builder) step(n int) {
	b.steps += n
	b.meter.Step(n)
}

// traits are the annotations of a property that constrain its type.
type traits struct {
	key, unique, index bool      // the annotation is present
	span               diag.Span // of the last one of these annotations
}

// fault reports an error. It keeps at most one more than diag.Most.
func (b *builder) fault(code diag.Code, at diag.Span, help, format string, args ...any) {
	if len(b.faults) <= diag.Most {
		b.faults = append(b.faults, diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
	}
}

// maxHints bounds the number of suggestions that the builder looks for in a schema, one for each
// misspelt name. Each look-up takes time in proportion to the number of candidates.
const maxHints = 50

// suggest returns the help line for a misspelt name, or "".
func (b *builder) suggest(name string, names func() []string) string {
	if b.hints++; b.hints > maxHints {
		return ""
	}
	among := names()
	b.step(len(among))
	return diag.DidYouMean(name, among)
}

// declare collects the names of all types, so that a type may be used before it is declared.
func (b *builder) declare(tree *syntax.Schema) {
	b.skip = map[syntax.Decl]bool{}
	seen := map[string]diag.Span{}
	for _, d := range tree.Decls {
		b.step(1)
		var kind string
		var name syntax.Token
		var space string
		switch d := d.(type) {
		case *syntax.Interface:
			kind, name = "interface", d.Name
			space = name.Value
		case *syntax.Node:
			kind, name = "node", d.Name
			space = name.Value
		case *syntax.Edge:
			kind, name = "edge", d.Name
			space = strings.ToLower(name.Value) // queries match edge names ignoring case
		}
		at := syntax.SpanOf(name)
		if first, ok := seen[kind+" "+space]; ok {
			b.fault(DuplicateType, at, "", "duplicate %s %s, first declared at %s", kind, name.Value, first)
			b.skip[d] = true
			continue
		}
		seen[kind+" "+space] = at
		if kind == "node" {
			b.nodes[name.Value] = true
			b.nodeNames = append(b.nodeNames, name.Value)
		}
	}
}

// iface adds an interface to the catalog.
func (b *builder) iface(d *syntax.Interface) {
	if b.skip[d] {
		return
	}
	i := &catalog.Interface{Name: d.Name.Value, Properties: []*catalog.Property{}}
	seen := map[string]bool{}
	for _, p := range d.Properties {
		if prop := b.property(p, seen); prop != nil {
			i.Properties = append(i.Properties, prop)
			if prop.Name == catalog.TypeProperty {
				b.fault(ReservedName, syntax.SpanOf(p.Name), "choose another name", "type is a reserved name: a variable over %s has it for the name of its node's type", i.Name)
			}
		}
	}
	b.interfaces[i.Name] = i
	b.schema.Interfaces = append(b.schema.Interfaces, i)
}

// node adds a node type to the catalog.
func (b *builder) node(d *syntax.Node) {
	if b.skip[d] {
		return
	}
	n := &catalog.Node{Name: d.Name.Value, Properties: []*catalog.Property{}}
	n.Description, n.RenameFrom, n.Annotations = b.typeAnnotations(d.Annotations)
	inherited := b.inherit(d, n)
	place := make(map[string]int, len(n.Properties))
	for i, p := range n.Properties {
		place[p.Name] = i
	}
	seen := map[string]bool{}
	for _, m := range d.Members {
		b.step(1)
		p, ok := m.(*syntax.Property)
		if !ok {
			continue
		}
		prop := b.property(p, seen)
		if prop == nil {
			continue
		}
		if from, ok := inherited[prop.Name]; ok {
			i := place[prop.Name]
			if !n.Properties[i].Type.Equal(prop.Type) {
				b.fault(InterfaceClash, syntax.SpanOf(p.Name), "declare it as "+n.Properties[i].Type.String()+", or leave it out",
					"property %s is %s here, but %s in interface %s", prop.Name, prop.Type, n.Properties[i].Type, from)
				continue
			}
			n.Properties[i] = prop
			continue
		}
		n.Properties = append(n.Properties, prop)
	}
	n.IndexProperties()
	b.nodeConstraints(d, n)
	n.Valid = b.validity(d.Annotations, n.Properties, n.Property)
	b.embeds(n.Properties, n.Property, d.Members, syntax.SpanOf(d.Name))
	b.fillings(d, d.Members, n.Properties, n.Property, n)
	b.reservedNode(d, n)
	b.schema.Nodes = append(b.schema.Nodes, n)
}

// inherit copies the properties of the interfaces into the node type. It returns the name of the
// interface that each property comes from.
func (b *builder) inherit(d *syntax.Node, n *catalog.Node) map[string]string {
	from := map[string]string{}
	place := map[string]int{}
	listed := map[string]bool{}
	for _, ref := range d.Implements {
		at, name := ref.Span(), ref.Name.Value
		i := b.interfaces[name]
		switch {
		case i == nil && b.broken[name]:
			continue
		case i == nil:
			b.fault(UnknownInterface, at, b.suggest(name, b.interfaceNames), "unknown interface %s", name)
			continue
		case listed[name]:
			b.fault(UnknownInterface, at, "", "interface %s is listed twice", name)
			continue
		}
		listed[name] = true
		n.Implements = append(n.Implements, name)
		for _, p := range i.Properties {
			b.step(1)
			if other, ok := from[p.Name]; ok {
				if first := n.Properties[place[p.Name]]; !first.Type.Equal(p.Type) {
					b.fault(InterfaceClash, at, "", "property %s is %s in interface %s, but %s in interface %s",
						p.Name, first.Type, other, p.Type, name)
				} else if !catalog.SameFilling(first, p) {
					b.fault(InterfaceClash, at, "write the same @default and @backfill in both", "property %s has another @default or @backfill in interface %s than in interface %s", p.Name, other, name)
				}
				continue
			}
			from[p.Name], place[p.Name] = name, len(n.Properties)
			c := *p
			n.Properties = append(n.Properties, &c)
			b.traits[&c] = b.traits[p]
		}
	}
	return from
}

// interfaceNames returns the names of the interfaces.
func (b *builder) interfaceNames() []string {
	names := make([]string, len(b.schema.Interfaces))
	for i, f := range b.schema.Interfaces {
		names[i] = f.Name
	}
	return names
}

// edge adds an edge type to the catalog.
func (b *builder) edge(d *syntax.Edge) {
	if b.skip[d] {
		return
	}
	e := &catalog.Edge{Name: d.Name.Value, From: d.From.Value, To: d.To.Value}
	e.FromInterface, e.ToInterface = b.end(d.From), b.end(d.To)
	e.Description, e.RenameFrom, e.Annotations = b.typeAnnotations(d.Annotations)
	for i, c := range d.Cards {
		b.card(e, c, i > 0)
	}
	seen := map[string]bool{}
	for _, m := range d.Members {
		b.step(1)
		if p, ok := m.(*syntax.Property); ok {
			if prop := b.property(p, seen); prop != nil {
				e.Properties = append(e.Properties, prop)
				b.refuseApproximate(prop, p)
				if slices.Contains(edgeNames, prop.Name) {
					b.fault(ReservedName, syntax.SpanOf(p.Name), "choose another name", "%s is a reserved name: every edge already has it", prop.Name)
				}
			}
		}
	}
	e.IndexProperties()
	b.edgeConstraints(d, e)
	e.Valid = b.validity(d.Annotations, e.Properties, e.Property)
	b.embeds(e.Properties, e.Property, d.Members, syntax.SpanOf(d.Name))
	b.fillings(d, d.Members, e.Properties, e.Property, nil)
	b.schema.Edges = append(b.schema.Edges, e)
}

// end reports whether the name at an end of an edge is that of an interface. The name of a node type
// takes precedence over that of an interface.
func (b *builder) end(t syntax.Token) (isInterface bool) {
	switch {
	case b.nodes[t.Value], b.broken[t.Value]:
		return false
	case b.interfaces[t.Value] != nil:
		return true
	}
	names := func() []string { return append(b.interfaceNames(), b.nodeNames...) }
	b.fault(UnknownEndpoint, syntax.SpanOf(t), b.suggest(t.Value, names), "the schema has no node type or interface %s", t.Value)
	return false
}

// edgeNames lists the names that queries, loads and constraints use for the parts that every
// edge has.
var edgeNames = []string{"id", "from", "to", "src", "dst"}

// card checks @card, and adds it to the edge type. The parameter `again` says that the edge type
// already has a @card.
func (b *builder) card(e *catalog.Edge, c *syntax.Card, again bool) {
	card := &catalog.Cardinality{Max: -1}
	card.Min, _ = syntax.Small(c.Min)
	if c.Max != nil {
		card.Max, _ = syntax.Small(*c.Max)
	}
	switch {
	case again:
		b.fault(BadCardinality, c.Span(), "remove one of them", "edge %s has a second @card", e.Name)
	case card.Max >= 0 && card.Min > card.Max:
		b.fault(BadCardinality, c.Span(), fmt.Sprintf("write @card(%d..%d)", card.Max, card.Min),
			"the minimum %d is above the maximum %d", card.Min, card.Max)
	}
	e.Card = card
}

// property resolves a property. It returns nil if the name is already taken.
func (b *builder) property(p *syntax.Property, seen map[string]bool) *catalog.Property {
	prop := &catalog.Property{Name: p.Name.Value, Type: b.typ(p.Type)}
	if seen[prop.Name] {
		b.fault(DuplicateProperty, syntax.SpanOf(p.Name), "", "duplicate property %s", prop.Name)
		return nil
	}
	seen[prop.Name] = true
	b.propertyAnnotations(prop, p)
	return prop
}

// typ returns the type of a property, and checks the length of a Vector and the values of an enum.
func (b *builder) typ(t *syntax.Type) value.Type {
	v := t.Value()
	if v.Kind == value.Vector && v.Dim == 0 {
		b.fault(EmptyVector, t.Span(), "write the length of your embeddings, such as Vector(384)", "the Vector has length 0")
	}
	if t.EnumEnd == nil {
		return v
	}
	if len(v.Enum) == 0 {
		b.fault(BadEnum, t.Span(), "list the values, as in enum(on, off)", "the enum has no values")
	}
	seen := make(map[string]bool, len(t.Enum))
	for _, e := range t.Enum {
		b.step(1)
		if seen[e.Text] {
			b.fault(BadEnum, e.Span(), "", "enum value %s is listed twice", e.Text)
		}
		seen[e.Text] = true
	}
	return v
}

// reservedNode reports a property id that is not the whole key of its node type.
func (b *builder) reservedNode(d *syntax.Node, n *catalog.Node) {
	if n.Property("id") == nil || len(n.Key) == 1 && n.Key[0] == "id" {
		return
	}
	at := syntax.SpanOf(d.Name)
	for _, m := range d.Members {
		if m, ok := m.(*syntax.Property); ok && m.Name.Value == "id" {
			at = syntax.SpanOf(m.Name)
		}
	}
	b.fault(ReservedName, at, "write `id: String @key`, or choose another name", "id is a reserved name: every %s node already has an id", n.Name)
}
