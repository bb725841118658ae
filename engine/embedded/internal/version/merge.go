package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Merged is the result of a merge.
type Merged struct {
	Nodes, Edges  int64                  // entities put or deleted
	Conflicts     []engine.MergeConflict // why the merge is impossible; empty if it is possible
	ConflictCount int                    // the number of all conflicts, also of those that are not listed
	RuleConflicts int                    // those of them that are about a rule or a lost end and not about diverging changes
	Changed       int64                  // entities that the source has changed since the base
}

// MergeOptions change how a merge works.
type MergeOptions struct {
	// Resolutions resolve conflicts. [schema.Schema.CheckResolution] must have accepted them.
	Resolutions []engine.Resolution
	// MaxConflicts is the maximum number of conflicts to list; 0 for all.
	MaxConflicts int
	// Uncarried are changed edges that the schema of the result drops because of their ends. Their conflicts are
	// known, and the merge leaves them as the target has them.
	Uncarried map[engine.ConflictPlace]bool
	// Filled gives the values that schema changes since the base gave the entities of the base. It may be nil.
	Filled Filled
	// Reversed says that the transaction is on the source of the merge that the caller wants to know
	// about, and that the argument `source` is its target. If a merge has no conflicts, the same merge with its
	// sides exchanged has none, and both lead to the same entities, unless the source has a node with fewer edges of a
	// type than its minimum and has changed edges of this type. Conflicts about diverging changes are the same
	// too, and are reported as conflicts of the merge that the caller wants to know about; those about rules and
	// lost ends may be others.
	Reversed bool
}

// Merge applies to the transaction the changes that lead from `base` to `source`, entity by entity
// and property by property. It reports all conflicts; if there are any, the caller must abandon the
// transaction. The three states must have the same schema. The only possible error is that of the context;
// the caller must then abandon the transaction.
func (tx *Txn) Merge(ctx context.Context, base, source *Snapshot, opts MergeOptions) (*Merged, error) {
	m := &merge{ctx: ctx, tx: tx, base: base, source: source, opts: opts, resolutions: map[engine.ConflictPlace]*engine.Resolution{}, diverged: map[divergence]int{}}
	for i := range opts.Resolutions {
		m.resolutions[opts.Resolutions[i].ConflictPlace] = &opts.Resolutions[i]
	}
	for _, t := range tx.base.Schema.NodeTypes() {
		if err := m.decide(t); err != nil {
			return nil, err
		}
	}
	if err := m.restoreEdges(); err != nil {
		return nil, err
	}
	for _, t := range tx.base.Schema.Edges {
		if err := m.decide(t); err != nil {
			return nil, err
		}
	}
	if err := m.apply(); err != nil {
		return nil, err
	}
	// If the target did not change since the base, the result is the state of the source, which was
	// committed. Its schema descends from the base's, so it is the schema of the result.
	if base.Commit.ID != tx.base.Commit.ID {
		if err := m.check(); err != nil {
			return nil, err
		}
	}
	m.out.Conflicts = FirstConflicts(m.out.Conflicts, opts.MaxConflicts)
	return &m.out, nil
}

// merge is the working state of [Txn.Merge].
type merge struct {
	ctx          context.Context // ends the merge
	steps        int             // the calls of `step`
	opts         MergeOptions
	tx           *Txn
	base, source *Snapshot                 // the common base and the state to merge
	puts         []mergePut                // entities to insert or replace
	deletes      []mergeDelete             // entities to delete
	lostEnds     map[*schema.Type][]uint32 // by edge type, sources of edges that lost an end
	// resolutions has the resolutions by the place of their conflict.
	resolutions map[engine.ConflictPlace]*engine.Resolution
	kept        []keptNode         // the nodes that resolutions keep
	diverged    map[divergence]int // numbers of conflicts
	out         Merged             // the result so far
}

// divergence is a kind of conflict about diverging changes of the entities of a type.
type divergence struct {
	kind engine.ConflictKind
	t    *schema.Type
}

// mergePut is an entity that the merge inserts or replaces. It contains the ends of an edge as ids.
type mergePut struct {
	t        *schema.Type
	id       string
	from, to string         // ids of an edge's ends
	vals     []value.Value  // by property
	claims   string         // the text of its membership
	carried  *segment.Stamp // the origin that it carries; nil if it is the merge's
}

// mergeDelete is an entity to delete.
type mergeDelete struct {
	t   *schema.Type
	id  string
	ord uint32 // ordinal in the target
}

