package compile

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// places returns the spans of the named parts of a query.
func places(q *syntax.Query) Places {
	name := syntax.SpanOf(q.Name)
	p := Places{Name: name, ToolName: name}
	var columns []*syntax.Projection
	switch body := q.Body.(type) {
	case *syntax.Read:
		columns = body.Returns
	case *syntax.Mutation:
		columns = body.Returns
	}
	for _, c := range columns {
		at := c.Expr.Source().Span()
		if c.Alias != nil {
			at = syntax.SpanOf(*c.Alias)
		}
		p.Columns = append(p.Columns, at)
	}
	return p
}

// SchemaPlaces holds the spans of the types and properties of a schema. Diagnostics about a catalog need it,
// because a catalog has no spans.
type SchemaPlaces struct {
	types map[placeKey]diag.Span // of the names of node types and interfaces; the keys have no property
	props map[placeKey]*syntax.Property
}

// placeKey identifies a property of a type.
type placeKey struct {
	entity    plan.Entity // whether typ is a node type or an edge type
	typ, name string      // names of the type and the property
}

// PlacesOf parses a schema, which must be free of errors, and returns its places.
func PlacesOf(src Source, s *catalog.Schema) *SchemaPlaces {
	tree, _ := syntax.ParseSchema(src.Name, src.Text)
	p := &SchemaPlaces{types: map[placeKey]diag.Span{}, props: map[placeKey]*syntax.Property{}}
	interfaces := map[string]*syntax.Interface{}
	own := func(entity plan.Entity, typ string, members []syntax.Member) {
		for _, m := range members {
			if prop, ok := m.(*syntax.Property); ok {
				p.props[placeKey{entity, typ, prop.Name.Value}] = prop
			}
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *syntax.Interface:
			interfaces[d.Name.Value] = d
			p.types[placeKey{plan.Interface, d.Name.Value, ""}] = syntax.SpanOf(d.Name)
		case *syntax.Node:
			own(plan.Node, d.Name.Value, d.Members)
			p.types[placeKey{plan.Node, d.Name.Value, ""}] = syntax.SpanOf(d.Name)
		case *syntax.Edge:
			own(plan.Edge, d.Name.Value, d.Members)
		}
	}
	// A node type inherits a property that it does not declare from the first interface that has it.
	for _, n := range s.Nodes {
		for _, name := range n.Implements {
			if interfaces[name] == nil {
				continue
			}
			for _, prop := range interfaces[name].Properties {
				key := placeKey{plan.Node, n.Name, prop.Name.Value}
				if p.props[key] == nil {
					p.props[key] = prop
				}
			}
		}
	}
	return p
}

// Type returns the span of the name of a node type or an interface in its declaration. The result is zero for an
// unknown type.
func (p *SchemaPlaces) Type(entity plan.Entity, name string) diag.Span {
	return p.types[placeKey{entity, name, ""}]
}

// Property returns the span of the name of a property in the declaration of a type. If a node type
// inherits the property, the span is in the declaration of the interface. The result is zero for an
// unknown property.
func (p *SchemaPlaces) Property(entity plan.Entity, typ, name string) diag.Span {
	prop := p.props[placeKey{entity, typ, name}]
	if prop == nil {
		return diag.Span{}
	}
	return syntax.SpanOf(prop.Name)
}

// EnumValue returns the span of a value in the declaration of an enum property. It is zero for an
// unknown value.
func (p *SchemaPlaces) EnumValue(entity plan.Entity, typ, name, value string) diag.Span {
	prop := p.props[placeKey{entity, typ, name}]
	if prop == nil {
		return diag.Span{}
	}
	for _, v := range prop.Type.Enum {
		if v.Text == value {
			return v.Span()
		}
	}
	return diag.Span{}
}
