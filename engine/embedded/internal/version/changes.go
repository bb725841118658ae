package version

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Difference is the difference between two states: the entities that differ, by type and id. It finds
// them when they are asked for, and keeps at most [windowIDs] ids in memory. It is safe for concurrent
// use.
type Difference struct {
	was, is *Snapshot                  // the earlier and the later state
	types   []typeDifference           // the types of both schemas
	recent  atomic.Pointer[candidates] // the candidates that Page found last; nil for none
}

// typeDifference holds two types of the same name, one in each schema. One of the fields `was` and `is`
// may be nil.
type typeDifference struct{ was, is *Type }

// Compare compares two states. If `was` is nil, it compares `is` with an empty state.
func Compare(was, is *Snapshot) *Difference {
	if was == nil {
		was = NewSnapshot(is.Schema, engine.Commit{})
	}
	return &Difference{was: was, is: is, types: typePairs(was.Schema, is.Schema)}
}

// Between reports whether d is the difference between these two states.
func (d *Difference) Between(was, is *Snapshot) bool { return d.was == was && d.is == is }

// States returns the earlier and the later state.
func (d *Difference) States() (was, is *Snapshot) { return d.was, d.is }

// Counts counts the entities that differ. If the two states have one schema, it compares them page by
// page and skips the pages that they share; otherwise it compares them entity by entity. The only
// possible error is that of the context.
func (d *Difference) Counts(ctx context.Context) (nodes, edges engine.ChangeCounts, err error) {
	defer runtime.KeepAlive(d)
	for _, t := range d.types {
		counts := &nodes
		if t.of().Entity == plan.Edge {
			counts = &edges
		}
		err := d.eachCandidate(ctx, t, func(of *Table, ord, row uint32) {
			id := of.idAt(row)
			if t.is == nil || of != d.is.Table(t.is.Entity, t.is.Index) {
				if _, there := lookup(d.is, t.is, id); !there {
					counts.Deleted++
				}
				return // an entity that both states have is counted where the later state has it
			}
			before, there := lookup(d.was, t.was, id)
			if !there {
				counts.Inserted++
				return
			}
			was, is := entityAt(d.was, t.was, before), entityAt(d.is, t.is, ord)
			if !d.same(t, &was, &is) {
				counts.Updated++
			}
		})
		if err != nil {
			return nodes, edges, err
		}
	}
	return nodes, edges, nil
}

// Page returns the changes that r selects, and reports whether more follow. The error is a
// *engine.BadArgument or that of the context.
func (d *Difference) Page(ctx context.Context, r *engine.ChangeRange) (list []engine.EntityChange, more bool, err error) {
	return d.page(ctx, r, windowIDs)
}

// Digest adds all changes to h, in order. It keeps at most `window` ids in memory at the same time, at
// 16 bytes each; with fewer ids than changes it takes longer. The only possible error is that of the
// context.
func (d *Difference) Digest(ctx context.Context, h *engine.ChangeHash, window int) error {
	const digestPage = 1000
	r := engine.ChangeRange{Limit: digestPage}
	for {
		list, more, err := d.page(ctx, &r, max(window, windowIDs))
		if err != nil {
			return err
		}
		for i := range list {
			h.Change(&list[i])
		}
		if !more {
			return nil
		}
		r.After = list[len(list)-1].Position()
	}
}

