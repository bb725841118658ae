package version

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Stored lists the segments that hold a table and its indexes. All rows must be stored.
func (t *Table) Stored() []string {
	names := make([]string, 0, len(t.Segs)+len(t.levels))
	for _, s := range t.Segs {
		names = append(names, s.Name)
	}
	for _, l := range t.storedLevels() {
		names = append(names, l.name)
	}
	for _, s := range t.texts.storedTexts {
		names = append(names, s.names()...)
	}
	for _, levels := range t.texts.storedOrders {
		names = append(names, levels...)
	}
	for _, l := range t.texts.storedVectors {
		names = append(names, l.segment())
	}
	return names
}

// Unstored is a part of a table's indexes that is not stored yet. The caller may store the part and
// then call Named with the name of its segment, once for all tables that share the part.
type Unstored interface {
	// Blocks calls `add` for each block of the segment that will hold the part.
	Blocks(add func(name string, data []byte) error) error
	// Cold reports whether a block should be compressed; the result `delta` says that the numbers
	// of the block ascend.
	Cold(block string) (cold, delta bool)
	// Named records the segment that holds the part; an empty name means that none does.
	// Only the goroutine that writes manifests may call it.
	Named(name string)
}

// Unstored lists the parts of a table's indexes that are not stored. The rows of the table must all
// be stored. Unstored brings the text indexes up to date first. It returns nil if the number of the
// table's ordinals is below `floor`. A text or sorted index exists only after a query has needed
// it.
func (t *Table) Unstored(floor uint32) []Unstored {
	if t.next < floor || t.next == 0 {
		return nil
	}
	parts := slices.Concat(t.unstoredTexts(), t.texts.unstoredOrders(), t.texts.unstoredVectors())
	if t.lacksLevels() {
		for i, l := range t.levels {
			if l.name == "" {
				parts = append(parts, levelOf{t, i})
			}
		}
	}
	return parts
}

// IndexesToStore reports whether a table has indexes that are not stored yet and are large enough.
// An index is large enough if it covers at least `floor` ordinals or texts. A vector index is
// always large enough.
func (t *Table) IndexesToStore(floor uint32) bool {
	return t.next >= floor && (t.lacksLevels() || t.texts.ordersToStore()) || t.texts.textsToStore(floor) || t.texts.vectorsToStore()
}

// lacksLevels reports whether some level of the indexes should be stored and is not.
func (x *Indexes) lacksLevels() bool {
	return len(x.levels) > 0 && x.levels[0].ords > 0 && len(x.storedLevels()) < len(x.levels)
}

// Disown forgets the names of segments that no longer exist, so that the indexes in them count as
// unstored. A table can hold such a name if no manifest listed the table for a while: it shares
// indexes with listed tables, and a segment is deleted once the listed tables have other indexes.
// Only the goroutine that writes manifests may call it.
func (t *Table) Disown(there func(name string) bool) {
	for _, l := range t.levels {
		if l.name != "" && !there(l.name) {
			l.name = ""
		}
	}
	t.texts.disownTexts(there)
	t.texts.disownOrders(there)
	t.texts.disownVectors(there)
}

// takeIndexes gives t the indexes of the table o, and adds to them the entities and rows of t that
// they lack. The indexes of o must have no overlays. For an edge table, the parameters `from` and
// `to` are the tables of its nodes; for a node table they are nil.
func (t *Table) takeIndexes(o *Table, from, to *Table) error {
	ords, rows := o.covered()
	if ords > t.next || rows > t.base {
		return &engine.Corrupt{Object: o.indexObject(), Detail: fmt.Sprintf("the index covers %d ordinals and %d rows, but the table has only %d ordinals and %d rows", ords, rows, t.next, t.base)}
	}
	t.levels, t.keys, t.idx, t.out, t.in = o.levels, o.keys, slices.Clone(o.idx), o.out, o.in
	t.enterLater(max(o.next, ords), max(o.base, rows), from, to)
	return nil
}

// prefix returns a table with the rows of the first k segments, if each row i in the segments
// belongs to ordinal i; see identity. Otherwise it returns nil.
func (t *Table) prefix(k int, unchanged uint32) *Table {
	n := t.Segs[k-1].Start + t.Segs[k-1].N
	if n > t.next || !t.identity(n, unchanged) {
		return nil
	}
	o := newTable(t.Type)
	for _, s := range t.Segs[:k] {
		own := *s
		o.Segs = append(o.Segs, &own)
	}
	o.base, o.next, o.live = n, n, n
	return o
}