// entityState is an entity in one of the three states.
type entityState struct {
	there    bool          // whether the entity exists
	ord      uint32        // ordinal in the state
	from, to string        // ids of the entities at an edge's ends, which may be references
	vals     []value.Value // by property
	claims   string        // the text of its membership
}

// end returns the id of the entity at an end.
func (e *entityState) end(to bool) string {
	if to {
		return e.to
	}
	return e.from
}

// conflict notes a conflict with a rule, or about a lost end of an edge.
func (m *merge) conflict(kind engine.ConflictKind, t *schema.Type, id, property, format string, args ...any) {
	m.out.ConflictCount++
	m.out.RuleConflicts++
	m.list(kind, t, id, property, fmt.Sprintf(format, args...))
}

// list adds a conflict about an entity, or one of its properties, to the list.
func (m *merge) list(kind engine.ConflictKind, t *schema.Type, id, property, message string) *engine.MergeConflict {
	m.out.Conflicts = append(m.out.Conflicts, engine.MergeConflict{Kind: kind, Entity: t.Entity.String(), Type: t.Name, ID: strings.Clone(id), Property: property, Message: message})
	return &m.out.Conflicts[len(m.out.Conflicts)-1]
}

// diverge counts a conflict about diverging changes of an entity, and reports whether to list it. The method decide
// finds such conflicts in the order of the list, so that the later ones of a kind and a type are not listed.
func (m *merge) diverge(kind engine.ConflictKind, t *schema.Type) bool {
	m.out.ConflictCount++
	d := divergence{kind, t}
	m.diverged[d]++
	return m.opts.MaxConflicts == 0 || m.diverged[d] <= m.opts.MaxConflicts
}

// sides returns the states of an entity on the source and on the target of the merge that the caller wants to know
// about.
func (m *merge) sides(source, target *entityState) (theirs, ours *entityState) {
	if m.opts.Reversed {
		return target, source
	}
	return source, target
}

// step returns the error of the context. It looks at the context in one of 1,024 calls.
func (m *merge) step() error {
	if m.steps++; m.steps%1024 > 0 {
		return nil
	}
	return m.ctx.Err()
}

// decide handles each entity of a type that the source changed.
func (m *merge) decide(t *schema.Type) error {
	changed, err := changedEntities(m.ctx, m.base.Table(t.Entity, t.Index), m.source.Table(t.Entity, t.Index))
	if err != nil {
		return err
	}
	for _, c := range changed {
		if err := m.step(); err != nil {
			return err
		}
		id := c.id
		base, source := entityAt(m.base, t, c.was), entityAt(m.source, t, c.is)
		if base.there && source.there && base.same(&source) {
			continue // the two sides store different rows, but their values are equal
		}
		m.out.Changed++
		if len(m.opts.Uncarried) > 0 && m.opts.Uncarried[engine.ConflictPlace{Entity: t.Entity.String(), Type: t.Name, ID: id}] {
			continue
		}
		target := entityNear(m.tx.base, t, id, c.was)
		switch {
		case !base.there && !target.there:
			m.carry(t, id, source)
		case !base.there:
			m.diverging(divergent{engine.DivergentInsert, t, id, &entityState{vals: target.vals}, &source, &target})
		case !source.there && !target.there:
		case !target.there && m.opts.Filled.unedited(t, &base, &source):
		case !source.there && m.opts.Filled.unedited(t, &base, &target):
			if fault.On(fault.TombstonesDropped) || t.Entity == plan.Edge && m.spared(t, &base, m.source) {
				continue
			}
			m.deletes = append(m.deletes, mergeDelete{t, id, target.ord})
		case !source.there || !target.there:
			if err := m.deletedOrChanged(t, id, &base, &source, &target); err != nil {
				return err
			}
		default:
			m.diverging(divergent{engine.DivergentUpdate, t, id, &base, &source, &target})
		}
	}
	return nil
}