// page does the work of Page. It keeps at most `window` ids in memory.
func (d *Difference) page(ctx context.Context, r *engine.ChangeRange, window int) (list []engine.EntityChange, more bool, err error) {
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
	for i := from; i < len(d.types); i++ {
		t, typeID := d.types[i], ""
		entity, name := t.of().Entity.String(), t.of().Name
		if !slices.ContainsFunc([]engine.ChangeKind{engine.Inserted, engine.Updated, engine.Deleted}, func(k engine.ChangeKind) bool { return r.Selects(entity, name, k) }) {
			continue
		}
		start := position{typ: i}
		if i == from && after.Entity != "" {
			start = position{i, true, after.ID}
		}
		full := false
		err := d.each(ctx, start, window, func(id string) bool {
			was, is := entityOf(d.was, t.was, id), entityOf(d.is, t.is, id)
			kind, differs := d.kind(t, &was, &is)
			if !differs || !r.Selects(entity, name, kind) {
				return true
			}
			if full = r.Limit > 0 && len(list) == r.Limit || r.MaxBytes > 0 && bytes >= r.MaxBytes; full {
				return false
			}
			if typeID == "" {
				typeID = d.typeID(t)
			}
			change := d.describe(t, kind, id, &was, &is, r.Images)
			change.TypeID = typeID
			bytes += change.Bytes()
			list = append(list, change)
			return true
		})
		if err != nil || full {
			return list, full, err
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

// kind returns how an entity differs between the two states, and whether it does.
func (d *Difference) kind(t typeDifference, was, is *entityState) (kind engine.ChangeKind, differs bool) {
	switch {
	case !was.there:
		return engine.Inserted, is.there
	case !is.there:
		return engine.Deleted, true
	}
	return engine.Updated, !d.same(t, was, is)
}

// describe returns the change of one entity, except for the id of its type. The result holds no
// reference to a segment.
func (d *Difference) describe(t typeDifference, kind engine.ChangeKind, id string, was, is *entityState, images bool) engine.EntityChange {
	out := engine.EntityChange{Kind: kind, Entity: t.of().Entity.String(), Type: t.of().Name, ID: strings.Clone(id)}
	state, snap, typ := is, d.is, t.is
	if kind == engine.Deleted {
		state, snap, typ = was, d.was, t.was
	}
	state.setEnds(snap.Schema, typ, &out.From, &out.FromType, &out.To, &out.ToType)
	if images {
		out.Before, out.After = was.image(d.was.Schema, t.was), is.image(d.is.Schema, t.is)
		return out
	}
	out.Properties = d.differing(t, was, is)
	for i := range out.Properties {
		p := &out.Properties[i]
		p.Old, p.New = Detached(p.Old), Detached(p.New)
	}
	return out
}

// image returns a copy of an entity of type t, or nil if the entity does not exist. The copy holds
// no reference to a segment.
func (e *entityState) image(s *Schema, t *Type) *engine.Image {
	if !e.there {
		return nil
	}
	out := &engine.Image{Properties: make([]engine.PropertyValue, len(t.Props))}
	e.setEnds(s, t, &out.From, &out.FromType, &out.To, &out.ToType)
	for i, p := range t.Props {
		out.Properties[i] = engine.PropertyValue{Name: p.Name, Value: Detached(e.vals[i])}
	}
	return out
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
	return s.NodeTypes()
}

// of returns the current type, or the previous one if the current schema lacks it.
func (t typeDifference) of() *Type {
	if t.is != nil {
		return t.is
	}
	return t.was
}

// same reports whether an entity that exists in both states is equal in them.
func (d *Difference) same(t typeDifference, was, is *entityState) bool {
	if t.was == t.is {
		return was.same(is)
	}
	return len(d.differing(t, was, is)) == 0
}

// differing lists the properties that differ between the two states of an entity.
func (d *Difference) differing(t typeDifference, was, is *entityState) (list []engine.PropertyChange) {
	add := func(name string, old, now value.Value) {
		if !value.Equal(old, now) {
			list = append(list, engine.PropertyChange{Name: name, Old: old, New: now})
		}
	}
	if was.there && is.there && t.of().Entity == plan.Edge {
		for _, to := range []bool{false, true} {
			old, now := d.was.Schema.EndType(t.was, to), d.is.Schema.EndType(t.is, to)
			add(endNames[to], old.endValue(was.end(to)), now.endValue(is.end(to)))
		}
	}
	if t.was == t.is && was.there && is.there {
		for i, p := range t.is.Props {
			add(p.Name, was.vals[i], is.vals[i])
		}
		return list
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
	ord, ok := lookup(s, t, id)
	if !ok {
		return entityState{}
	}
	return entityAt(s, t, ord)
}

// lookup finds the live entity of type t with the given id. There is none if t is nil.
func lookup(s *Snapshot, t *Type, id string) (ord uint32, ok bool) {
	if t == nil {
		return 0, false
	}
	return s.Table(t.Entity, t.Index).Lookup(id)
}

// entityAt returns a live entity of type t.
func entityAt(s *Snapshot, t *Type, ord uint32) entityState {
	tab := s.Table(t.Entity, t.Index)
	e := entityState{there: true, ord: ord, vals: tab.Values(ord)}
	if t.Entity == plan.Edge {
		src, dst := tab.Ends(ord)
		e.from, e.to = s.nodes[t.From].ID(src), s.nodes[t.To].ID(dst)
	}
	return e
}

// endNames are the names of the ends of an edge as properties: of its target for true.
var endNames = map[bool]string{false: "from", true: "to"}
