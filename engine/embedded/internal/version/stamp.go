package version

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Origin is what the origin of a row says of a commit.
type Origin = ancestry.Origin

// The origin of a row follows from the difference that a commit makes. An entity that the commit makes has the commit as both of its
// commits, and one that it changes keeps the commit that made it. An entity that is after the commit as it was before keeps
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
	was, there := ord, exists && e.before.Alive(ord)
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

// equals reports whether a row is that of an entity before the transaction. The ends of an edge are the same if their ids are.
func (tx *Txn) equals(before *Table, was uint32, r *Row) bool {
	if before.Claims(was) != r.Claims {
		return false
	}
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
