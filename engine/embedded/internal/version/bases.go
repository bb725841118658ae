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
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A segment that holds the bases of a table's indexes has these blocks:
//
//	meta        format   1 byte
//	            type     entity (1 byte, 0 node, 1 edge), name (text)
//	            covered  numbers of ordinals and rows that the bases cover, uvarints
//	            tuples   uvarint count; for each tuple its members: uvarint count, texts
//	            bases    descriptors, see package index: of the ids; of each tuple; of
//	                     an edge's sources, then targets
//	k.*         the base of the ids
//	t0.* …      the bases of the tuples
//	out.*, in.* the bases of an edge's ends

// bases says how much of a table the bases of its indexes cover: the ordinals below `ords` and the
// rows with numbers below `rows`. Entities and rows after these are in the overlays of the indexes.
// Tables with the same bases share one value.
type bases struct {
	name string // segment that holds the bases; empty until they are stored
	file string // file that the bases were read from, if any
	ords uint32 // number of ordinals that the bases cover
	rows uint32 // number of rows that the bases cover
}

// Stored lists the segments that hold a table and its indexes. All rows must be stored.
func (t *Table) Stored() []string {
	names := make([]string, 0, len(t.Segs)+1)
	for _, s := range t.Segs {
		names = append(names, s.Name)
	}
	if t.based != nil && t.based.name != "" {
		names = append(names, t.based.name)
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
	if t.based != nil && t.based.name == "" && t.based.ords > 0 {
		parts = append(parts, basesOf{t})
	}
	return parts
}

// IndexesToStore reports whether a table has indexes that are not stored yet and are large enough.
// An index is large enough if it covers at least `floor` ordinals or texts. A vector index is
// always large enough.
func (t *Table) IndexesToStore(floor uint32) bool {
	return t.based != nil && t.based.name == "" && t.based.ords > 0 && t.next >= floor || t.textsToStore(floor) || t.next >= floor && t.ordersToStore() || t.vectorsToStore()
}

// Disown forgets the names of segments that no longer exist, so that the indexes in them count as
// unstored. A table can hold such a name if no manifest listed the table for a while: it shares
// indexes with listed tables, and a segment is deleted once the listed tables have other indexes.
// Only the goroutine that writes manifests may call it.
func (t *Table) Disown(there func(name string) bool) {
	if t.based != nil && t.based.name != "" && !there(t.based.name) {
		t.based.name = ""
	}
	t.disownTexts(there)
	t.disownOrders(there)
	t.disownVectors(there)
}

// basesOf implements [Unstored] for the bases of a table's indexes.
type basesOf struct{ t *Table }

// Cold returns false for blocks that are read in place, uncompressed. Only the id index of
// an edge type is cold, because queries find edges by their nodes.
func (ix basesOf) Cold(block string) (cold, delta bool) {
	return ix.t.Type.Entity == plan.Edge && strings.HasPrefix(block, "k."), false
}

// Named implements Unstored.
func (ix basesOf) Named(name string) { ix.t.based.name = name }

// Blocks implements Unstored.
func (ix basesOf) Blocks(add func(name string, data []byte) error) error {
	t := ix.t
	meta := t.basesMeta()
	meta = t.keys.AppendDescriptor(meta)
	for i := range t.idx {
		meta = t.idx[i].AppendDescriptor(meta)
	}
	if t.Type.Entity == plan.Edge {
		meta = t.out.AppendDescriptor(meta)
		meta = t.in.AppendDescriptor(meta)
	}
	if err := add("meta", meta); err != nil {
		return err
	}
	if err := t.keys.Blocks("k", add); err != nil {
		return err
	}
	for i := range t.idx {
		if err := t.idx[i].Blocks("t"+strconv.Itoa(i), add); err != nil {
			return err
		}
	}
	if t.Type.Entity != plan.Edge {
		return nil
	}
	if err := t.out.Blocks("out", add); err != nil {
		return err
	}
	return t.in.Blocks("in", add)
}

// openIndexes takes the bases of the indexes from a segment. The blocks of the segment are read on
// first use. openIndexes returns false if the tuples in the segment differ from those of the type;
// the caller then rebuilds the indexes. The error is a *engine.Corrupt.
func (t *Table) openIndexes(name string, src column.Source) (same bool, err error) {
	corrupt := func(text string, args ...any) (bool, error) {
		return false, &engine.Corrupt{Object: src.Name(), Detail: fmt.Sprintf(text, args...)}
	}
	meta, err := src.Block("meta")
	if err != nil {
		return false, err
	}
	r := &reader{b: meta}
	if err := format.Index.Check(uint32(r.byte())); r.err == nil && err != nil {
		return corrupt("%v", err)
	}
	entity, typeName := r.byte(), r.text()
	b := &bases{name: name, file: src.Name(), ords: r.ordinal(), rows: r.ordinal()}
	same = r.sameTuples(t.Type)
	switch {
	case r.err != nil:
		return corrupt("block meta is truncated")
	case entity != byte(t.Type.Entity) || typeName != t.Type.Name:
		return corrupt("it indexes %s, expected %s", typeName, t.Type.Name)
	case !same:
		return false, nil
	}
	ok := true
	hash := func(x *index.Hash, name string) {
		if ok {
			*x, r.b, ok = index.OpenHash(r.b, name, src)
			ok = ok && x.Covered() == b.ords
		}
	}
	hash(&t.keys, "k")
	for i := range t.idx {
		hash(&t.idx[i], "t"+strconv.Itoa(i))
	}
	ends := func(a *index.Adjacency, name string) {
		if ok {
			*a, r.b, ok = index.OpenAdjacency(r.b, name, src)
			_, _, edges := a.Bounds()
			ok = ok && edges <= b.ords
		}
	}
	if t.Type.Entity == plan.Edge {
		ends(&t.out, "out")
		ends(&t.in, "in")
	}
	if !ok || len(r.b) > 0 {
		return corrupt("the descriptors in block meta do not fit %d ordinals", b.ords)
	}
	t.based = b
	return true, nil
}

// takeIndexes gives t the indexes of the table o, and adds to them the entities and rows of t that
// they lack. The indexes of o must have no overlays. For an edge table, the parameters `from` and
// `to` are the tables of its nodes; for a node table they are nil.
func (t *Table) takeIndexes(o *Table, from, to *Table) error {
	if b := o.based; b.ords > t.next || b.rows > t.base {
		return &engine.Corrupt{Object: o.indexObject(), Detail: fmt.Sprintf("the index covers %d ordinals and %d rows, but the table has only %d ordinals and %d rows", b.ords, b.rows, t.next, t.base)}
	}
	t.based, t.keys, t.idx, t.out, t.in = o.based, o.keys, slices.Clone(o.idx), o.out, o.in
	t.enterLater(max(o.next, o.based.ords), max(o.base, o.based.rows), from, to)
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

// indexObject returns the name of the file that holds the indexes, for errors.
func (t *Table) indexObject() string {
	if t.based != nil && t.based.file != "" {
		return t.based.file
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
