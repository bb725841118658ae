package version

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// place returns the place of a conflict.
func place(t *schema.Type, id, property string) engine.ConflictPlace {
	return engine.ConflictPlace{Entity: t.Entity.String(), Type: t.Name, ID: id, Property: property}
}

// side returns the side that the resolution of a place takes, or 0 if the place has no resolution.
func (m *merge) side(t *schema.Type, id, property string) engine.MergeSide {
	if r := m.resolutions[place(t, id, property)]; r != nil {
		return r.Take
	}
	return 0
}

// part returns an image of an entity with only the given property. If the property is an end of an
// edge, the image has no properties.
func (e *entityState) part(s *schema.Schema, t *schema.Type, property string) *engine.Image {
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
