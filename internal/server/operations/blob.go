package operations

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// BlobPlace locates a Blob: a property of an entity.
type BlobPlace struct {
	Entity   plan.Entity // node or edge
	Type     string      // name of the type
	ID       string
	Property string // name of the property
}

// Read returns the bytes of the Blob. The query language has no Blob values, but a plan can read
// them from an engine. The error is an *engine.NotFound if the type, entity, property or value does
// not exist, and a *tool.ArgumentError if the property is not a Blob.
func (p *BlobPlace) Read(ctx context.Context, g engine.Graph, at engine.Target) ([]byte, error) {
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return nil, err
	}
	q, err := p.plan(schema.Catalog)
	if err != nil {
		return nil, err
	}
	result, err := g.Query(ctx, q, engine.Args{value.OfString(p.ID)}, at)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		b, err := result.Next(ctx)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			return nil, p.missing(schema.Catalog)
		case b.Len == 0:
			continue
		}
		v := b.Columns[0].Value(0)
		if v.IsNull() {
			return nil, &engine.NotFound{What: "blob of " + p.Entity.String() + " " + p.Type, Name: p.ID}
		}
		return v.Bytes(), nil
	}
}

// missing returns the error for an entity that does not exist. If no node of the type can have such
// an id, the error describes the form of the ids.
func (p *BlobPlace) missing(s *catalog.Schema) error {
	err := error(&engine.NotFound{What: p.Entity.String() + " " + p.Type, Name: p.ID})
	if p.Entity == plan.Node {
		if form := s.Node(p.Type).IDForm(p.ID); form != "" {
			err = fmt.Errorf("%w; %s", err, form)
		}
	}
	return err
}

// endVar returns a variable for the node at an end of an edge.
func endVar(name string, e *catalog.Edge, to bool) plan.Var {
	typ, shared := e.End(to)
	if shared {
		return plan.Var{Name: name, Entity: plan.Interface, Type: typ}
	}
	return plan.Var{Name: name, Entity: plan.Node, Type: typ}
}

// plan returns a plan that reads the property. Its one argument is the id of the entity.
func (p *BlobPlace) plan(s *catalog.Schema) (*plan.Query, error) {
	var prop *catalog.Property
	r := &plan.Read{Limit: plan.NoLimit}
	use := plan.Use{Entity: p.Entity, Type: p.Type}
	var v plan.VarID
	switch p.Entity {
	case plan.Node:
		t := s.Node(p.Type)
		if t == nil {
			return nil, &engine.NotFound{What: "node type", Name: p.Type}
		}
		prop = t.Property(p.Property)
		r.Vars = []plan.Var{{Name: "n", Entity: plan.Node, Type: t.Name}}
		r.Match = []plan.Clause{plan.Bind{Var: v}}
		r.Ties = []plan.VarID{v}
	case plan.Edge:
		t := s.Edge(p.Type)
		if t == nil {
			return nil, &engine.NotFound{What: "edge type", Name: p.Type}
		}
		prop, v = t.Property(p.Property), 2
		use.Type, use.From, use.To = t.Name, t.EndName(false), t.EndName(true)
		r.Vars = []plan.Var{endVar("a", t, false), endVar("b", t, true), {Name: "e", Entity: plan.Edge, Type: t.Name}}
		r.Match = []plan.Clause{plan.Traverse{From: 0, To: 1, Edge: t.Name, EdgeVar: v, Min: 1, Max: 1}}
		r.Ties = []plan.VarID{0, 1, v}
	}
	if prop == nil {
		return nil, &engine.NotFound{What: "property of " + use.Type, Name: p.Property}
	}
	if prop.Type.Kind != value.Blob || prop.Type.List {
		return nil, &tool.ArgumentError{Path: "property", Detail: use.Type + "." + prop.Name + " is of type " + prop.Type.String() + ", expected a Blob", Help: "read it with a query"}
	}
	r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.ID{Var: v}, Right: plan.ParamRef{Index: 0}, Unless: plan.NoParam}})
	r.Columns = []plan.Column{{Name: prop.Name, Expr: plan.Prop{Var: v, Name: prop.Name, Type: prop.Type}, Type: prop.Type}}
	property := use
	property.Property, property.Value, property.From, property.To = prop.Name, prop.Type, "", ""
	uses := []plan.Use{use, property}
	for _, end := range r.Vars {
		if end.Entity == plan.Interface {
			uses = append(uses, plan.Use{Entity: plan.Interface, Type: end.Type})
		}
	}
	return &plan.Query{Name: "blob", Params: []plan.Param{{Name: "id", Type: value.Of(value.String)}}, Read: r, Uses: uses}, nil
}