// deletedOrChanged handles an entity that one side deleted and the other changed. The only possible error is that of
// the context.
func (m *merge) deletedOrChanged(t *schema.Type, id string, base, source, target *entityState) error {
	theirs, ours := m.sides(source, target)
	take := ours
	switch m.side(t, id, "") {
	case engine.TakeOurs:
	case engine.TakeTheirs:
		take = theirs
	default:
		if !m.diverge(engine.DeleteVsUpdate, t) {
			return nil
		}
		message, keeper, deleter := "the source changes the entity, but the target deleted it", m.source, m.tx.base
		if !theirs.there {
			message = "the source deletes the entity, but the target changed it"
		}
		if !source.there {
			keeper, deleter = deleter, keeper
		}
		c, s := m.list(engine.DeleteVsUpdate, t, id, "", message), m.tx.Schema()
		c.Base, c.Ours, c.Theirs = base.image(s, t), ours.image(s, t), theirs.image(s, t)
		var err error
		c.Edges, err = m.taken(t, id, keeper, deleter)
		c.Message += takesEdges(c)
		return err
	}
	if take.there {
		m.keep(t, id)
	}
	switch {
	case take == target:
	case source.there:
		m.put(t, id, *source)
	default:
		m.deletes = append(m.deletes, mergeDelete{t, id, target.ord})
	}
	return nil
}

// divergent is an entity that both sides have, with its three states. The target is the side of the transaction; if
// MergeOptions.Reversed is set, the caller of the merge calls it the source.
type divergent struct {
	kind                 engine.ConflictKind // DivergentUpdate, or DivergentInsert: then any difference is a conflict
	t                    *schema.Type
	id                   string
	base, source, target *entityState
}

// diverging merges, property by property, an entity that both sides have.
func (m *merge) diverging(d divergent) {
	merged := entityState{from: d.target.from, to: d.target.to, vals: slices.Clone(d.target.vals), claims: membership.Merge(d.base.claims, d.source.claims, d.target.claims)}
	changed := merged.claims != d.target.claims
	pick := func(property string, base, source, target value.Value, show func(value.Value) string, set func(value.Value)) {
		if v, differs := m.mergeProperty(&d, property, base, source, target, show); differs {
			changed = true
			set(v)
		}
	}
	for p, prop := range d.t.Props {
		pick(prop.Name, d.base.vals[p], d.source.vals[p], d.target.vals[p], describe, func(v value.Value) { merged.vals[p] = v })
	}
	if d.t.Entity == plan.Edge {
		from, to := m.tx.Schema().EndType(d.t, false), m.tx.Schema().EndType(d.t, true)
		pick("from", from.EndValue(d.base.from), from.EndValue(d.source.from), from.EndValue(d.target.from), describeEnd(from), func(v value.Value) { merged.from = from.EndID(v) })
		pick("to", to.EndValue(d.base.to), to.EndValue(d.source.to), to.EndValue(d.target.to), describeEnd(to), func(v value.Value) { merged.to = to.EndID(v) })
	}
	for p := range d.t.Props {
		if m.stale(&d, &merged, p) {
			merged.vals[p], changed = value.Null, true
		}
	}
	unclaimed := *d.target
	unclaimed.claims = d.base.claims
	switch {
	case changed && d.base.same(&unclaimed): // only the source changed more than the membership
		merged.ord = d.source.ord
		m.carry(d.t, d.id, merged)
	case changed:
		m.put(d.t, d.id, merged)
	}
}

// mergeProperty returns the merged value of a property or an end, and reports whether it differs from that of the target.
func (m *merge) mergeProperty(d *divergent, property string, base, source, target value.Value, show func(value.Value) string) (merged value.Value, differs bool) {
	update := d.kind == engine.DivergentUpdate
	switch {
	case update && value.Equal(base, source) || value.Equal(source, target):
		return source, fault.On(fault.TargetUndone)
	case update && value.Equal(base, target):
		return source, true
	}
	resolution := m.resolutions[place(d.t, d.id, property)]
	switch {
	case resolution == nil:
		m.divergentProperty(d, property, source, target, show)
		return target, false
	case resolution.Take == engine.TakeOurs && !m.opts.Reversed, resolution.Take == engine.TakeTheirs && m.opts.Reversed:
		return target, false
	case resolution.Take != engine.TakeValue:
		return source, true
	}
	return resolution.Value, !value.Equal(resolution.Value, target)
}

// divergentProperty notes a conflict about a property or an end.
func (m *merge) divergentProperty(d *divergent, property string, source, target value.Value, show func(value.Value) string) {
	if !m.diverge(d.kind, d.t) {
		return
	}
	theirs, ours := m.sides(d.source, d.target)
	if m.opts.Reversed {
		source, target = target, source
	}
	c := m.list(d.kind, d.t, d.id, property, fmt.Sprintf("the source has %s, the target %s", show(source), show(target)))
	s := m.tx.Schema()
	if d.kind == engine.DivergentUpdate {
		c.Base = d.base.part(s, d.t, property)
	}
	c.Ours, c.Theirs = ours.part(s, d.t, property), theirs.part(s, d.t, property)
}

