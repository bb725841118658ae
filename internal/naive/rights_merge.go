package naive

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// side is one of the states that a caller with rights compares.
type side struct {
	state, seen *state // whole, and without what is hidden
	rights      *engine.Rights
}

// onlooker is a caller with rights to a part of some states. The first two are the ones whose difference it looks at.
type onlooker []side

// look returns the caller of a comparison of the states of commits.
func (g *Graph) look(states []*state, commits []string, rights []*engine.Rights) onlooker {
	o := make(onlooker, len(states))
	for i, s := range states {
		o[i] = side{s, s, rights[i]}
		if rights[i] != nil && commits[i] != "" {
			o[i].seen = g.visible(s, commits[i], rights[i])
		}
	}
	return o
}

// lookAtMerge returns the caller of a merge.
func (g *Graph) lookAtMerge(s sides, base string, source, target *engine.Rights) onlooker {
	return g.look([]*state{s.base, s.theirs, s.ours}, []string{base, s.from.ID, s.to.ID}, []*engine.Rights{source, source, target})
}

// restricted reports whether some rights are to a part only.
func (o onlooker) restricted() bool {
	return slices.ContainsFunc(o, func(s side) bool { return s.rights != nil })
}

// entityKind returns the kind with a name.
func entityKind(entity string) plan.Entity {
	if entity == plan.Edge.String() {
		return plan.Edge
	}
	return plan.Node
}

// hides reports whether a state has an entity that is hidden, or whose property is.
func (o onlooker) hides(entity, typ, id, property string) bool {
	kind := entityKind(entity)
	return slices.ContainsFunc(o, func(s side) bool {
		return s.rights != nil && s.state.of(kind, typ)[id] != nil && (s.seen.of(kind, typ)[id] == nil || rightsOf(s.rights, kind, typ).Hides(property))
	})
}

// check returns an *engine.NotAllowed unless the caller sees all changes whole, and the places of the resolutions.
func (o onlooker) check(g *Graph, all []engine.EntityChange, resolutions []engine.Resolution) error {
	denied := &engine.NotAllowed{Reason: "a part of it is hidden"}
	if !o.restricted() || g.fault == MergeUnseen {
		return nil
	}
	if !o.oneSchema() {
		return denied
	}
	for i := range all {
		c := &all[i]
		if o.hides(c.Entity, c.Type, c.ID, "") {
			return denied
		}
		for _, p := range c.Properties {
			for _, s := range o {
				if of := rightsOf(s.rights, entityKind(c.Entity), c.Type); of.Hides(p.Name) && !(c.Kind == engine.Inserted && s.isDefault(c, p)) {
					return denied
				}
			}
		}
	}
	for i := range resolutions {
		if r := &resolutions[i]; o.hides(r.Entity, r.Type, r.ID, r.Property) {
			return denied
		}
	}
	return nil
}

// checkShown returns an *engine.BadArgument unless the caller sees each of some entities in a state, and none hides it.
func (o onlooker) checkShown(entities []engine.ChangePosition) error {
	for _, at := range entities {
		exists := func(s side) bool { return s.state.of(entityKind(at.Entity), at.Type)[at.ID] != nil }
		if o.restricted() && (o.hides(at.Entity, at.Type, at.ID, "") || !slices.ContainsFunc(o, exists)) {
			return &engine.BadArgument{Param: "on", Detail: "no state shows the entity"}
		}
	}
	return nil
}

// oneSchema reports whether all states have the same schema.
func (o onlooker) oneSchema() bool {
	return !slices.ContainsFunc(o, func(s side) bool { return catalog.Digest(s.state.schema) != catalog.Digest(o[0].state.schema) })
}

// conflictsOf returns the error of a merge as the caller sees it, or the one that hides its conflicts.
func (o onlooker) conflictsOf(g *Graph, err error) error {
	var conflicts *engine.MergeConflicts
	if errors.As(err, &conflicts) {
		if denied := o.checkConflicts(g, conflicts.Conflicts); denied != nil {
			return denied
		}
		o.showConflicts(conflicts.Conflicts)
	}
	return err
}

// isDefault reports whether a new entity has the default of a property.
func (s side) isDefault(c *engine.EntityChange, changed engine.PropertyChange) bool {
	var p *catalog.Property
	if c.Entity == plan.Edge.String() {
		p = s.state.schema.Edge(c.Type).Property(changed.Name)
	} else {
		p = s.state.schema.Node(c.Type).Property(changed.Name)
	}
	return p.Default != nil && value.Equal(p.Default.Value, changed.New)
}

// checkConflicts returns an *engine.NotAllowed if a conflict is about something hidden, or breaks a rule.
func (o onlooker) checkConflicts(g *Graph, conflicts []engine.MergeConflict) error {
	if !o.restricted() || g.fault == MergeUnseen {
		return nil
	}
	for _, c := range conflicts {
		if o.hides(c.Entity, c.Type, c.ID, c.Property) || !c.Resolvable() || c.Edges > 0 && o.hidesEdges(c.Type, c.ID) {
			return &engine.NotAllowed{Reason: "a part of it is hidden"}
		}
	}
	return nil
}

// hidesEdges reports whether an edge at a node is hidden.
func (o onlooker) hidesEdges(typ, id string) bool {
	return slices.ContainsFunc(o, func(s side) bool {
		node := s.state.nodes[typ][id]
		for name, byID := range s.state.edges {
			for edge, e := range byID {
				if node != nil && (s.state.node(e, false) == node || s.state.node(e, true) == node) && s.seen.edges[name][edge] == nil {
					return true
				}
			}
		}
		return false
	})
}

// show removes the hidden properties from changes.
func (o onlooker) show(list []engine.EntityChange) {
	for i := range list {
		c := &list[i]
		c.Before, c.After = o.image(c.Entity, c.Type, c.Before), o.image(c.Entity, c.Type, c.After)
		c.Properties = slices.DeleteFunc(slices.Clone(c.Properties), func(p engine.PropertyChange) bool { return o.hidesProperty(c.Entity, c.Type, p.Name) })
	}
}

// showConflicts removes the hidden properties from conflicts.
func (o onlooker) showConflicts(list []engine.MergeConflict) {
	for i := range list {
		c := &list[i]
		c.Base, c.Ours, c.Theirs = o.image(c.Entity, c.Type, c.Base), o.image(c.Entity, c.Type, c.Ours), o.image(c.Entity, c.Type, c.Theirs)
	}
}

// image returns an image without the hidden properties.
func (o onlooker) image(entity, typ string, image *engine.Image) *engine.Image {
	if image == nil {
		return nil
	}
	seen := *image
	seen.Properties = slices.DeleteFunc(slices.Clone(image.Properties), func(p engine.PropertyValue) bool { return o.hidesProperty(entity, typ, p.Name) })
	return &seen
}

// hidesProperty reports whether some rights hide a property of a type.
func (o onlooker) hidesProperty(entity, typ, property string) bool {
	return slices.ContainsFunc(o, func(s side) bool { return rightsOf(s.rights, entityKind(entity), typ).Hides(property) })
}
