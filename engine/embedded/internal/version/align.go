package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Uncarried lists the entities that one side of a merge put or changed since the merge base, although the
// schema of the other side takes no such entities over: entities of a dropped type, which is a type of the base that
// has no entry in the carry, and edges at nodes of a type that has left the interface at their end. Such a change
// conflicts with the schema change (DeleteVsUpdate), and has the name of the type in the new schema, or in the old one
// if the type was dropped. Both snapshots have the schema that the carry
// starts from. The parameters `changer` and `dropper` name the two sides in the messages: source or target. The only
// possible error is that of the context.
func Uncarried(ctx context.Context, base, side *Snapshot, ch Change, changer, dropper string) (out []engine.MergeConflict, err error) {
	c := ch.Carry
	for _, part := range []struct {
		carries []TypeCarry
		tables  []*Table
		before  []*Table
	}{{c.Nodes, side.nodes, base.nodes}, {c.Edges, side.edges, base.edges}} {
		for i, t := range part.tables {
			if t.Type.Of != nil {
				continue
			}
			name, message, lost := t.Type.Name, "dropped its type", func(*entityState) bool { return true }
			if at := slices.IndexFunc(part.carries, func(tc TypeCarry) bool { return tc.From == i }); at >= 0 {
				message, lost = "removed the type of a node at an end from the interface", ch.losesEnd(side.Schema, t.Type, at)
				if lost == nil {
					continue
				}
				name = ch.Schema.Edges[at].Name
			}
			changed, err := changedEntities(ctx, part.before[i], t)
			if err != nil {
				return nil, err
			}
			for _, c := range changed {
				was, is := entityAt(base, t.Type, c.was), entityAt(side, t.Type, c.is)
				if is.there && !(was.there && was.same(&is)) && lost(&is) {
					out = append(out, engine.MergeConflict{Kind: engine.DeleteVsUpdate, Entity: t.Type.Entity.String(), Type: name, ID: strings.Clone(c.id),
						Message: fmt.Sprintf("the %s changed the entity, but the %s's schema %s", changer, dropper, message)})
				}
			}
		}
	}
	sortConflicts(out)
	return out, nil
}

// losesEnd returns a function that reports whether the schema change removes an edge of type t because of the
// type of a node at an end. It returns nil if the change removes no such edges. The schema `from` is that of t,
// and `at` is the index of the edge type in the new schema.
func (ch Change) losesEnd(from *Schema, t *Type, at int) func(*entityState) bool {
	if t.Entity != plan.Edge {
		return nil
	}
	now := ch.Schema.Edges[at]
	var ends []func(*entityState) bool
	for _, to := range []bool{false, true} {
		old, is := from.EndType(t, to), ch.Schema.EndType(now, to)
		if old.Of == nil {
			continue
		}
		if names := ch.Carry.members(old, is, ch.Schema); len(names) < len(old.Of.Members) {
			ends = append(ends, func(e *entityState) bool { return names.gone(e.end(to)) })
		}
	}
	if ends == nil {
		return nil
	}
	return func(e *entityState) bool {
		return slices.ContainsFunc(ends, func(lost func(*entityState) bool) bool { return lost(e) })
	}
}
