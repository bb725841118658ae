package version

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Difference is the difference between two states: the entities that differ, by type and id. It finds
// them when they are asked for, and keeps at most [windowIDs] ids in memory. It is safe for concurrent
// use.
type Difference struct {
	was, is *Snapshot                    // the earlier and the later state
	types   []typeDifference             // the types of both schemas
	recent  atomic.Pointer[candidates]   // the candidates that Page found last; nil for none
	totals  atomic.Pointer[ChangeTotals] // nil until Counts, Digest or Know
}

// ChangeTotals is the numbers of changes in a difference. It does not change and holds no state.
type ChangeTotals struct {
	Nodes, Edges engine.ChangeCounts
	types        []engine.ChangeCounts // in the order of Difference.types
}

// Total returns the number of all changes.
func (t *ChangeTotals) Total() int64 {
	n, e := &t.Nodes, &t.Edges
	return n.Inserted + n.Updated + n.Deleted + e.Inserted + e.Updated + e.Deleted
}

// Bytes returns the approximate size of the totals in memory.
func (t *ChangeTotals) Bytes() int { return 24 * (2 + len(t.types)) }

// count adds a change of the type with the given index.
func (t *ChangeTotals) count(d *Difference, typ int, kind engine.ChangeKind) {
	all := &t.Nodes
	if d.types[typ].of().Entity == plan.Edge {
		all = &t.Edges
	}
	*ofKind(all, kind)++
	*ofKind(&t.types[typ], kind)++
}

// add adds changes of the type with the given index.
func (t *ChangeTotals) add(d *Difference, typ int, n engine.ChangeCounts) {
	all := &t.Nodes
	if d.types[typ].of().Entity == plan.Edge {
		all = &t.Edges
	}
	for _, c := range []*engine.ChangeCounts{all, &t.types[typ]} {
		c.Inserted, c.Updated, c.Deleted = c.Inserted+n.Inserted, c.Updated+n.Updated, c.Deleted+n.Deleted
	}
}

// live returns the number of entities of a type in a state. The type may be nil.
func live(s *Snapshot, t *schema.Type) int64 {
	if t == nil {
		return 0
	}
	return int64(s.Table(t.Entity, t.Index).Live())
}

// ofKind returns the number of changes of a kind.
func ofKind(c *engine.ChangeCounts, kind engine.ChangeKind) *int64 {
	switch kind {
	case engine.Inserted:
		return &c.Inserted
	case engine.Deleted:
		return &c.Deleted
	default:
		return &c.Updated
	}
}

// Known returns the numbers of changes, or nil if they are not known yet.
func (d *Difference) Known() *ChangeTotals { return d.totals.Load() }

// Know sets the numbers of changes. They must come from a difference between states of the same commits.
func (d *Difference) Know(t *ChangeTotals) { d.totals.Store(t) }

// typeDifference holds two types of the same name, one in each schema. One of the fields `was` and `is`
// may be nil.
type typeDifference struct{ was, is *schema.Type }

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

