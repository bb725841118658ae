package version

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Difference is the difference between two states: the entities that differ, by type and
// id.
type Difference struct {
	Nodes, Edges engine.ChangeCounts // numbers of entities that differ, by kind of change

	was, is *Snapshot        // the earlier and the later state
	types   []typeDifference // the types of both schemas
}

// typeDifference holds the changes between two types of the same name, one in each schema. One of
// the fields `was` and `is` may be nil.
type typeDifference struct {
	was, is *Type     // the type in the earlier and in the later state
	changed []changed // in id order
}

// changed is an entity that differs between two states.
type changed struct {
	id   string
	kind engine.ChangeKind // inserted, updated or deleted
}

// Compare compares two states. If they have one schema, it compares them page by page and
// skips the pages that they share; otherwise it compares them entity by entity. If `was` is nil,
// Compare compares `is` with an empty state. The only possible error is that of the context.
func Compare(ctx context.Context, was, is *Snapshot) (*Difference, error) {
	if was == nil {
		was = NewSnapshot(is.Schema, engine.Commit{})
	}
	d := &Difference{was: was, is: is}
	for _, pair := range typePairs(was.Schema, is.Schema) {
		ids := d.candidates(pair)
		for i, id := range ids {
			if i%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			before, after := entityOf(was, pair.was, id), entityOf(is, pair.is, id)
			counts := &d.Nodes
			if pair.of().Entity == plan.Edge {
				counts = &d.Edges
			}
			c := changed{id: strings.Clone(id)}
			switch {
			case !before.there && !after.there:
				continue
			case !before.there:
				c.kind = engine.Inserted
				counts.Inserted++
			case !after.there:
				c.kind = engine.Deleted
				counts.Deleted++
			case pair.same(&before, &after):
				continue
			default:
				c.kind = engine.Updated
				counts.Updated++
			}
			pair.changed = append(pair.changed, c)
		}
		d.types = append(d.types, pair)
	}
	return d, nil
}

// Between reports whether d is the difference between these two states.
func (d *Difference) Between(was, is *Snapshot) bool { return d.was == was && d.is == is }

// Len returns the number of entities that differ.
func (d *Difference) Len() int64 {
	n, e := &d.Nodes, &d.Edges
	return n.Inserted + n.Updated + n.Deleted + e.Inserted + e.Updated + e.Deleted
}

// Page returns the changes that r selects, and reports whether more follow. The error is a
// *engine.BadArgument.
func (d *Difference) Page(r *engine.ChangeRange) (list []engine.EntityChange, more bool, err error) {
	defer runtime.KeepAlive(d) // the values alias memory of the states until they are copied
	from, after, bytes := 0, r.After, 0
	if after.Entity != "" {
		from = slices.IndexFunc(d.types, func(t typeDifference) bool {
			return t.of().Entity.String() == after.Entity && t.of().Name == after.Type
		})
		if from < 0 {
			return nil, false, &engine.BadArgument{Param: "after", Detail: "there is no " + after.Entity + " type " + after.Type + "; pass the position of a change"}
		}
	}
	for i, t := range d.types[from:] {
		rest := t.changed
		if i == 0 && after.Entity != "" {
			k, found := slices.BinarySearchFunc(rest, after.ID, func(c changed, id string) int { return strings.Compare(c.id, id) })
			if found {
				k++
			}
			rest = rest[k:]
		}
		id := ""
		for _, c := range rest {
			if !r.Selects(t.of().Entity.String(), t.of().Name, c.kind) {
				continue
			}
			if r.Limit > 0 && len(list) == r.Limit || r.MaxBytes > 0 && bytes >= r.MaxBytes {
				return list, true, nil
			}
			if id == "" {
				id = d.typeID(t)
			}
			change := d.describe(t, c, r.Images)
			change.TypeID = id
			bytes += change.Bytes()
			list = append(list, change)
		}
	}
	return list, false, nil
}

// typeID returns the id of the current type, or that of the previous one if the current schema
// lacks the type.
func (d *Difference) typeID(t typeDifference) string {
	if t.is != nil {
		return d.is.Schema.TypeID(t.is)
	}
	return d.was.Schema.TypeID(t.was)
}

// describe returns the change of one entity, except for the id of its type. The result holds no
// reference to a segment.
func (d *Difference) describe(t typeDifference, c changed, images bool) engine.EntityChange {
	was, is := entityOf(d.was, t.was, c.id), entityOf(d.is, t.is, c.id)
	out := engine.EntityChange{Kind: c.kind, Entity: t.of().Entity.String(), Type: t.of().Name, ID: c.id, From: is.from, To: is.to}
	if c.kind == engine.Deleted {
		out.From, out.To = was.from, was.to
	}
	out.From, out.To = strings.Clone(out.From), strings.Clone(out.To)
	if images {
		out.Before, out.After = was.image(t.was), is.image(t.is)
		return out
	}
	out.Properties = t.differing(&was, &is)
	for i := range out.Properties {
		p := &out.Properties[i]
		p.Old, p.New = Detached(p.Old), Detached(p.New)
	}
	return out
}

