package version

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Txn derives a new snapshot from its base. The tables of the transaction show its changes
// at once; no other reader sees them before Commit. A branch has one transaction at a time.
// An abandoned transaction needs no rollback. A Txn is not safe for concurrent use.
type Txn struct {
	base  *Snapshot    // the state before the transaction
	owner *index.Owner // marks the pages that the transaction may change in place
	nodes []*edit      // by node type: its changed table; nil without a change
	edges []*edit      // by edge type: its changed table; nil without a change

	files *IndexFiles // nil if indexes stay in memory until a checkpoint
	kept  []string    // see Stored

	copied int // number of copied rows; see Copied

	deferred bool // see Defer

	late, keepLate *late // see NoteLate and KeepLate; nil until then

	change *schema.Change            // the schema change, or nil
	before *Snapshot                 // the state before the schema change, if change is not nil
	lost   map[*schema.Type][]uint32 // by edge type, the sources of edges that the schema change removed

	examined *Examined // see Resume

	number  uint32 // see Number
	replays bool   // see Replay
}

// Copied returns the number of rows that the transaction copied from tails of another
// lineage.
func (tx *Txn) Copied() int { return tx.copied }

// Begin starts a transaction on a snapshot.
func Begin(base *Snapshot) *Txn {
	return &Txn{base: base, owner: new(index.Owner), nodes: make([]*edit, len(base.nodes)), edges: make([]*edit, len(base.edges))}
}

// Schema returns the schema of the new snapshot. After Migrate, it differs from the schema of the
// base.
func (tx *Txn) Schema() *schema.Schema { return tx.base.Schema }

// Base returns the snapshot that the transaction started from.
func (tx *Txn) Base() *Snapshot { return tx.base }

// Table returns the table of a type as the transaction sees it. It changes with the
// transaction.
func (tx *Txn) Table(t *schema.Type) *Table {
	if e := tx.list(t.Entity)[t.Index]; e != nil {
		return e.Table
	}
	return tx.base.Table(t.Entity, t.Index)
}

// Put writes the whole row of the entity with the row's id, and creates the entity if it
// does not exist. The ends of an edge must be alive. If the ends of an existing edge
// change, Put replaces it by a new edge with the same id and another ordinal. Put copies
// the row, which may alias a segment that is closed later. It ignores the membership of the row: an entity keeps its own, with
// a mark for each property that changes.
func (tx *Txn) Put(t *schema.Type, r Row) (ord uint32, existed bool) {
	return tx.put(t, r, putRow{keeps: true})
}

// MarkedClaims returns the text of the membership of a live entity after a write, which is no sync, that gives the entity the
// values that the function `vals` returns.
func (t *Rows) MarkedClaims(ord uint32, vals func(p int) value.Value) string {
	return membership.Mark(t.Claims(ord), func(name string) bool {
		p, ok := t.Type.Prop(name)
		return ok && !value.Equal(t.Value(ord, p), vals(p))
	})
}

// PutClaimed is Put, but the entity gets the membership of the row.
func (tx *Txn) PutClaimed(t *schema.Type, r Row) (ord uint32, existed bool) {
	return tx.put(t, r, putRow{})
}

// putRow says what put takes from a row.
type putRow struct {
	keeps   bool // the entity keeps its membership, see Put
	carries bool // the entity gets the origin of the row
}

