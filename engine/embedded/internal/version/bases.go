package version

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The indexes of a table have levels. Level 0 holds their bases, which are built together. A
// checkpoint turns the overlays of all indexes into a further level once they have many entries; see
// [Table.addLevel]. A segment that holds a level has these blocks:
//
//	meta        format   1 byte
//	            type     entity (1 byte, 0 node, 1 edge), name (text)
//	            covered  numbers of ordinals and rows that this level and the earlier ones cover,
//	                     uvarints
//	            after    numbers of ordinals and rows that the earlier levels cover, uvarints; zeros
//	                     in level 0; from format 6 on
//	            tuples   uvarint count; for each tuple its members: uvarint count, texts
//	            indexes  descriptors, see package index: of the ids; of each tuple; of
//	                     an edge's sources, then targets
//	k.*         the level of the ids
//	t0.* …      the level of each tuple
//	out.*, in.* the level of an edge's ends

// level says which part of a table one level of its indexes covers. Together with the earlier levels
// it covers the ordinals below `ords` and the rows with numbers below `rows`. Entities and rows
// after the last level are in the overlays of the indexes. Tables with the same level share one
// value.
type level struct {
	name    string // segment that holds the level; empty until it is stored
	file    string // file that the level was read from, if any
	ords    uint32 // number of ordinals that the level and the earlier ones cover
	rows    uint32 // number of rows that the level and the earlier ones cover
	entries int    // the greatest number of entries that one index has in the level
}

const (
	// levelGrowth: a new level takes over the level before it if that one has fewer than levelGrowth
	// times as many entries.
	levelGrowth = 4
	// maxLevels is the greatest number of levels of a table. A lookup searches them all.
	maxLevels = 16
)

// Tests lower these numbers, so that small tables have several levels.
var (
	// LevelEntries is the greatest number of entries that a checkpoint leaves in the overlay of an
	// index. They are in memory only: Open enters them again.
	LevelEntries = 1 << 10
	// FullLevel is the number of entries from which on no new level takes over a level. It bounds
	// the cost of a checkpoint on a large table.
	FullLevel = 1 << 20
)

// covered returns the numbers of ordinals and rows that the levels cover.
func (t *Table) covered() (ords, rows uint32) {
	if n := len(t.levels); n > 0 {
		return t.levels[n-1].ords, t.levels[n-1].rows
	}
	return 0, 0
}

// Levels returns the number of levels of the indexes.
func (t *Table) Levels() int { return len(t.levels) }

// overlay returns the greatest number of entries in the overlay of an index.
func (t *Table) overlay() int {
	n := max(t.keys.Overlay(), t.out.Overlay())
	for i := range t.idx {
		n = max(n, t.idx[i].Overlay())
	}
	return n
}

// addLevel turns the overlays of the indexes into a new level if one of them has more than
// LevelEntries entries. The new level takes over the last levels, as levelGrowth and FullLevel say,
// so that each entry is written O(log n) times. If level 0 is among them, or there are maxLevels
// levels already, addLevel builds all indexes again.
func (t *Table) addLevel() {
	n := t.overlay()
	if n <= LevelEntries {
		return
	}
	if len(t.levels) == 0 { // the table is new, or an earlier schema had other tuples
		if uint32(n) > t.next/(1+levelGrowth) {
			t.reindex()
		}
		return
	}
	from := len(t.levels)
	for ; from > 0 && t.levels[from-1].entries < min(levelGrowth*n, FullLevel); from-- {
		n += t.levels[from-1].entries
	}
	if from == 0 || from >= maxLevels {
		t.reindex()
		return
	}
	idx, hashes := slices.Clone(t.idx), t.hashes()
	tasks := []func(){func() { t.keys.AddLevel(from, &t.rows, t.next, nil) }}
	for i := range idx {
		tasks = append(tasks, func() { idx[i].AddLevel(from, &t.rows, t.next, hashes[1+i]) })
	}
	if t.Type.Entity == plan.Edge {
		tasks = append(tasks, func() { t.out.AddLevel(from, &t.rows) }, func() { t.in.AddLevel(from, &t.rows) })
	}
	parallel.Do(tasks...)
	t.idx = idx
	l := &level{ords: t.next, rows: t.base + uint32(len(t.tail))}
	l.entries = t.entries(from)
	t.levels = append(t.levels[:from:from], l)
}