// image returns a copy of an entity of type t, or nil if the entity does not exist. The copy holds
// no reference to a segment.
func (e *entityState) image(t *Type) *engine.Image {
	if !e.there {
		return nil
	}
	out := &engine.Image{From: strings.Clone(e.from), To: strings.Clone(e.to), Properties: make([]engine.PropertyValue, len(t.Props))}
	for i, p := range t.Props {
		out.Properties[i] = engine.PropertyValue{Name: p.Name, Value: Detached(e.vals[i])}
	}
	return out
}

// candidates lists the ids of the entities that may differ, in order.
func (d *Difference) candidates(t typeDifference) []string {
	if t.was != nil && t.was == t.is {
		return changedIDs(d.was.Table(t.is.Entity, t.is.Index), d.is.Table(t.is.Entity, t.is.Index))
	}
	var ids []string
	add := func(s *Snapshot, typ *Type) {
		if typ == nil {
			return
		}
		table := s.Table(typ.Entity, typ.Index)
		for ord := range table.next {
			if table.Alive(ord) {
				ids = append(ids, table.ID(ord))
			}
		}
	}
	add(d.was, t.was)
	add(d.is, t.is)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// typePairs pairs the types of two schemas by name, in the order in which changes are
// listed.
func typePairs(was, is *Schema) (pairs []typeDifference) {
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		for _, t := range is.types(e) {
			pairs = append(pairs, typeDifference{was: was.Type(e, t.Name), is: t})
		}
	}
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		for _, t := range was.types(e) {
			if is.Type(e, t.Name) == nil {
				pairs = append(pairs, typeDifference{was: t})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b typeDifference) int {
		return cmp.Or(cmp.Compare(a.of().Entity, b.of().Entity), strings.Compare(a.of().Name, b.of().Name))
	})
	return pairs
}

// types returns the node types or the edge types.
func (s *Schema) types(e plan.Entity) []*Type {
	if e == plan.Edge {
		return s.Edges
	}
	return s.Nodes
}

// of returns the current type, or the previous one if the current schema lacks it.
func (t typeDifference) of() *Type {
	if t.is != nil {
		return t.is
	}
	return t.was
}

// same reports whether an entity that exists in both states is equal in them.
func (t typeDifference) same(was, is *entityState) bool {
	if t.was == t.is {
		return was.same(is)
	}
	return len(t.differing(was, is)) == 0
}

// differing lists the properties that differ between the two states of an entity.
func (t typeDifference) differing(was, is *entityState) (list []engine.PropertyChange) {
	add := func(name string, old, now value.Value) {
		if !value.Equal(old, now) {
			list = append(list, engine.PropertyChange{Name: name, Old: old, New: now})
		}
	}
	if was.there && is.there && t.of().Entity == plan.Edge {
		add("from", value.OfString(was.from), value.OfString(is.from))
		add("to", value.OfString(was.to), value.OfString(is.to))
	}
	for _, p := range t.props(t.is) {
		add(p.Name, was.named(t.was, p.Name), is.named(t.is, p.Name))
	}
	for _, p := range t.props(t.was) {
		if _, known := t.named(t.is, p.Name); !known {
			add(p.Name, was.named(t.was, p.Name), value.Null)
		}
	}
	return list
}

// props returns the properties of t; none if t is nil.
func (typeDifference) props(t *Type) []*catalog.Property {
	if t == nil {
		return nil
	}
	return t.Props
}

// named returns the position of a property of t; ok is false if t is nil or lacks it.
func (typeDifference) named(t *Type, name string) (int, bool) {
	if t == nil {
		return 0, false
	}
	return t.Prop(name)
}

// named returns the value of a property, or null if the entity or the property does not
// exist.
func (e *entityState) named(t *Type, name string) value.Value {
	if t == nil || !e.there {
		return value.Null
	}
	if p, ok := t.Prop(name); ok {
		return e.vals[p]
	}
	return value.Null
}

// entityOf returns the entity of type t with the given id. If the entity does not exist or t is
// nil, the field `there` of the result is false.
func entityOf(s *Snapshot, t *Type, id string) entityState {
	if t == nil {
		return entityState{}
	}
	tab := s.Table(t.Entity, t.Index)
	ord, ok := tab.Lookup(id)
	if !ok {
		return entityState{}
	}
	e := entityState{there: true, ord: ord, vals: tab.Values(ord)}
	if t.Entity == plan.Edge {
		src, dst := tab.Ends(ord)
		e.from, e.to = s.nodes[t.From].ID(src), s.nodes[t.To].ID(dst)
	}
	return e
}
