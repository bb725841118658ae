package version

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// edit is a table that the transaction changes. The new snapshot keeps the table, so edit holds
// only a pointer to it. A snapshot that kept the whole edit would also keep the field `before`, and
// through it every state since the last checkpoint.
type edit struct {
	*Table
	owner   *index.Owner    // that of the transaction
	before  *Table          // the table before the transaction
	touched map[uint32]bool // ordinals whose entity was put or deleted
	reset   bool            // the table started anew: every ordinal is touched
	deletes bool            // the transaction deleted an entity of the table
}

// add adds an entity, and returns its ordinal.
func (e *edit) add(r Row) uint32 {
	ord := e.assignOrdinal(r.ID)
	row := e.base + uint32(len(e.tail))
	e.tail = append(e.tail, r)
	e.rows.Set(e.owner, ord, row)
	e.touched[ord] = true
	e.live++
	e.enter(e.Type, e.owner, ord, &r, true)
	return ord
}

// replace gives an entity another row, with the same id and the same ends.
func (e *edit) replace(ord uint32, r Row) {
	e.touched[ord] = true
	old := e.rows.Get(ord)
	row := e.base + uint32(len(e.tail))
	e.tail = append(e.tail, r)
	for i, tuple := range e.Type.Tuples {
		before, had := tupleHash(tuple, func(p int) value.Value { return e.ValueAt(old, p) }, r.Src, r.Dst)
		after, has := tupleHash(tuple, func(p int) value.Value { return r.Vals[p] }, r.Src, r.Dst)
		if had == has && before == after {
			continue
		}
		if had {
			e.idx[i].Remove(e.owner, before, ord)
		}
		if has {
			e.idx[i].Add(e.owner, after, ord)
		}
	}
	e.rows.Set(e.owner, ord, row)
}

// skip consumes an ordinal without giving it to an entity.
func (e *edit) skip() {
	ord := e.next
	e.next++
	e.rows.Set(e.owner, ord, index.Dead)
	e.touched[ord] = true
}

// delete removes a live entity from its table and the table's indexes.
func (e *edit) delete(ord uint32) {
	e.touched[ord], e.deletes = true, true
	e.remove(e.owner, &e.Rows, ord)
	e.rows.Set(e.owner, ord, index.Dead)
	e.live--
}

// putSegment inserts or replaces the entities of a part. It does not enter the new entities into the
// indexes.
func (e *edit) putSegment(p Part) {
	s := p.Segment
	e.append(s)
	ids := e.ids(s)
	var kept engine.Bitmap
	if p.Replace {
		kept = engine.NewBitmap(int(e.next))
	}
	first := e.next
	from, to := s.Ends()
	for i := range s.N {
		id := ids.Str(i)
		ord, ok := e.Lookup(id)
		if ok && p.Type.Entity == plan.Edge {
			if src, dst := e.Ends(ord); src != from[i] || dst != to[i] {
				e.delete(ord)
				ok = false
			}
		}
		if ok && ord < first && kept != nil {
			kept.Set(int(ord))
		}
		if !ok {
			ord = e.assignOrdinal(strings.Clone(id))
			e.live++
		}
		e.touched[ord] = true
		e.rows.Set(e.owner, ord, s.Start+i)
	}
	for ord := range first {
		if kept != nil && e.Alive(ord) && !kept.Get(int(ord)) {
			e.delete(ord)
		}
	}
}

// changed reports whether the entity of an ordinal differs from before.
func (e *edit) changed(ord uint32) bool {
	was, is := e.before.Alive(ord), e.Alive(ord)
	if was != is {
		return true
	}
	if !is {
		return false
	}
	if e.before.Claims(ord) != e.Claims(ord) {
		return true
	}
	a, b := e.before.rows.Get(ord), e.rows.Get(ord)
	for p := range e.Type.Props {
		if !value.Equal(e.before.ValueAt(a, p), e.ValueAt(b, p)) {
			return true
		}
	}
	return false
}

// assignOrdinal assigns the next ordinal to the entity with an id.
func (t *Entities) assignOrdinal(id string) uint32 {
	if t.sorted {
		if t.next == 0 || id > t.last {
			t.last = id
		} else {
			t.sorted = false
		}
	}
	t.next++
	return t.next - 1
}

// sortedTouched lists the ordinals that eachTouched yields.
func (e *edit) sortedTouched() []uint32 { return slices.Collect(e.eachTouched) }

