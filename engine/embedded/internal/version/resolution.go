package version

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// CheckResolution checks that the schema has the type and the property of a resolution, and that
// its value fits the property. It returns what is wrong, or "".
func (s *Schema) CheckResolution(r *engine.Resolution) string {
	entity := plan.Node
	if r.Entity == plan.Edge.String() {
		entity = plan.Edge
	}
	t := s.Type(entity, r.Type)
	switch {
	case t == nil || t.Entity.String() != r.Entity:
		return fmt.Sprintf("the schema has no %s type %s", r.Entity, r.Type)
	case r.Property == "" && r.Take == engine.TakeValue:
		return "an entity has no single value; take ours or theirs, or name a property"
	case r.Property == "" || r.Take != engine.TakeValue:
		return ""
	case entity == plan.Edge && (r.Property == "from" || r.Property == "to"):
		return s.EndType(t, r.Property == "to").CheckEnd(r.Value)
	}
	p, ok := t.Prop(r.Property)
	if !ok {
		return fmt.Sprintf("type %s has no property %s", r.Type, r.Property)
	}
	if err := t.CheckValue(p, r.Value); err != nil {
		return err.(*engine.ConstraintViolation).Detail
	}
	return ""
}

// place returns the place of a conflict.
func place(t *Type, id, property string) engine.ConflictPlace {
	return engine.ConflictPlace{Entity: t.Entity.String(), Type: t.Name, ID: id, Property: property}
}

// side returns the side that the resolution of a place takes, or 0 if the place has no resolution.
func (m *merge) side(t *Type, id, property string) engine.MergeSide {
	if r := m.resolutions[place(t, id, property)]; r != nil {
		return r.Take
	}
	return 0
}

// part returns an image of an entity with only the given property. If the property is an end of an
// edge, the image has no properties.
func (e *entityState) part(s *Schema, t *Type, property string) *engine.Image {
	out := &engine.Image{}
	e.setEnds(s, t, &out.From, &out.FromType, &out.To, &out.ToType)
	if t.Entity == plan.Edge && (property == "from" || property == "to") {
		return out
	}
	if p, ok := t.Prop(property); ok {
		out.Properties = []engine.PropertyValue{{Name: property, Value: Detached(e.vals[p])}}
	}
	return out
}