// entries returns the greatest number of entries that one index has in a level.
func (t *Table) entries(level int) int {
	if level == 0 {
		return int(t.levels[0].ords)
	}
	n := t.keys.Records(level)
	for i := range t.idx {
		n = max(n, t.idx[i].Records(level))
	}
	if t.Type.Entity == plan.Edge {
		n = max(n, t.out.Records(level), t.in.Records(level))
	}
	return n
}

// storedLevels returns the first levels of the indexes, up to one that is not stored.
func (t *Table) storedLevels() []*level {
	n := slices.IndexFunc(t.levels, func(l *level) bool { return l.name == "" })
	if n < 0 {
		n = len(t.levels)
	}
	return t.levels[:n]
}

// Stored lists the segments that hold a table and its indexes. All rows must be stored.
func (t *Table) Stored() []string {
	names := make([]string, 0, len(t.Segs)+len(t.levels))
	for _, s := range t.Segs {
		names = append(names, s.Name)
	}
	for _, l := range t.storedLevels() {
		names = append(names, l.name)
	}
	for _, s := range t.storedTexts {
		names = append(names, s.names()...)
	}
	for _, name := range t.storedOrders {
		names = append(names, name)
	}
	for _, l := range t.storedVectors {
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
	parts := slices.Concat(t.unstoredTexts(), t.unstoredOrders(), t.unstoredVectors())
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
	return t.next >= floor && (t.lacksLevels() || t.ordersToStore()) || t.textsToStore(floor) || t.vectorsToStore()
}

// lacksLevels reports whether some level of the indexes should be stored and is not.
func (t *Table) lacksLevels() bool {
	return len(t.levels) > 0 && t.levels[0].ords > 0 && len(t.storedLevels()) < len(t.levels)
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
	t.disownTexts(there)
	t.disownOrders(there)
	t.disownVectors(there)
}

// levelOf implements [Unstored] for a level of a table's indexes.
type levelOf struct {
	t      *Table
	number int // number of the level
}

// Cold returns false for blocks that are read in place, uncompressed. Only the id index of
// an edge type is cold, because queries find edges by their nodes.
func (ix levelOf) Cold(block string) (cold, delta bool) {
	return ix.t.Type.Entity == plan.Edge && strings.HasPrefix(block, "k."), false
}

// Named implements Unstored.
func (ix levelOf) Named(name string) { ix.t.levels[ix.number].name = name }

// Blocks implements Unstored.
func (ix levelOf) Blocks(add func(name string, data []byte) error) error {
	t, n := ix.t, ix.number
	meta := t.levelMeta(n)
	meta = t.keys.AppendDescriptor(meta, n)
	for i := range t.idx {
		meta = t.idx[i].AppendDescriptor(meta, n)
	}
	if t.Type.Entity == plan.Edge {
		meta = t.out.AppendDescriptor(meta, n)
		meta = t.in.AppendDescriptor(meta, n)
	}
	if err := add("meta", meta); err != nil {
		return err
	}
	if err := t.keys.Blocks(n, "k", add); err != nil {
		return err
	}
	for i := range t.idx {
		if err := t.idx[i].Blocks(n, "t"+strconv.Itoa(i), add); err != nil {
			return err
		}
	}
	if t.Type.Entity != plan.Edge {
		return nil
	}
	if err := t.out.Blocks(n, "out", add); err != nil {
		return err
	}
	return t.in.Blocks(n, "in", add)
}

// openLevel adds a level of the indexes, from a segment, after the levels that the table has. The
// blocks of the segment are read on first use. openLevel returns false if the tuples in the segment
// differ from those of the type; the caller then rebuilds the indexes. The error is a *engine.Corrupt.
func (t *Table) openLevel(name string, src column.Source) (same bool, err error) {
	corrupt := func(text string, args ...any) (bool, error) {
		return false, &engine.Corrupt{Object: src.Name(), Detail: fmt.Sprintf(text, args...)}
	}
	meta, err := src.Block("meta")
	if err != nil {
		return false, err
	}
	r := &reader{b: meta}
	number := uint32(r.byte())
	if err := format.Index.Check(number); r.err == nil && err != nil {
		return corrupt("%v", err)
	}
	entity, typeName := r.byte(), r.text()
	l := &level{name: name, file: src.Name(), ords: r.ordinal(), rows: r.ordinal()}
	var ords, rows uint32
	if number >= 6 {
		ords, rows = r.ordinal(), r.ordinal()
	}
	same = r.sameTuples(t.Type)
	switch wantOrds, wantRows := t.covered(); {
	case r.err != nil:
		return corrupt("block meta is truncated")
	case entity != byte(t.Type.Entity) || typeName != t.Type.Name:
		return corrupt("it indexes %s, expected %s", typeName, t.Type.Name)
	case !same:
		return false, nil
	case ords != wantOrds || rows != wantRows || l.ords < ords || l.rows < rows:
		return corrupt("the index covers %d to %d ordinals and %d to %d rows, but the index before it covers %d ordinals and %d rows", ords, l.ords, rows, l.rows, wantOrds, wantRows)
	}
	n, ok := len(t.levels), true
	hash := func(x *index.Hash, name string) {
		switch {
		case !ok:
		case n > 0:
			r.b, ok = x.OpenLevel(r.b, name, src, l.ords)
		default:
			*x, r.b, ok = index.OpenHash(r.b, name, src)
			ok = ok && x.Covered() == l.ords
		}
	}
	hash(&t.keys, "k")
	for i := range t.idx {
		hash(&t.idx[i], "t"+strconv.Itoa(i))
	}
	ends := func(a *index.Adjacency, name string) {
		switch {
		case !ok:
		case n > 0:
			r.b, ok = a.OpenLevel(r.b, name, src, l.ords)
		default:
			*a, r.b, ok = index.OpenAdjacency(r.b, name, src)
			_, _, edges := a.Bounds()
			ok = ok && edges <= l.ords
		}
	}
	if t.Type.Entity == plan.Edge {
		ends(&t.out, "out")
		ends(&t.in, "in")
	}
	if !ok || len(r.b) > 0 {
		return corrupt("the descriptors in block meta do not fit %d ordinals", l.ords)
	}
	t.levels = append(t.levels, l)
	l.entries = t.entries(n)
	return true, nil
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
func (t *Table) identity(n, unchanged uint32) bool {
	for first, rows := range t.rows.All {
		for i, row := range rows {
			ord := first + uint32(i)
			switch {
			case row == ord || row == index.Dead && (ord < unchanged || ord >= n):
			case row == index.Dead || row < n || ord < n && ord >= unchanged || ord < n && t.idAt(row) != t.idAt(ord):
				return false
			}
		}
	}
	return true
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
			if h, ok := t.tupleHash(tuple, func(p int) value.Value { return t.valueAt(row, p) }, r.Src, r.Dst); ok {
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
func (t *Table) endsWithin(row uint32, from, to *Table) (src, dst uint32) {
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
func (t *Table) indexObject() string {
	if n := len(t.levels); n > 0 && t.levels[n-1].file != "" {
		return t.levels[n-1].file
	}
	return "manifest"
}

// appendTuples appends the members of the type's indexed tuples.
func (t *Type) appendTuples(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(t.Tuples)))
	for _, tuple := range t.Tuples {
		dst = binary.AppendUvarint(dst, uint64(len(tuple)))
		for _, p := range tuple {
			dst = appendText(dst, t.member(p))
		}
	}
	return dst
}

// sameTuples reads the members of indexed tuples and reports whether they equal the type's.
func (r *reader) sameTuples(t *Type) bool {
	n := r.count()
	same := n == len(t.Tuples)
	for i := range n {
		members := r.count()
		same = same && members == len(t.Tuples[i])
		for k := range members {
			name := r.text()
			same = same && name == t.member(t.Tuples[i][k])
		}
	}
	return same
}

// member returns the name of a member of a tuple.
func (t *Type) member(p int) string {
	switch p {
	case Source:
		return "src"
	case Target:
		return "dst"
	}
	return t.Props[p].Name
}