// put records that the merge must insert or replace an entity.
func (m *merge) put(t *schema.Type, id string, s entityState) {
	m.puts = append(m.puts, mergePut{t, id, s.from, s.to, s.vals, s.claims, nil})
}

// carry is put for an entity that comes from the source as it is there, with the origin that it has there. Its ordinal is that in the source.
func (m *merge) carry(t *schema.Type, id string, s entityState) {
	m.put(t, id, s)
	if stamp := m.source.Table(t.Entity, t.Index).Stamp(s.ord); !fault.On(fault.MergesMakeRows) {
		m.puts[len(m.puts)-1].carried = &stamp
	}
}

// apply changes the transaction. It deletes nodes last, after the edges have their final
// ends.
func (m *merge) apply() error {
	for _, d := range m.deletes {
		if d.t.Entity == plan.Edge {
			m.tx.Remove(d.t, d.ord)
			m.out.Edges++
		}
	}
	for _, p := range m.puts {
		if err := m.step(); err != nil {
			return err
		}
		for prop, val := range p.vals {
			if err := p.t.CheckValue(prop, val); err != nil {
				v := err.(*engine.ConstraintViolation)
				m.conflict(engine.ValueConstraintViolation, p.t, p.id, v.Property, "%s", v.Detail)
			}
		}
		if v := p.t.CheckValid(func(prop int) value.Value { return p.vals[prop] }); v != nil {
			m.conflict(engine.ValueConstraintViolation, p.t, p.id, v.Property, "%s", v.Detail)
		}
		row, how := Row{ID: p.id, Vals: p.vals, Claims: p.claims}, putRow{}
		if p.carried != nil {
			row.Stamp, how.carries = *p.carried, true
		}
		if p.t.Entity == plan.Node {
			m.tx.put(p.t, row, how)
			m.out.Nodes++
			continue
		}
		var from, to bool
		row.Src, from = m.end(p, "from", p.t.From, p.from)
		row.Dst, to = m.end(p, "to", p.t.To, p.to)
		if from && to {
			m.tx.put(p.t, row, how)
			m.out.Edges++
		}
	}
	var orphans []orphan
	for _, d := range m.deletes {
		if err := m.step(); err != nil {
			return err
		}
		if d.t.Entity == plan.Node {
			orphans = append(orphans, m.orphans(d)...)
		}
	}
	m.lostEnds = map[*schema.Type][]uint32{}
	for _, o := range orphans {
		edges := m.tx.Table(o.t)
		if !edges.Alive(o.ord) {
			continue // it lost both ends and is removed already
		}
		src, _ := edges.Ends(o.ord)
		m.lostEnds[o.t] = append(m.lostEnds[o.t], src)
		m.tx.Remove(o.t, o.ord)
	}
	for _, d := range m.deletes {
		if d.t.Entity == plan.Node {
			m.tx.Remove(d.t, d.ord)
			m.out.Nodes++
		}
	}
	return nil
}

// end returns the ordinal of the node at one end of an edge, or records a conflict.
func (m *merge) end(p mergePut, property string, node int, id string) (uint32, bool) {
	t := m.tx.Schema().Nodes[node]
	ord, ok := m.tx.LookupEnd(t, id)
	if !ok {
		m.conflict(engine.OrphanEdge, p.t, p.id, property, "the edge of the source needs %s, which the target deleted", t.Spell(id))
	}
	return ord, ok
}

// orphan is an edge that loses an end.
type orphan struct {
	t   *schema.Type
	ord uint32 // ordinal of the edge
}

// orphans lists the edges of a node to be deleted, and records a conflict for each.
func (m *merge) orphans(d mergeDelete) (out []orphan) {
	list := func(et int, end uint32, property string, pick func(*Table) *index.Adjacency) {
		t := m.tx.Schema().Edges[et]
		edges := m.tx.Table(t)
		for _, ord := range LiveEdges(edges, pick(edges), end) {
			m.conflict(engine.OrphanEdge, t, edges.ID(ord), property, "the edge of the target needs %s %q, which the source deletes", d.t.Name, d.id)
			out = append(out, orphan{t, ord})
		}
	}
	m.tx.eachEnd(d.t, d.ord, func(end *schema.Type, ord uint32) {
		if end.Of != nil && fault.On(fault.OrphansUnseen) {
			return
		}
		for _, et := range end.Out {
			list(et, ord, "from", (*Table).Out)
		}
		for _, et := range end.In {
			list(et, ord, "to", (*Table).In)
		}
	})
	return out
}

