package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Side is one of the states that a caller compares.
type Side struct {
	State  *version.Snapshot // nil for the state before the first commit
	Rights *engine.Rights    // what the caller may read of the state; nil for all of it
	Part   *Part             // the part that Rights allow; nil for all of it
}

// Sides are the states of a comparison: the first two are those before and after its changes. A comparison is whole or refused: a caller
// sees it if the rights allow each changed entity in each of the states that has it.
type Sides []Side

// errUnseen is the error of a comparison that the rights do not allow.
var errUnseen = &engine.NotAllowed{Reason: "it is about changes of which you may see only a part; somebody who may read all of them has to do it"}

// Whole reports whether the rights hide nothing.
func (s Sides) Whole() bool {
	return !slices.ContainsFunc(s, func(side Side) bool { return side.Part != nil })
}

// find returns the type with a name, and the ordinal of its entity with an id. It reports whether the state has the entity.
func (s *Side) find(entity, typ, id string) (t *schema.Type, ord uint32, ok bool) {
	if s.State == nil {
		return nil, 0, false
	}
	kind := plan.Node
	if entity == plan.Edge.String() {
		kind = plan.Edge
	}
	if t = s.State.Schema.Type(kind, typ); t == nil {
		return nil, 0, false
	}
	ord, ok = s.State.Table(kind, t.Index).Lookup(id)
	return t, ord, ok
}

// hides reports whether the state has an entity that the rights do not allow, or whose property they do not allow.
func (s *Side) hides(entity, typ, id, property string) bool {
	if s.Part == nil {
		return false
	}
	t, _, ok := s.find(entity, typ, id)
	if !ok {
		return false
	}
	_, seen := s.Part.Table(t.Entity, t.Index).Lookup(id)
	return !seen || of(s.Rights, t).Hides(property)
}

// hides reports whether a side hides an entity or its property.
func (s Sides) hides(entity, typ, id, property string) bool {
	return slices.ContainsFunc(s, func(side Side) bool { return side.hides(entity, typ, id, property) })
}

// pageOfChanges is the number of changes that CheckChanges reads at a time.
const pageOfChanges = 1024

// CheckChanges returns an *engine.NotAllowed unless the caller may see each change from the first to the second state whole. A caller does not see
// the changes of a schema.
func (s Sides) CheckChanges(ctx context.Context) error {
	was, is := s[0].State, s[1].State
	for _, side := range s[1:] {
		if was != nil && side.State.Schema.Digest != was.Schema.Digest {
			return errUnseen
		}
	}
	d := version.Compare(was, is)
	r := engine.ChangeRange{Limit: pageOfChanges}
	for more := true; more; {
		var list []engine.EntityChange
		var err error
		if list, more, err = d.Page(ctx, &r); err != nil {
			return err
		}
		for i := range list {
			if s.hidesChange(&list[i]) && !fault.On(fault.MergeUnseen) {
				return errUnseen
			}
			r.After = list[i].Position()
		}
	}
	return nil
}

// hidesChange reports whether a side hides an entity that has changed, or the value of a property that the change shows. A new entity may
// have the defaults of hidden properties.
func (s Sides) hidesChange(c *engine.EntityChange) bool {
	if s.hides(c.Entity, c.Type, c.ID, "") {
		return true
	}
	for i := range s {
		t, _, _ := s[i].find(c.Entity, c.Type, c.ID)
		if t == nil || s[i].Part == nil {
			continue
		}
		for _, p := range c.Properties {
			at, ok := t.Prop(p.Name)
			if !ok || !of(s[i].Rights, t).Hides(p.Name) {
				continue
			}
			initial := t.Props[at].Default
			if c.Kind != engine.Inserted || initial == nil || !value.Equal(p.New, initial.Value) {
				return true
			}
		}
	}
	return false
}

// CheckPlaces returns an *engine.NotAllowed if a resolution is about something hidden.
func (s Sides) CheckPlaces(resolutions []engine.Resolution) error {
	for i := range resolutions {
		if r := &resolutions[i]; s.hides(r.Entity, r.Type, r.ID, r.Property) {
			return errUnseen
		}
	}
	return nil
}

