package restricted

import (
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Plan returns the plan of a stored query without the hidden properties of the whole nodes that it returns. It returns nil if the query
// names a type or a property that the rights hide. The schema is the one to which the rights belong.
func (c *Cache) Plan(q *plan.Query, s *engine.Schema, r *engine.Rights) *plan.Query {
	if r == nil {
		return q
	}
	seen := s.Catalog
	if hidesNames(r) {
		seen = c.Schema(s, r).Catalog
	}
	if originHidden(q, s.Catalog, seen) != "" {
		return nil
	}
	if !hidesNames(r) {
		return q
	}
	return recall(c, &c.plans, keptPlan{q, kept{r.Digest, s.Digest}}, func() *plan.Query { return reducePlan(q, s.Catalog, seen) })
}

// property is a property of a type of entities.
type property struct {
	entity    plan.Entity
	typ, name string
}

// reducePlan is Plan for a schema and what is visible of it.
func reducePlan(q *plan.Query, s, seen *catalog.Schema) *plan.Query {
	r := reducer{seen: seen, hidden: map[property]bool{}}
	fewer := func(i string) bool { return len(seen.Implementers(i)) < len(s.Implementers(i)) }
	narrower := false // the query may return names of types that are hidden now
	var uses []plan.Use
	for _, u := range q.Uses {
		narrower = narrower || u.Entity == plan.Interface && fewer(u.Type)
		switch props, ok := propertiesOf(seen, u.Entity, u.Type); {
		case !ok:
			if _, known := propertiesOf(s, u.Entity, u.Type); known {
				return nil
			}
			uses = append(uses, u) // the schema lacks the type, which the engine reports
		case u.Property == "" || has(props, u.Property):
			uses = append(uses, u)
		default:
			r.hidden[property{u.Entity, u.Type, u.Property}] = true
		}
	}
	for i := range q.Params {
		p := &q.Params[i]
		if p.Node != "" && seen.Node(p.Node) == nil && s.Node(p.Node) != nil {
			return nil
		}
		// The type of such a parameter lists the types of the interface.
		if p.Interface != "" && fewer(p.Interface) {
			return nil
		}
	}
	if len(r.hidden) == 0 && !narrower {
		return q
	}
	reduced := r.copy(reflect.ValueOf(q), scope{}).Interface().(*plan.Query)
	if r.named {
		return nil
	}
	reduced.Uses = uses
	return reduced
}

// originHidden says which origin of a plan a caller with rights to a part of the graph may not read, and what to do; "" if it may read all. A
// row has one origin for all of its properties, so that of a row with hidden ones would tell of their changes. The tool may be a stored
// query that the caller may not know.
func originHidden(q *plan.Query, s, seen *catalog.Schema) (refusal string) {
	q.WalkOrigins(func(v *plan.Var, o plan.Origin) {
		types := []string{v.Type}
		entity := v.Entity
		if entity == plan.Interface {
			entity, types = plan.Node, nil
			for _, n := range s.Implementers(v.Type) {
				types = append(types, n.Name)
			}
		}
		hides := func(name string) bool {
			all, _ := propertiesOf(s, entity, name)
			shown, ok := propertiesOf(seen, entity, name)
			return ok && len(shown) < len(all)
		}
		switch {
		case o.Fact == plan.OriginTool:
			refusal = "you may read a part of the graph, so you may not read origin($" + v.Name + ").tool; leave it out"
		case slices.ContainsFunc(types, hides):
			refusal = "you may not read all properties of " + v.Type + ", so you may not read its origin; leave out origin($" + v.Name + ")"
		}
	})
	return refusal
}

// admits returns an *engine.SchemaMismatch if a plan uses a part of a schema that is not visible. It does not say which, except of an origin.
func admits(q *plan.Query, s, seen *catalog.Schema) error {
	if refusal := originHidden(q, s, seen); refusal != "" {
		return &engine.SchemaMismatch{Detail: refusal}
	}
	for _, u := range q.Uses {
		props, ok := propertiesOf(seen, u.Entity, u.Type)
		if ok && (u.Property == "" || has(props, u.Property)) {
			continue
		}
		if props, ok = propertiesOf(s, u.Entity, u.Type); ok && (u.Property == "" || has(props, u.Property)) {
			return &engine.SchemaMismatch{Detail: "the query uses a type or a property that you may not read"}
		}
	}
	return nil
}

// propertiesOf returns the properties of a type of a schema, and whether the schema has the type.
func propertiesOf(s *catalog.Schema, entity plan.Entity, name string) (props []*catalog.Property, ok bool) {
	switch entity {
	case plan.Node:
		if n := s.Node(name); n != nil {
			return n.Properties, true
		}
	case plan.Edge:
		if e := s.Edge(name); e != nil {
			return e.Properties, true
		}
	case plan.Interface:
		if i := s.Interface(name); i != nil {
			return i.Common(), true
		}
	case plan.Walk:
	}
	return nil, false
}

// reducer copies a plan without the hidden fields of whole nodes. It goes through all parts of the plan by reflection, so that it also finds
// properties in constructs that came to the language later.
type reducer struct {
	seen   *catalog.Schema
	hidden map[property]bool // the hidden properties that the plan uses
	named  bool              // the plan also uses one of them for something else
}

// scope is what the names in a part of a plan belong to.
type scope struct {
	vars   []plan.Var  // of the read, or of the mutation
	entity plan.Entity // the entities that a statement writes
	typ    string
}

// planPath is the path of package plan. The reducer shares all values of other packages with the original.
var planPath = reflect.TypeFor[plan.Query]().PkgPath()

// copy returns a copy of a part of a plan.
func (r *reducer) copy(v reflect.Value, at scope) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Pointer && v.Type().Elem().PkgPath() != planPath {
			return v
		}
		inner := r.copy(v.Elem(), at)
		if v.Kind() == reflect.Interface {
			out := reflect.New(v.Type()).Elem()
			out.Set(inner)
			return out
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(inner)
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.copy(v.Index(i), at))
		}
		return out
	case reflect.Struct:
		if v.Type().PkgPath() != planPath {
			return v
		}
		at = r.enter(v.Interface(), at)
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(r.copy(v.Field(i), at))
		}
		if c, ok := out.Addr().Interface().(*plan.Column); ok {
			r.reduce(c, at)
		}
		return out
	default:
		return v
	}
}