// put does the work of Put, PutClaimed and PutCarried.
func (tx *Txn) put(t *schema.Type, r Row, how putRow) (ord uint32, existed bool) {
	e := tx.edit(t)
	ord, existed = e.Lookup(r.ID)
	switch {
	case how.keeps && existed:
		r.Claims = e.MarkedClaims(ord, func(p int) value.Value { return r.Vals[p] })
	case how.keeps:
		r.Claims = ""
	}
	if !how.carries {
		r.Stamp = tx.stampOf(e, &r, ord, existed)
	}
	r = r.detached()
	if tx.late != nil {
		// Deferred until the row is there. A replay must take its membership as it is, so the operation is that of PutClaimed.
		defer func() { tx.late.ops = tx.appendPut(tx.late.ops, e.Table, ord, true, true) }()
	}
	if existed && t.Entity == plan.Edge {
		if src, dst := e.Ends(ord); src != r.Src || dst != r.Dst {
			e.delete(ord)
			return e.add(r), true
		}
	}
	if !existed {
		return e.add(r), false
	}
	e.replace(ord, r)
	return ord, true
}

// Delete removes a live entity and, for a node, its edges. It returns the number of edges
// removed with a node.
func (tx *Txn) Delete(t *schema.Type, ord uint32) (edges int64) {
	if t.Entity == plan.Edge {
		tx.edit(t).delete(ord)
		return 0
	}
	tx.eachEnd(t, ord, func(end *schema.Type, ord uint32) {
		tx.eachEdge(end, ord, func(typ *schema.Type, edge uint32) {
			tx.edit(typ).delete(edge)
			edges++
		})
	})
	tx.Remove(t, ord)
	return edges
}

// Changed reports whether the transaction's state differs from its base.
func (tx *Txn) Changed() bool {
	if tx.change != nil {
		return true
	}
	for _, list := range [][]*edit{tx.nodes[:tx.base.Schema.Declared()], tx.edges} {
		for _, e := range list {
			if e == nil {
				continue
			}
			if e.reset {
				if tx.differs(e) {
					return true
				}
				continue
			}
			for ord := range e.touched {
				if tx.differsAt(e, ord) {
					return true
				}
			}
		}
	}
	return false
}