// check records a conflict for each violation of a unique or cardinality rule by the merge.
func (m *merge) check() error {
	for i, before := range m.tx.base.Tables() {
		e := slices.Concat(m.tx.nodes, m.tx.edges)[i]
		rules := m.tx.stricterRules(before.Type)
		if err := m.carried(before.Type, e, rules); err != nil {
			return err
		}
		if e == nil && rules.Tuples == nil {
			continue
		}
		t := m.tx.Table(before.Type)
		for i := range t.Type.Unique {
			for _, ord := range m.uniqueSuspects(t, e, slices.Contains(rules.Tuples, i)) {
				if err := m.step(); err != nil {
					return err
				}
				if !t.Alive(ord) {
					continue
				}
				if other, ok := t.twin(i, ord); ok {
					v := uniqueViolation(t, i, ord, other)
					m.conflict(engine.UniqueViolation, t.Type, v.ID, v.Property, "%s", v.Detail)
				}
			}
		}
	}
	for i, e := range m.tx.edges {
		typ := m.tx.Schema().Edges[i]
		if typ.Card == nil {
			continue
		}
		nodes, edges := m.tx.Table(m.tx.Schema().Nodes[typ.From]), m.tx.Table(typ)
		sources := map[uint32]uint32{}
		if e != nil {
			sources = m.tx.sources(e)
		}
		for _, src := range slices.Concat(m.lostEnds[typ], m.tx.lost[typ]) {
			sources[src] = NoOrd
		}
		if m.tx.stricterRules(typ).Card {
			for _, src := range sourcesOf(edges, nodes) {
				sources[src] = NoOrd
			}
		}
		for _, src := range sortedKeys(sources) {
			if err := m.step(); err != nil {
				return err
			}
			if !nodes.Alive(src) {
				continue
			}
			if v := checkDegree(edges, nodes, src); v != nil {
				_, id := nodes.Type.Label(nodes.ID(src))
				m.conflict(engine.CardinalityViolation, typ, id, "", "%s", v.Detail)
			}
		}
	}
	return nil
}

// carried checks the entities that come from a schema with looser rules, except the entities that
// the merge itself put. It records a conflict for each value that violates a rule.
func (m *merge) carried(typ *schema.Type, e *edit, rules schema.StricterRules) error {
	if rules.Props == nil && !rules.Valid {
		return nil
	}
	t := m.tx.Table(typ)
	for ord := range t.next {
		if err := m.step(); err != nil {
			return err
		}
		if !t.Alive(ord) || e != nil && e.touched[ord] {
			continue
		}
		for _, p := range rules.Props {
			if err := typ.CheckValue(p, t.Value(ord, p)); err != nil {
				v := err.(*engine.ConstraintViolation)
				m.conflict(engine.ValueConstraintViolation, typ, t.ID(ord), v.Property, "%s", v.Detail)
			}
		}
		if rules.Valid {
			if v := unordered(t, ord); v != nil {
				m.conflict(engine.ValueConstraintViolation, typ, v.ID, v.Property, "%s", v.Detail)
			}
		}
	}
	return nil
}

// uniqueSuspects lists the entities that may violate a unique rule: the entities that were put or
// deleted, or all entities if the schema they come from lacked the rule.
func (m *merge) uniqueSuspects(t *Table, e *edit, all bool) []uint32 {
	switch {
	case all:
		ords := make([]uint32, t.next)
		for i := range ords {
			ords[i] = uint32(i)
		}
		return ords
	case e == nil:
		return nil
	}
	return e.sortedTouched()
}

// same reports whether two states of an entity are equal.
func (e *entityState) same(o *entityState) bool {
	return e.there == o.there && e.from == o.from && e.to == o.to && e.claims == o.claims && slices.EqualFunc(e.vals, o.vals, value.Equal)
}

// unedited reports whether the state o of a side is the base state, apart from claims that sources gave up. Such a side
// has no conflict with a deletion. A source that began to claim the entity has not lost it, so then there is a conflict.
func (e *entityState) unedited(o *entityState) bool {
	is := *o
	if !fault.On(fault.ClaimsAreEdits) && !membership.Gains(e.claims, o.claims) {
		is.claims = e.claims
	}
	return e.same(&is)
}

// describe returns a value as a conflict message shows it.
func describe(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList() || v.Kind() == value.Vector || v.Kind() == value.Blob:
		return "another value"
	}
	return value.Text(v)
}