// enter notes the property that a part of a plan uses, and returns the scope of what is in the part.
func (r *reducer) enter(part any, at scope) scope {
	use := func(entity plan.Entity, typ, name string) { r.named = r.named || r.hidden[property{entity, typ, name}] }
	switch p := part.(type) {
	case plan.Read:
		at.vars = p.Vars
	case plan.Mutation:
		at.vars = p.Vars
	case plan.Insert:
		at.entity, at.typ = p.Entity, p.Type
	case plan.Update:
		at.entity, at.typ = p.Entity, p.Type
	case plan.Delete:
		at.entity, at.typ = p.Entity, p.Type
	case plan.KeyOf:
		at.entity, at.typ = plan.Node, p.Node
	case plan.Prop:
		use(at.vars[p.Var].Entity, at.vars[p.Var].Type, p.Name)
	case plan.Assign:
		use(at.entity, at.typ, p.Name)
	case plan.Pred:
		use(at.entity, at.typ, p.Name)
	case plan.Old:
		use(at.entity, at.typ, p.Name)
	}
	return at
}

// reduce removes the hidden properties from the fields of a column of whole nodes.
func (r *reducer) reduce(c *plan.Column, at scope) {
	of := c.Expr
	if agg, ok := of.(plan.Agg); ok {
		of = agg.Arg
	}
	switch e := of.(type) {
	case plan.Whole:
		if v := at.vars[e.Var]; c.Fields != nil {
			c.Fields = slices.DeleteFunc(c.Fields, func(f plan.Field) bool { return r.hidden[property{v.Entity, v.Type, f.Name}] })
		}
	case plan.EndNode:
		if c.Fields != nil {
			var types []string
			for _, n := range r.seen.Implementers(e.Interface) {
				types = append(types, n.Name)
			}
			c.Fields = plan.NodeFields(types)
		}
	case plan.BlockRows:
		c.Fields = e.Fields()
	}
}