// CheckShown returns an *engine.BadArgument unless a caller with rights sees each of some entities. It is the same for a hidden entity and for
// one that does not exist.
func (s Sides) CheckShown(entities []engine.ChangePosition) error {
	if s.Whole() {
		return nil
	}
	for _, at := range entities {
		has := func(side Side) bool { _, _, ok := side.find(at.Entity, at.Type, at.ID); return ok }
		if s.Hides(at) || !slices.ContainsFunc(s, has) {
			return &engine.BadArgument{Param: "on", Detail: fmt.Sprintf("found the %s %s %q, expected an entity that you see on one of the branches", at.Entity, at.Type, at.ID)}
		}
	}
	return nil
}

// CheckConflicts returns an *engine.NotAllowed if a conflict says something of hidden entities: it is about one, or a hidden entity may
// be a part of its reason.
func (s Sides) CheckConflicts(conflicts []engine.MergeConflict) error {
	if s.Whole() {
		return nil
	}
	for i := range conflicts {
		c := &conflicts[i]
		switch {
		case s.hides(c.Entity, c.Type, c.ID, c.Property), c.Edges > 0 && s.hidesEdges(c.Type, c.ID):
			return errUnseen
		case c.Kind != engine.DivergentInsert && c.Kind != engine.DivergentUpdate && c.Kind != engine.DeleteVsUpdate:
			return &engine.NotAllowed{Reason: "the merge would break a rule of the graph; somebody who may read all of it has to look at the conflicts"}
		}
	}
	return nil
}

// Hides reports whether a side hides an entity.
func (s Sides) Hides(at engine.ChangePosition) bool { return s.hides(at.Entity, at.Type, at.ID, "") }

// Withheld returns the error of [Parts.CheckWrite] for a merge, without an entity that a side hides.
func (s Sides) Withheld(err error) error {
	var denied *engine.NotAllowed
	if errors.As(err, &denied) && s.hides(denied.Entity, denied.Type, denied.ID, denied.Property) {
		return &engine.NotAllowed{Reason: "the merge would change something that you may not see"}
	}
	return err
}

// hidesEdges reports whether a side hides an edge at a node.
func (s Sides) hidesEdges(typ, id string) bool {
	for i := range s {
		t, ord, ok := s[i].find(plan.Node.String(), typ, id)
		if s[i].Part == nil || !ok {
			continue
		}
		for edge, at := range s[i].State.EdgesAt(t, ord) {
			if !s[i].Part.Table(plan.Edge, edge.Index).Alive(at) {
				return true
			}
		}
	}
	return false
}

// Show removes the properties that a side hides from the images of changes.
func (s Sides) Show(changes []engine.EntityChange) {
	for i := range changes {
		c := &changes[i]
		c.Before, c.After = s.Image(c.Entity, c.Type, c.Before), s.Image(c.Entity, c.Type, c.After)
		c.Properties = slices.DeleteFunc(slices.Clone(c.Properties), func(p engine.PropertyChange) bool { return s.hidesProperty(c.Entity, c.Type, p.Name) })
	}
}

// Image returns an image of an entity without the properties that a side hides. The image may be nil.
func (s Sides) Image(entity, typ string, image *engine.Image) *engine.Image {
	if image == nil {
		return nil
	}
	seen := *image
	seen.Properties = slices.DeleteFunc(slices.Clone(image.Properties), func(p engine.PropertyValue) bool { return s.hidesProperty(entity, typ, p.Name) })
	return &seen
}

// hidesProperty reports whether a side hides a property of a type.
func (s Sides) hidesProperty(entity, typ, property string) bool {
	return slices.ContainsFunc(s, func(side Side) bool {
		if side.Rights == nil {
			return false
		}
		types := side.Rights.Nodes
		if entity == plan.Edge.String() {
			types = side.Rights.Edges
		}
		return types[typ].Hides(property)
	})
}
