package model

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// buildEnums names a type for every enum property of the schema, even if no query uses the
// property. So the set of types does not depend on the queries.
func (b *builder) buildEnums() {
	add := func(entity plan.Entity, typ string, props []*catalog.Property) {
		for _, p := range props {
			if p.Type.Enum == nil {
				continue
			}
			b.buildEnum(entity, typ, p)
		}
	}
	for _, n := range b.schema.Nodes {
		add(plan.Node, n.Name, n.Properties)
	}
	for _, e := range b.schema.Edges {
		add(plan.Edge, e.Name, e.Properties)
	}
}

// buildEnum names the Go type and the constants of one enum property.
func (b *builder) buildEnum(entity plan.Entity, typ string, p *catalog.Property) {
	name := fmt.Sprintf("the enum of %s.%s", typ, p.Name)
	goName := GoName(typ) + GoName(p.Name)
	if _, taken := b.decls[goName]; taken && entity == plan.Edge {
		goName += "Edge" // nodes and edges have separate name spaces
	}
	e := &Enum{Entity: entity, Type: typ, Property: p.Name, GoName: goName}
	b.declare(e.GoName, owner{name, func() diag.Span { return b.schemaPlaces().Property(entity, typ, p.Name) }})
	for _, v := range p.Type.Enum {
		goName := e.GoName + strings.TrimPrefix(GoName("x "+v), "X")
		b.declare(goName, owner{fmt.Sprintf("the value %s of %s", v, name),
			func() diag.Span { return b.schemaPlaces().EnumValue(entity, typ, p.Name, v) }})
		e.Values = append(e.Values, EnumValue{GoName: goName, Value: v})
	}
	b.enums[propKey{entity, typ, p.Name}] = e
	b.pkg.Enums = append(b.pkg.Enums, e)
}

// buildIDs names a type for the ids of each node type and each interface, even if no query uses it.
func (b *builder) buildIDs() {
	add := func(entity plan.Entity, what string, of string, at func() diag.Span) *ID {
		id := &ID{Of: of, GoName: GoName(of) + "ID"}
		if _, taken := b.decls[id.GoName]; taken && entity == plan.Interface {
			id.GoName = GoName(of) + "InterfaceID" // node types and interfaces have separate name spaces
		}
		b.declare(id.GoName, owner{"the id of " + what + " " + of, at})
		b.ids[propKey{entity, of, ""}] = id
		b.pkg.IDs = append(b.pkg.IDs, id)
		return id
	}
	for _, n := range b.schema.Nodes {
		add(plan.Node, "node type", n.Name, func() diag.Span { return b.schemaPlaces().Type(plan.Node, n.Name) })
	}
	for _, i := range b.schema.Interfaces {
		id := add(plan.Interface, "interface", i.Name, func() diag.Span { return b.schemaPlaces().Type(plan.Interface, i.Name) })
		id.Record = &Struct{GoName: id.GoName}
		var types []string
		for _, n := range b.schema.Implementers(i.Name) {
			types = append(types, n.Name)
		}
		for _, f := range plan.NodeType(types).Fields {
			id.Record.Fields = append(id.Record.Fields, Field{Name: f.Name, GoName: GoName(f.Name), Type: f.Type})
		}
	}
}
