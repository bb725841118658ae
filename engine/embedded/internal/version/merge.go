package version

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Merged is the result of a merge.
type Merged struct {
	Nodes, Edges int64                  // entities put or deleted
	Conflicts    []engine.MergeConflict // why the merge is impossible; empty if it is possible
}

// Merge applies to the transaction the changes that lead from `base` to `source`, entity by entity
// and property by property. It reports all conflicts; if there are any, the caller must abandon the
// transaction. The three states must have the same schema. [Schema.CheckResolution] must have
// accepted the resolutions. The only possible error is that of the context; the caller must then abandon
// the transaction.
func (tx *Txn) Merge(ctx context.Context, base, source *Snapshot, resolutions []engine.Resolution) (*Merged, error) {
	m := &merge{ctx: ctx, tx: tx, base: base, source: source, resolutions: map[engine.ConflictPlace]*engine.Resolution{}}
	for i := range resolutions {
		m.resolutions[resolutions[i].ConflictPlace] = &resolutions[i]
	}
	for _, list := range [][]*Type{tx.base.Schema.NodeTypes(), tx.base.Schema.Edges} {
		for _, t := range list {
			if err := m.decide(t); err != nil {
				return nil, err
			}
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
	sortConflicts(m.out.Conflicts)
	return &m.out, nil
}

// sortConflicts puts conflicts into a fixed order.
func sortConflicts(all []engine.MergeConflict) {
	slices.SortStableFunc(all, func(a, b engine.MergeConflict) int {
		if c := int(a.Kind) - int(b.Kind); c != 0 {
			return c
		}
		if c := strings.Compare(b.Entity, a.Entity); c != 0 {
			return c // nodes first
		}
		return strings.Compare(a.Type+"\x00"+a.ID, b.Type+"\x00"+b.ID)
	})
}

// merge is the working state of [Txn.Merge].
type merge struct {
	ctx          context.Context // ends the merge
	steps        int             // the calls of `step`
	tx           *Txn
	base, source *Snapshot          // the common base and the state to merge
	puts         []mergePut         // entities to insert or replace
	deletes      []mergeDelete      // entities to delete
	lostEnds     map[*Type][]uint32 // by edge type, sources of edges that lost an end
	// resolutions has the resolutions by the place of their conflict.
	resolutions map[engine.ConflictPlace]*engine.Resolution
	out         Merged // the result so far
}

// mergePut is an entity that the merge inserts or replaces. It contains the ends of an edge as ids.
type mergePut struct {
	t        *Type
	id       string
	from, to string        // ids of an edge's ends
	vals     []value.Value // by property
}

// mergeDelete is an entity to delete.
type mergeDelete struct {
	t   *Type
	id  string
	ord uint32 // ordinal in the target
}

// entityState is an entity in one of the three states.
type entityState struct {
	there    bool          // whether the entity exists
	ord      uint32        // ordinal in the state
	from, to string        // ids of the entities at an edge's ends, which may be references
	vals     []value.Value // by property
}

// end returns the id of the entity at an end.
func (e *entityState) end(to bool) string {
	if to {
		return e.to
	}
	return e.from
}

// conflict notes a conflict about an entity or one of its properties.
func (m *merge) conflict(kind engine.ConflictKind, t *Type, id, property, format string, args ...any) {
	m.out.Conflicts = append(m.out.Conflicts, engine.MergeConflict{Kind: kind, Entity: t.Entity.String(), Type: t.Name, ID: strings.Clone(id),
		Property: property, Message: fmt.Sprintf(format, args...)})
}

// step returns the error of the context. It looks at the context in one of 1,024 calls.
func (m *merge) step() error {
	if m.steps++; m.steps%1024 > 0 {
		return nil
	}
	return m.ctx.Err()
}

// decide handles each entity of a type that the source changed.
func (m *merge) decide(t *Type) error {
	ids, err := changedIDs(m.ctx, m.base.Table(t.Entity, t.Index), m.source.Table(t.Entity, t.Index))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := m.step(); err != nil {
			return err
		}
		was, is, have := entityOf(m.base, t, id), entityOf(m.source, t, id), entityOf(m.tx.base, t, id)
		switch {
		case !was.there && !is.there || was.there && is.there && was.same(&is):
			// The two sides store different rows, but their values are equal.
		case !was.there && !have.there:
			m.put(t, id, is)
		case !was.there:
			m.diverging(engine.DivergentInsert, t, id, &entityState{vals: have.vals}, &is, &have)
		case !is.there && !have.there:
		case !is.there && was.same(&have):
			if fault.On(fault.TombstonesDropped) {
				continue
			}
			m.deletes = append(m.deletes, mergeDelete{t, id, have.ord})
		case !is.there || !have.there:
			m.deletedOrChanged(t, id, &was, &is, &have)
		default:
			m.diverging(engine.DivergentUpdate, t, id, &was, &is, &have)
		}
	}
	return nil
}

// deletedOrChanged handles an entity that one side deleted and the other changed.
func (m *merge) deletedOrChanged(t *Type, id string, was, is, have *entityState) {
	switch m.side(t, id, "") {
	case engine.TakeOurs:
	case engine.TakeTheirs:
		if is.there {
			m.put(t, id, *is)
		} else {
			m.deletes = append(m.deletes, mergeDelete{t, id, have.ord})
		}
	default:
		message := "the source changes the entity, but the target deleted it"
		if !is.there {
			message = "the source deletes the entity, but the target changed it"
		}
		m.conflict(engine.DeleteVsUpdate, t, id, "", "%s", message)
		c, s := &m.out.Conflicts[len(m.out.Conflicts)-1], m.tx.Schema()
		c.Base, c.Ours, c.Theirs = was.image(s, t), have.image(s, t), is.image(s, t)
	}
}

// diverging merges, property by property, an entity that both sides have. A divergent
// insert has no base state, so any difference is a conflict.
func (m *merge) diverging(kind engine.ConflictKind, t *Type, id string, was, is, have *entityState) {
	merged := entityState{from: have.from, to: have.to, vals: slices.Clone(have.vals)}
	changed := false
	pick := func(property string, w, s, h value.Value, show func(value.Value) string, set func(value.Value)) {
		resolution := m.resolutions[place(t, id, property)]
		switch {
		case kind == engine.DivergentUpdate && value.Equal(w, s) || value.Equal(s, h):
			if !fault.On(fault.TargetUndone) {
				return
			}
			set(s)
		case kind == engine.DivergentUpdate && value.Equal(w, h):
			set(s)
		case resolution == nil:
			m.conflict(kind, t, id, property, "the source has %s, the target %s", show(s), show(h))
			c, s := &m.out.Conflicts[len(m.out.Conflicts)-1], m.tx.Schema()
			if kind == engine.DivergentUpdate {
				c.Base = was.part(s, t, property)
			}
			c.Ours, c.Theirs = have.part(s, t, property), is.part(s, t, property)
			return
		case resolution.Take == engine.TakeOurs:
			return
		case resolution.Take == engine.TakeTheirs:
			set(s)
		case value.Equal(resolution.Value, h):
			return
		default:
			set(resolution.Value)
		}
		changed = true
	}
	for p, prop := range t.Props {
		pick(prop.Name, was.vals[p], is.vals[p], have.vals[p], describe, func(v value.Value) { merged.vals[p] = v })
	}
	if t.Entity == plan.Edge {
		from, to := m.tx.Schema().EndType(t, false), m.tx.Schema().EndType(t, true)
		pick("from", from.endValue(was.from), from.endValue(is.from), from.endValue(have.from), from.describeEnd, func(v value.Value) { merged.from = from.EndID(v) })
		pick("to", to.endValue(was.to), to.endValue(is.to), to.endValue(have.to), to.describeEnd, func(v value.Value) { merged.to = to.EndID(v) })
	}
	if changed {
		m.put(t, id, merged)
	}
}

// put records that the merge must insert or replace an entity.
func (m *merge) put(t *Type, id string, s entityState) {
	m.puts = append(m.puts, mergePut{t, id, s.from, s.to, s.vals})
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
		if err := p.t.CheckRow(p.id, p.vals); err != nil {
			v := err.(*engine.ConstraintViolation)
			m.conflict(engine.ValueConstraintViolation, p.t, p.id, v.Property, "%s", v.Detail)
		}
		row := Row{ID: p.id, Vals: p.vals}
		if p.t.Entity == plan.Node {
			m.tx.Put(p.t, row)
			m.out.Nodes++
			continue
		}
		var from, to bool
		row.Src, from = m.end(p, "from", p.t.From, p.from)
		row.Dst, to = m.end(p, "to", p.t.To, p.to)
		if from && to {
			m.tx.Put(p.t, row)
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
	m.lostEnds = map[*Type][]uint32{}
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
		m.conflict(engine.OrphanEdge, p.t, p.id, property, "the edge of the source needs %s, which the target deleted", t.spell(id))
	}
	return ord, ok
}

// orphan is an edge that loses an end.
type orphan struct {
	t   *Type
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
	m.tx.eachEnd(d.t, d.ord, func(end *Type, ord uint32) {
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
		if e == nil && rules.tuples == nil {
			continue
		}
		t := m.tx.Table(before.Type)
		for i := range t.Type.Unique {
			for _, ord := range m.uniqueSuspects(t, e, slices.Contains(rules.tuples, i)) {
				if err := m.step(); err != nil {
					return err
				}
				if !t.Alive(ord) {
					continue
				}
				if other, ok := t.twin(i, ord); ok {
					v := t.uniqueViolation(i, ord, other)
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
		if m.tx.stricterRules(typ).card {
			for _, src := range edges.sources(nodes) {
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
func (m *merge) carried(typ *Type, e *edit, rules stricterRules) error {
	if rules.props == nil {
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
		for _, p := range rules.props {
			if err := typ.CheckValue(p, t.Value(ord, p)); err != nil {
				v := err.(*engine.ConstraintViolation)
				m.conflict(engine.ValueConstraintViolation, typ, t.ID(ord), v.Property, "%s", v.Detail)
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
	return e.there == o.there && e.from == o.from && e.to == o.to && slices.EqualFunc(e.vals, o.vals, value.Equal)
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

// changedIDs lists, in order, the ids of entities that may differ between two tables of one
// type. The only possible error is that of the context.
func changedIDs(ctx context.Context, a, b *Table) ([]string, error) {
	var ids []string
	err := eachChanged(ctx, a, b, func(t *Table, _, row uint32) { ids = append(ids, t.idAt(row)) })
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// eachChanged calls `yield` with the rows in two tables of one type that may differ. It skips the rows
// that the tables share without comparing their values. It skips a page of row numbers that the tables
// share only if they share the rows too: after schema changes, the same stored row may have other values
// in the other table. The only possible error is that of the context.
func eachChanged(ctx context.Context, a, b *Table, yield func(t *Table, ord, row uint32)) error {
	if a == b {
		return nil
	}
	shared := sharedRows(a, b)
	complete := shared == min(a.base+uint32(len(a.tail)), b.base+uint32(len(b.tail)))
	add := func(t *Table, ord uint32, row uint32) {
		if ord < t.next && row != index.Dead {
			yield(t, ord, row)
		}
	}
	end := max(a.next, b.next)
	for first := uint32(0); first < end; first += 256 {
		if first%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		last := min(first+256, end)
		x, y := a.rows.Page(first), b.rows.Page(first)
		switch {
		case x != y || last > min(a.next, b.next):
		case x != nil && complete: // a shared page has only row numbers that both tables have
			continue
		case x == nil && last <= shared:
			continue
		}
		for ord := first; ord < last; ord++ {
			x, y := index.Dead, index.Dead
			if ord < a.next {
				x = a.rows.Get(ord)
			}
			if ord < b.next {
				y = b.rows.Get(ord)
			}
			if x == y && (x == index.Dead || x < shared) || sameTailRow(a, x, b, y) {
				continue
			}
			add(a, ord, x)
			add(b, ord, y)
		}
	}
	return nil
}

// sharedRows returns the number of rows at the start of both tables that the tables share: rows
// in the same segment, read with the same columns, and rows of the tail with the same values.
func sharedRows(a, b *Table) uint32 {
	end := uint32(0)
	for i := range min(len(a.Segs), len(b.Segs)) {
		x, y := a.Segs[i], b.Segs[i]
		if x != y && (x.Name == "" || x.Name != y.Name || !x.Origin.equal(y.Origin)) {
			return end
		}
		end = x.Start + x.N
	}
	if len(a.Segs) != len(b.Segs) {
		return end
	}
	n := min(len(a.tail), len(b.tail))
	if unsafe.SliceData(a.tail) == unsafe.SliceData(b.tail) {
		return end + uint32(n) // a tail only grows, and one lineage appends to it
	}
	for range n {
		if !sameTailRow(a, end, b, end) {
			break
		}
		end++
	}
	return end
}

// sameTailRow reports whether two tail rows are the same row that a transaction put.
func sameTailRow(a *Table, x uint32, b *Table, y uint32) bool {
	if x == index.Dead || y == index.Dead || x < a.base || y < b.base {
		return false
	}
	r, s := &a.tail[x-a.base], &b.tail[y-b.base]
	return r.ID == s.ID && r.Src == s.Src && r.Dst == s.Dst && unsafe.SliceData(r.Vals) == unsafe.SliceData(s.Vals)
}