// Counts counts the changes. If the two states have one schema, it compares them page by page and skips the
// pages that they share; otherwise it compares them entity by entity. It reads nothing of a type that is empty in one
// of the states. The only possible error is that of the context.
func (d *Difference) Counts(ctx context.Context) (*ChangeTotals, error) {
	defer runtime.KeepAlive(d)
	if t := d.totals.Load(); t != nil {
		return t, nil
	}
	totals := &ChangeTotals{types: make([]engine.ChangeCounts, len(d.types))}
	for i, t := range d.types {
		if was, is := live(d.was, t.was), live(d.is, t.is); was == 0 || is == 0 {
			if totals.add(d, i, engine.ChangeCounts{Inserted: is, Deleted: was}); ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		err := d.eachCandidate(ctx, t, func(c candidate) {
			// The two candidates of an entity whose ordinals differ count once, where the later state has it.
			if c.is == NoOrd {
				if _, there := lookup(d.is, t.is, c.id); there {
					return
				}
			} else if c.was == NoOrd {
				if before, there := lookup(d.was, t.was, c.id); there {
					c.was = before
				}
			}
			if kind, differs := d.kind(t, &c); differs {
				totals.count(d, i, kind)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	d.totals.Store(totals)
	return totals, nil
}

// Separate reports whether each change is about one entity alone: there are no changed edges, no deleted nodes, and
// no changes of types with unique rules. A merge of such changes into a state with the same schema has no
// conflicts about rules or lost ends. REQUIRES: the numbers of changes are known.
func (d *Difference) Separate() bool {
	totals := d.totals.Load()
	if totals.Edges != (engine.ChangeCounts{}) || totals.Nodes.Deleted > 0 {
		return false
	}
	for i, t := range d.types {
		if totals.types[i] != (engine.ChangeCounts{}) && t.of().Unique > 0 {
			return false
		}
	}
	return true
}

// Page returns the changes that r selects, and reports whether more follow. The error is a
// *engine.BadArgument or that of the context.
func (d *Difference) Page(ctx context.Context, r *engine.ChangeRange) (list []engine.EntityChange, more bool, err error) {
	return d.page(ctx, r, windowIDs)
}

// Digest adds all changes to h, in order, and counts them. It keeps at most `window` candidates in memory at the
// same time, at [CandidateBytes] each; with fewer candidates than changes it takes longer. The only possible error
// is that of the context.
func (d *Difference) Digest(ctx context.Context, h *engine.ChangeHash, window int) (*ChangeTotals, error) {
	defer runtime.KeepAlive(d) // the values alias memory of the states
	totals := &ChangeTotals{types: make([]engine.ChangeCounts, len(d.types))}
	var change engine.EntityChange
	for i, t := range d.types {
		entity, name := t.of().Entity.String(), t.of().Name
		before, after := make([]value.Value, len(t.props(t.was))), make([]value.Value, len(t.props(t.is))) // used again for each entity
		err := d.each(ctx, position{typ: i}, max(window, windowIDs), func(c *candidate) bool {
			kind, differs := d.kind(t, c)
			if !differs {
				return true
			}
			totals.count(d, i, kind)
			was, is := entityWith(d.was, t.was, c.was, before), entityWith(d.is, t.is, c.is, after)
			change = engine.EntityChange{Kind: kind, Entity: entity, Type: name, ID: c.id, Properties: d.differing(change.Properties[:0], t, &was, &is)}
			d.setEnds(t, &was, &is, &change)
			h.Change(&change)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	d.totals.Store(totals)
	return totals, nil
}

// CandidateBytes is the memory for a candidate of [Difference.Digest]: twice its size, because a list grows by
// copies.
const CandidateBytes = 48

// page does the work of Page. It keeps at most `window` candidates in memory.
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
		t, typeIDs := d.types[i], [2]string{} // now, and before
		entity, name := t.of().Entity.String(), t.of().Name
		left := d.selected(r, i)
		if left == 0 {
			continue
		}
		start := position{typ: i}
		if i == from && after.Entity != "" {
			start = position{i, true, after.ID}
		}
		full := false
		err := d.each(ctx, start, window, func(c *candidate) bool {
			if kind := c.kind(); !r.Selects(entity, name, kind) {
				return true
			}
			kind, differs := d.kind(t, c)
			if !differs {
				return true
			}
			if full = r.Limit > 0 && len(list) == r.Limit || r.MaxBytes > 0 && bytes >= r.MaxBytes; full {
				return false
			}
			// They differ if two types exchanged their names.
			typeID, schema, typ := &typeIDs[0], d.is.Schema, t.is
			if kind == engine.Deleted {
				typeID, schema, typ = &typeIDs[1], d.was.Schema, t.was
			}
			if *typeID == "" {
				*typeID = schema.TypeID(typ)
			}
			was, is := entityAt(d.was, t.was, c.was), entityAt(d.is, t.is, c.is)
			change := d.describe(t, kind, c.id, &was, &is, r.Images)
			change.TypeID = *typeID
			bytes += change.Bytes()
			list = append(list, change)
			// A page that begins behind a change ends later than this, because `left` counts from the first one.
			left--
			return left != 0
		})
		if err != nil || full {
			return list, full, err
		}
	}
	return list, false, nil
}

// Entity returns an entity in the later state, or nil if that state does not have it. It reports whether the
// earlier state has the same, or does not have it either.
func (d *Difference) Entity(at engine.ChangePosition) (image *engine.Image, same bool) {
	defer runtime.KeepAlive(d) // the values alias memory of the states until they are copied
	i := slices.IndexFunc(d.types, func(t typeDifference) bool { return t.of().Entity.String() == at.Entity && t.of().Name == at.Type })
	if i < 0 {
		return nil, true
	}
	t := d.types[i]
	was, before := lookup(d.was, t.was, at.ID)
	is, now := lookup(d.is, t.is, at.ID)
	if !now {
		return nil, !before
	}
	state := entityAt(d.is, t.is, is)
	return state.image(d.is.Schema, t.is), before && d.same(t, was, is)
}

// selected returns the number of changes of the type with the given index that r selects, without regard to its
// first position. It returns -1 if there may be some and their number is not known.
func (d *Difference) selected(r *engine.ChangeRange, typ int) int64 {
	t, n, any := d.types[typ].of(), int64(0), false
	totals := d.totals.Load()
	for _, kind := range []engine.ChangeKind{engine.Inserted, engine.Updated, engine.Deleted} {
		if !r.Selects(t.Entity.String(), t.Name, kind) {
			continue
		}
		any = true
		if totals != nil {
			n += *ofKind(&totals.types[typ], kind)
		}
	}
	if any && totals == nil {
		return -1
	}
	return n
}

// kind returns how a candidate differs, if it does.
func (c *candidate) kind() engine.ChangeKind {
	switch {
	case c.was == NoOrd:
		return engine.Inserted
	case c.is == NoOrd:
		return engine.Deleted
	}
	return engine.Updated
}

// kind returns how a candidate differs between the two states, and whether it does.
func (d *Difference) kind(t typeDifference, c *candidate) (kind engine.ChangeKind, differs bool) {
	kind = c.kind()
	return kind, kind != engine.Updated || !d.same(t, c.was, c.is)
}

// describe returns the change of one entity, except for the id of its type. The result holds no
// reference to a segment.
func (d *Difference) describe(t typeDifference, kind engine.ChangeKind, id string, was, is *entityState, images bool) engine.EntityChange {
	out := engine.EntityChange{Kind: kind, Entity: t.of().Entity.String(), Type: t.of().Name, ID: strings.Clone(id)}
	d.setEnds(t, was, is, &out)
	if images {
		out.Before, out.After = was.image(d.was.Schema, t.was), is.image(d.is.Schema, t.is)
		return out
	}
	out.Properties = d.differing(nil, t, was, is)
	for i := range out.Properties {
		p := &out.Properties[i]
		p.Old, p.New = Detached(p.Old), Detached(p.New)
	}
	return out
}

// setEnds sets the ends of a change: those of the later state, or of the earlier one if the entity was deleted.
func (d *Difference) setEnds(t typeDifference, was, is *entityState, out *engine.EntityChange) {
	state, snap, typ := is, d.is, t.is
	if !is.there {
		state, snap, typ = was, d.was, t.was
	}
	state.setEnds(snap.Schema, typ, &out.From, &out.FromType, &out.To, &out.ToType)
}

// image returns a copy of an entity of type t, or nil if the entity does not exist. The copy holds
// no reference to a segment.
func (e *entityState) image(s *schema.Schema, t *schema.Type) *engine.Image {
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
func typePairs(was, is *schema.Schema) (pairs []typeDifference) {
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		for _, t := range is.Types(e) {
			pairs = append(pairs, typeDifference{was: was.Type(e, t.Name), is: t})
		}
	}
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		for _, t := range was.Types(e) {
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

// of returns the current type, or the previous one if the current schema lacks it.
func (t typeDifference) of() *schema.Type {
	if t.is != nil {
		return t.is
	}
	return t.was
}

// same reports whether an entity that exists in both states, with these ordinals, is equal in them.
func (d *Difference) same(t typeDifference, was, is uint32) bool {
	if t.was != t.is {
		before, now := entityAt(d.was, t.was, was), entityAt(d.is, t.is, is)
		return len(d.differing(nil, t, &before, &now)) == 0
	}
	a, b := d.was.Table(t.is.Entity, t.is.Index), d.is.Table(t.is.Entity, t.is.Index)
	for p := range t.is.Props {
		if !value.Equal(a.Value(was, p), b.Value(is, p)) {
			return false
		}
	}
	if t.is.Entity != plan.Edge {
		return true
	}
	from, to := d.was.ends(t.is, was)
	nowFrom, nowTo := d.is.ends(t.is, is)
	return from == nowFrom && to == nowTo
}

// differing appends the properties that differ between the two states of an entity to `list`.
func (d *Difference) differing(list []engine.PropertyChange, t typeDifference, was, is *entityState) []engine.PropertyChange {
	add := func(name string, old, now value.Value) {
		if !value.Equal(old, now) {
			list = append(list, engine.PropertyChange{Name: name, Old: old, New: now})
		}
	}
	if was.there && is.there && t.of().Entity == plan.Edge {
		for _, to := range []bool{false, true} {
			old, now := d.was.Schema.EndType(t.was, to), d.is.Schema.EndType(t.is, to)
			add(endNames[to], old.EndValue(was.end(to)), now.EndValue(is.end(to)))
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
func (typeDifference) props(t *schema.Type) []*catalog.Property {
	if t == nil {
		return nil
	}
	return t.Props
}

// named returns the position of a property of t; ok is false if t is nil or lacks it.
func (typeDifference) named(t *schema.Type, name string) (int, bool) {
	if t == nil {
		return 0, false
	}
	return t.Prop(name)
}

// named returns the value of a property, or null if the entity or the property does not
// exist.
func (e *entityState) named(t *schema.Type, name string) value.Value {
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
func entityOf(s *Snapshot, t *schema.Type, id string) entityState {
	ord, ok := lookup(s, t, id)
	if !ok {
		return entityState{}
	}
	return entityAt(s, t, ord)
}

// entityNear returns the entity of type t with the given id, like entityOf. In most states it has the ordinal
// `near`, which may be NoOrd.
func entityNear(s *Snapshot, t *schema.Type, id string, near uint32) entityState {
	if s.Table(t.Entity, t.Index).has(near, id) {
		return entityAt(s, t, near)
	}
	return entityOf(s, t, id)
}

// lookup finds the live entity of type t with the given id. There is none if t is nil.
func lookup(s *Snapshot, t *schema.Type, id string) (ord uint32, ok bool) {
	if t == nil {
		return 0, false
	}
	return s.Table(t.Entity, t.Index).Lookup(id)
}

// entityAt returns the live entity of type t with an ordinal. If the ordinal is NoOrd, the field `there` of the
// result is false.
func entityAt(s *Snapshot, t *schema.Type, ord uint32) entityState { return entityWith(s, t, ord, nil) }

// entityWith is entityAt with memory for the values, which it may use.
func entityWith(s *Snapshot, t *schema.Type, ord uint32, vals []value.Value) entityState {
	if ord == NoOrd {
		return entityState{}
	}
	table := s.Table(t.Entity, t.Index)
	e := entityState{there: true, ord: ord, vals: table.valuesWith(ord, vals), claims: table.Claims(ord)}
	if t.Entity == plan.Edge {
		e.from, e.to = s.ends(t, ord)
	}
	return e
}

// ends returns the ids of the entities at the ends of a live edge of type t.
func (s *Snapshot) ends(t *schema.Type, ord uint32) (from, to string) {
	src, dst := s.edges[t.Index].Ends(ord)
	return s.nodes[t.From].ID(src), s.nodes[t.To].ID(dst)
}

// endNames are the names of the ends of an edge as properties: of its target for true.
var endNames = map[bool]string{false: "from", true: "to"}

// setEnds sets the ends of a change or of an image: of an edge of type t with the ends of e. The result holds no
// reference to a segment.
func (e *entityState) setEnds(s *schema.Schema, t *schema.Type, from, fromType, to, toType *string) {
	if t.Entity != plan.Edge {
		return
	}
	set := func(end *schema.Type, raw string, id, typ *string) {
		name, node := end.Label(raw)
		*id = strings.Clone(node)
		if end.Of != nil {
			*typ = strings.Clone(name)
		}
	}
	set(s.EndType(t, false), e.from, from, fromType)
	set(s.EndType(t, true), e.to, to, toType)
}