// eachTouched yields the ordinals that were put or deleted, in order. After a reset these are all
// ordinals.
func (e *edit) eachTouched(yield func(ord uint32) bool) {
	if !e.reset {
		slices.Values(sortedKeys(e.touched))(yield)
		return
	}
	for ord := range max(e.next, e.before.next) {
		if !yield(ord) {
			return
		}
	}
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Origin is what the origin of a row says of a commit.
type Origin = ancestry.Origin

// Origins has the commits in the origins of rows.
type Origins = ancestry.History

// The origin of a row follows from the difference that a commit makes. An entity that the commit makes has the commit as both of its
// commits, and one that it changes keeps the commit that made it. A membership is no change. An entity that is after the commit as it was before keeps
// its whole origin, even if the commit deletes it and inserts it again. PutCarried is for the commits that carry the origins of
// the rows that they put: merges, and changes of the schema.

// Number sets the number of the commit that the transaction becomes; 0, without a call, for none. The number stays in force after
// Migrate.
func (tx *Txn) Number(n uint32) { tx.number = n }

// Replay is Number for a transaction that applies the operations of commits that were made. It may be called again for the next
// commit.
func (tx *Txn) Replay(n uint32) { tx.number, tx.replays = n, true }

// PutCarried is PutClaimed, but the entity gets the origin of the row.
func (tx *Txn) PutCarried(t *schema.Type, r Row) { tx.put(t, r, putRow{carries: true}) }

// NewStamp returns the origin of an entity that the transaction makes.
func (tx *Txn) NewStamp() segment.Stamp { return segment.Stamp{Made: tx.number, Changed: tx.number} }

// StampOf returns the origin of a row that a part of the transaction puts. The ends of an edge are ordinals in the transaction.
func (tx *Txn) StampOf(t *schema.Type, r *Row) segment.Stamp {
	before := tx.base.Table(t.Entity, t.Index)
	was, there := before.Lookup(r.ID)
	return tx.since(before, was, there, r)
}

// stampOf returns the origin of a row that the transaction puts. The ordinal is that of the entity, if it exists.
func (tx *Txn) stampOf(e *edit, r *Row, ord uint32, exists bool) segment.Stamp {
	if tx.replays {
		made := tx.number
		if exists {
			made = e.Stamp(ord).Made
		}
		return segment.Stamp{Made: made, Changed: tx.number}
	}
	was, there := ord, exists && !e.reset && e.before.Alive(ord)
	if !there && (e.deletes || e.reset) {
		was, there = e.before.Lookup(r.ID)
	}
	return tx.since(e.before, was, there, r)
}

// since returns the origin of a row of the transaction whose entity was `was` before, if it was there.
func (tx *Txn) since(before *Table, was uint32, there bool, r *Row) segment.Stamp {
	if !there {
		return tx.NewStamp()
	}
	s := before.Stamp(was)
	if !tx.equals(before, was, r) {
		s.Changed = tx.number
	}
	return s
}

// equals reports whether a row is that of an entity before the transaction, apart from the membership. The ends of an edge are the same if their ids are.
func (tx *Txn) equals(before *Table, was uint32, r *Row) bool {
	for p := range before.Type.Props {
		if !value.Equal(before.Value(was, p), r.Vals[p]) {
			return false
		}
	}
	if before.Type.Entity != plan.Edge {
		return true
	}
	src, dst := before.Ends(was)
	return tx.sameEnds(before.Type, src, dst, r.Src, r.Dst)
}

// sameEnds reports whether the ends of an edge before the transaction have the ids of two nodes in the transaction.
func (tx *Txn) sameEnds(t *schema.Type, oldSrc, oldDst, src, dst uint32) bool {
	from, to := tx.base.Schema.Nodes[t.From], tx.base.Schema.Nodes[t.To]
	return tx.Table(from).ID(src) == tx.base.Table(plan.Node, from.Index).ID(oldSrc) && tx.Table(to).ID(dst) == tx.base.Table(plan.Node, to.Index).ID(oldDst)
}

// derived returns the origin that a replay gives an entity that the operations of the transaction put.
func (tx *Txn) derived(e *edit, ord uint32) segment.Stamp {
	s := tx.NewStamp()
	if e.before.Alive(ord) {
		s.Made = e.before.Stamp(ord).Made
	}
	return s
}