// identity reports whether each of the first n rows belongs to the ordinal of the same
// number. The bases cover the ordinals below the parameter `unchanged`; these ordinals may be dead
// or have a later row.
func (t *Rows) identity(n, unchanged uint32) bool {
	for first, rows := range t.rows.All {
		for i, row := range rows {
			ord := first + uint32(i)
			switch {
			case row == ord || row == index.Dead && (ord < unchanged || ord >= n):
			case row == index.Dead || row < n || ord < n && ord >= unchanged || ord < n && !t.replaces(row, ord):
				return false
			}
		}
	}
	return true
}

// replaces reports whether a row can replace an earlier row of the same ordinal: it has the same id
// and, in an edge table, the same ends, so that an index of the earlier row finds the later one.
func (t *Rows) replaces(row, earlier uint32) bool {
	if t.idAt(row) != t.idAt(earlier) {
		return false
	}
	if t.Type.Entity != plan.Edge {
		return true
	}
	src, dst := t.endsAt(row)
	was, wasTo := t.endsAt(earlier)
	return src == was && dst == wasTo
}

// commonBase returns a table with the rows of the first segment, so that its indexes serve
// every table that begins with the same segment. It returns nil unless the segment has most
// of the table's rows, and row i of it belongs to ordinal i. A live ordinal may have a
// later row that replaces the one in the segment. The indexes may hold any entry for a dead
// ordinal.
func (t *Table) commonBase() *Table {
	if len(t.Segs) < 2 || t.Segs[0].N < t.next/2 || t.Segs[0].N > t.next {
		return nil
	}
	return t.prefix(1, t.Segs[0].N)
}

// enterLater adds the entries that the indexes lack: the entities from ordinal number `ords` on,
// and for earlier entities the rows from row number `rows` on.
func (t *Table) enterLater(ords, rows uint32, from, to *Table) {
	owner := new(index.Owner)
	var r Row
	enter := func(ord uint32) {
		row := t.rows.Get(ord)
		if row == index.Dead {
			return
		}
		if t.Type.Entity == plan.Edge {
			r.Src, r.Dst = t.endsWithin(row, from, to)
		}
		if ord >= ords {
			t.keys.Add(owner, index.String(t.idAt(row)), ord)
			if t.Type.Entity == plan.Edge {
				t.out.Add(owner, r.Src, r.Dst, ord)
				t.in.Add(owner, r.Dst, r.Src, ord)
			}
		}
		for i, tuple := range t.Type.Tuples {
			if h, ok := tupleHash(tuple, func(p int) value.Value { return t.ValueAt(row, p) }, r.Src, r.Dst); ok {
				t.idx[i].Add(owner, h, ord)
			}
		}
	}
	if len(t.Type.Tuples) > 0 {
		for first, page := range t.rows.All {
			for i, row := range page {
				if ord := first + uint32(i); ord < ords && row >= rows && row != index.Dead {
					enter(ord)
				}
			}
		}
	}
	for ord := ords; ord < t.next; ord++ {
		enter(ord)
	}
}

// rebuild builds the indexes of a table that was read from storage. It throws an
// *engine.Corrupt if an end of an edge is not the ordinal of a node; see package corruption.
func (t *Table) rebuild(from, to *Table) {
	for _, s := range t.Segs {
		t.ids(s).Load() // checks the number of rows before reindex allocates for it
	}
	if from != nil {
		for ord := range t.next {
			if row := t.rows.Get(ord); row != index.Dead {
				t.endsWithin(row, from, to)
			}
		}
	}
	t.reindex()
}

// endsWithin returns the ends of an edge. It throws a fault unless both are ordinals of nodes.
func (t *Rows) endsWithin(row uint32, from, to *Table) (src, dst uint32) {
	if src, dst = t.endsAt(row); src >= from.next || dst >= to.next {
		corruption.Corrupt(t.object(), "an edge of type %s leads from node %d to node %d, but their types have only %d and %d nodes", t.Type.Name, src, dst, from.next, to.next)
	}
	return src, dst
}

// checkJoins checks that the node ordinals in the bases of an edge table are within its
// node tables.
func (t *Table) checkJoins(from, to *Table) error {
	for _, end := range []struct {
		a           *index.Adjacency
		here, other *Table
	}{{&t.out, from, to}, {&t.in, to, from}} {
		if here, others, _ := end.a.Bounds(); here > end.here.next || others > end.other.next {
			return &engine.Corrupt{Object: t.indexObject(), Detail: fmt.Sprintf("the index of the edges of type %s covers %d nodes and %d nodes at their other ends, but the node types have only %d and %d",
				t.Type.Name, here, others, end.here.next, end.other.next)}
		}
	}
	return nil
}

// indexObject returns the name of the file that holds the last level of the indexes, for errors.
func (x *Indexes) indexObject() string {
	if n := len(x.levels); n > 0 && x.levels[n-1].file != "" {
		return x.levels[n-1].file
	}
	return "manifest"
}
