package version

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Uncarried lists the changes that one side of a merge made since the merge base, although the schema of the other
// side does not take them over: entities of a dropped type, which is a type of the base that has no entry in the carry,
// edges at nodes of a type that has left the interface at their end, values of a dropped property, and values that a
// property's new type does not have. Such a change
// conflicts with the schema change (DeleteVsUpdate), and has the name of the type in the new schema, or in the old one
// if the type was dropped. A property has its name in the old schema. Both snapshots have the schema that the carry
// starts from. The function `filled` gives the values that the schema changes from the base to them gave. The parameters `changer` and `dropper` name the two sides in the messages: source or target. The result
// `edges` has the edges among the conflicts whose type stays, for [MergeOptions]. The only possible error is that of the
// context.
func Uncarried(ctx context.Context, base, side *Snapshot, ch schema.Change, filled Filled, changer, dropper string) (out []engine.MergeConflict, edges map[engine.ConflictPlace]bool, err error) {
	edges = map[engine.ConflictPlace]bool{}
	for _, part := range []struct {
		carries []schema.TypeCarry
		tables  []*Table
		before  []*Table
	}{{ch.Carry.Nodes, side.nodes, base.nodes}, {ch.Carry.Edges, side.edges, base.edges}} {
		for i, t := range part.tables {
			if t.Type.Of != nil {
				continue
			}
			name, gone, lost := t.Type.Name, droppedType, func(*entityState) bool { return true }
			var dropped []int // positions of the properties that the new schema lacks
			var cast []int    // positions in the new type of the properties whose type may lack a value
			var taken schema.TypeCarry
			now := ch.Schema.Nodes
			if t.Type.Entity == plan.Edge {
				now = ch.Schema.Edges
			}
			var typ *schema.Type // the new type
			if at := slices.IndexFunc(part.carries, func(tc schema.TypeCarry) bool { return tc.From == i }); at >= 0 {
				gone, lost = "allows no node of this type at an end", losesEnd(ch, side.Schema, t.Type, at)
				taken, typ = part.carries[at], now[at]
				dropped, cast = taken.Dropped(len(t.Type.Props)), taken.Checked(t.Type, typ)
				if lost == nil && dropped == nil && cast == nil {
					continue
				}
				name = typ.Name
			}
			changed, err := changedEntities(ctx, part.before[i], t)
			if err != nil {
				return nil, nil, err
			}
			conflict := func(id, property, format string, args ...any) {
				out = append(out, engine.MergeConflict{Kind: engine.DeleteVsUpdate, Entity: t.Type.Entity.String(), Type: name, ID: strings.Clone(id),
					Property: property, Message: fmt.Sprintf(format, args...)})
			}
			for _, c := range changed {
				was, is := entityAt(base, t.Type, c.was), entityAt(side, t.Type, c.is)
				is = filled.without(t.Type, &was, &is)
				switch {
				case !is.there || was.there && was.unedited(&is):
				case lost != nil && lost(&is):
					if gone != droppedType {
						edges[engine.ConflictPlace{Entity: t.Type.Entity.String(), Type: name, ID: strings.Clone(c.id)}] = true
					}
					conflict(c.id, "", "the %s changed the entity, but the %s's schema %s", changer, dropper, gone)
				case fault.On(fault.DroppedEditsLost):
				default:
					gave := func(p int) bool {
						v := is.vals[p]
						return !v.IsNull() && !(was.there && value.Equal(was.vals[p], v))
					}
					for _, p := range dropped {
						if v := is.vals[p]; gave(p) {
							property := t.Type.Props[p].Name
							conflict(c.id, property, "the %s gave %s the value %s, but the %s's schema dropped the property; drop it on both branches, or undo one of the changes", changer, property, describe(v), dropper)
						}
					}
					for _, p := range cast {
						q := taken.Props[p]
						if v := is.vals[q]; gave(q) {
							if _, ok := taken.Cast(typ, p, v); ok {
								continue
							}
							property := t.Type.Props[q].Name
							conflict(c.id, property, "the %s gave %s the value %s, but the %s's schema changed its type to %s, which does not have it exactly; change the value, or undo one of the changes",
								changer, property, describe(v), dropper, typ.Props[p].Type.Required())
						}
					}
				}
			}
		}
	}
	sortConflicts(out)
	return out, edges, nil
}

const droppedType = "dropped its type" // in a message

// losesEnd returns a function that reports whether the schema change ch removes an edge of type t because of the
// type of a node at an end. It returns nil if the change removes no such edges. The schema `from` is that of t,
// and `at` is the index of the edge type in the new schema.
func losesEnd(ch schema.Change, from *schema.Schema, t *schema.Type, at int) func(*entityState) bool {
	if t.Entity != plan.Edge {
		return nil
	}
	now := ch.Schema.Edges[at]
	var ends []func(*entityState) bool
	for _, to := range []bool{false, true} {
		old, is := from.EndType(t, to), ch.Schema.EndType(now, to)
		if names := ch.Carry.AtEnd(from, ch.Schema, old, is); len(names) < old.Ends() {
			ends = append(ends, func(e *entityState) bool {
				name, _ := old.Label(e.end(to))
				return names[name] == ""
			})
		}
	}
	if ends == nil {
		return nil
	}
	return func(e *entityState) bool {
		return slices.ContainsFunc(ends, func(lost func(*entityState) bool) bool { return lost(e) })
	}
}

// Filled returns the values of an entity of a merge base, which are `vals`, with those that schema changes since then gave
// added properties by @backfill. It returns nil if they gave none.
type Filled func(t *schema.Type, vals []value.Value) []value.Value

// unedited reports whether the state `is` of a side is the base state `was`, apart from values that schema changes gave,
// and from claims that sources gave up.
func (f Filled) unedited(t *schema.Type, was, is *entityState) bool {
	now := f.without(t, was, is)
	return was.unedited(&now)
}

// without returns the state `is` of a side without the values that schema changes gave.
func (f Filled) without(t *schema.Type, was, is *entityState) entityState {
	now := *is
	if f == nil || !was.there || !is.there || fault.On(fault.BackfillsAreEdits) {
		return now
	}
	filled := f(t, was.vals)
	if filled == nil {
		return now
	}
	now.vals = slices.Clone(is.vals)
	for p, v := range now.vals {
		if value.Equal(v, filled[p]) {
			now.vals[p] = was.vals[p]
		}
	}
	return now
}

// FirstConflicts sorts conflicts and returns the first ones: at most `most` of them, or all if it is 0.
func FirstConflicts(all []engine.MergeConflict, most int) []engine.MergeConflict {
	sortConflicts(all)
	if most > 0 && len(all) > most {
		return slices.Clip(slices.Clone(all[:most]))
	}
	return all
}

// sortConflicts sorts conflicts by kind, nodes before edges, by type and by id; conflicts about one entity keep the order that they have.
func sortConflicts(all []engine.MergeConflict) {
	slices.SortStableFunc(all, func(a, b engine.MergeConflict) int {
		return cmp.Or(int(a.Kind)-int(b.Kind), strings.Compare(b.Entity, a.Entity), strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
	})
}