// Room checks that the tables have numbers left for the rows and entities that the transaction
// adds. The error is a *engine.TooLarge; a rewrite makes room if there are dead rows or ordinals.
func (tx *Txn) Room() error {
	for _, list := range [][]*edit{tx.nodes, tx.edges} {
		for _, e := range list {
			if e == nil {
				continue
			}
			if err := e.Type.CheckRows(max(int64(e.base)+int64(len(e.tail)), int64(e.next))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes a live entity but not the edges of a node. The caller must remove these. The references to the
// node are removed with it.
func (tx *Txn) Remove(t *schema.Type, ord uint32) {
	remove := func(t *schema.Type, ord uint32) {
		e := tx.edit(t)
		if tx.late != nil {
			tx.late.ops = appendDelete(tx.late.ops, e.Table, ord)
		}
		e.delete(ord)
	}
	tx.eachEnd(t, ord, func(end *schema.Type, ord uint32) {
		if end != t {
			remove(end, ord)
		}
	})
	remove(t, ord)
}

// Orphan finds an edge of a type that has lost an end. It returns the id of the node
// that was at that end.
func (tx *Txn) Orphan(t *schema.Type) (ord uint32, lost string, ok bool) {
	edges := tx.Table(t)
	from, to := tx.base.Schema.EndType(t, false), tx.base.Schema.EndType(t, true)
	for ord := range edges.next {
		if !edges.Alive(ord) {
			continue
		}
		src, dst := edges.Ends(ord)
		if !tx.Table(from).Alive(src) {
			_, id := from.Label(tx.base.Table(plan.Node, from.Index).ID(src))
			return ord, id, true
		}
		if !tx.Table(to).Alive(dst) {
			_, id := to.Label(tx.base.Table(plan.Node, to.Index).ID(dst))
			return ord, id, true
		}
	}
	return 0, "", false
}

// Commit returns the transaction's state as the state of commit c. The transaction must not
// be used afterwards.
func (tx *Txn) Commit(c engine.Commit) *Snapshot {
	s := &Snapshot{Commit: c, Schema: tx.base.Schema, nodes: slices.Clone(tx.base.nodes), edges: slices.Clone(tx.base.edges), line: tx.base.line}
	for i, e := range tx.nodes {
		if e != nil {
			s.nodes[i] = e.Table
		}
	}
	for i, e := range tx.edges {
		if e != nil {
			s.edges[i] = e.Table
		}
	}
	return s
}

// View returns the state of the transaction, with the commit of its base. The state is valid until
// the next change of the transaction. The transaction does not keep the search indexes that readers
// of the state build.
func (tx *Txn) View() *Snapshot {
	s := tx.Commit(tx.base.Commit)
	own := func(tables []*Table, edits []*edit) {
		for i, e := range edits {
			if e != nil {
				table := *e.Table
				table.texts = e.texts.next()
				tables[i] = &table
			}
		}
	}
	own(s.nodes, tx.nodes)
	own(s.edges, tx.edges)
	return s
}

// list returns the edits of the node tables or of the edge tables.
func (tx *Txn) list(e plan.Entity) []*edit {
	if e == plan.Edge {
		return tx.edges
	}
	return tx.nodes
}

// edit returns the changed table of a type. On the first use, it copies the table.
func (tx *Txn) edit(t *schema.Type) *edit {
	list := tx.list(t.Entity)
	if list[t.Index] == nil {
		before := tx.base.Table(t.Entity, t.Index)
		table := *before
		table.alive, table.home, table.moved = nil, nil, nil
		table.listed, table.kept = nil, false
		e := &edit{Table: &table, owner: tx.owner, before: before, touched: map[uint32]bool{}}
		e.idx = slices.Clone(before.idx)
		if before.line != tx.base.line {
			e.tail, e.line = slices.Clip(before.tail), tx.base.line
			tx.copied += len(before.tail)
		}
		e.texts = before.texts.next()
		list[t.Index] = e
	}
	return list[t.Index]
}

// differs reports whether a table that started anew has other entities than before.
func (tx *Txn) differs(e *edit) bool {
	if e.live != e.before.live {
		return true
	}
	for ord := range e.next {
		if !e.Alive(ord) {
			continue
		}
		if was, ok := e.before.Lookup(e.ID(ord)); !ok || !tx.same(e, was, ord) {
			return true
		}
	}
	return false
}

// differsAt reports whether the entity of a touched ordinal differs from the earlier entity with
// the same id. If an entity was deleted and inserted again, its new ordinal is touched too.
func (tx *Txn) differsAt(e *edit, ord uint32) bool {
	if e.before.Alive(ord) {
		now, ok := e.Lookup(e.before.ID(ord))
		return !ok || !tx.same(e, ord, now)
	}
	if !e.Alive(ord) {
		return false
	}
	_, ok := e.before.Lookup(e.ID(ord))
	return !ok
}

// same reports whether two entities have the same values and ends: the entity with the ordinal
// `was` in the table before the transaction, and the entity with the ordinal `is` in the
// transaction's table.
func (tx *Txn) same(e *edit, was, is uint32) bool {
	if e.before.Claims(was) != e.Claims(is) {
		return false
	}
	for p := range e.Type.Props {
		if !value.Equal(e.before.Value(was, p), e.Value(is, p)) {
			return false
		}
	}
	if e.Type.Entity != plan.Edge {
		return true
	}
	src, dst := e.Ends(is)
	oldSrc, oldDst := e.before.Ends(was)
	return tx.sameEnds(e.Type, oldSrc, oldDst, src, dst)
}

// LiveEdges lists the live edges at a node. The parameter `a` is edges.Out() or edges.In().
func LiveEdges(edges *Table, a *index.Adjacency, node uint32) []uint32 {
	var out []uint32
	base, _ := a.Base(node)
	for _, e := range base {
		if edges.Alive(e) {
			out = append(out, e)
		}
	}
	for h := a.Later(node); h.Next(); {
		if edges.Alive(h.Edge) {
			out = append(out, h.Edge)
		}
	}
	return out
}
