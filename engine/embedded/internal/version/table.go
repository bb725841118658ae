package version

import (
	"slices"
	"sort"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Table is an immutable state of the entities of one type: their rows, and the indexes that find them.
type Table struct {
	Rows
	Indexes
	texts *searches // the search indexes
}

// Rows holds the entities of a table. The current row of an entity lies in a segment or in the tail. Row numbers count
// through the segments and then through the tail.
type Rows struct {
	Type *schema.Type       // type of the entities
	Segs []*segment.Segment // each starts where the previous one ends
	tail []Row              // the next transaction of the lineage `line` may append after len(tail)
	line *line              // the lineage that may append to tail
	base uint32             // row number of tail[0]
	Entities
	origin *origin // see type origin
}

// Entities says which ordinals have an entity, and which row is the current one of each. An entity keeps its ordinal for
// life.
type Entities struct {
	rows index.Rows // by ordinal: number of the entity's current row, or index.Dead
	next uint32     // number of ordinals assigned
	live uint32     // number of live entities
	// The next three are nil, except in an excerpt. The pages of `rows` are seldom in the processor's caches, and the sets mostly
	// are. The header of `home` is in the cache line of `rows`, since every lookup reads both.
	home  engine.Bitmap // the live entities with a row in a segment whose number is their ordinal
	alive engine.Bitmap // all live entities
	moved []uint32      // those that are not in `home`, in ascending order
	last  string        // the greatest id so far, while sorted
	// sorted says that ids ascend with ordinals, dead ones included.
	sorted bool
}

// Indexes finds the entities of a table by their ids, by the values of their tuples, and by the nodes that they join.
type Indexes struct {
	levels []*level        // describes the levels of the indexes below; empty if they cannot be stored
	keys   index.Hash      // the entities by id
	idx    []index.Hash    // in the order of Type.Tuples
	out    index.Adjacency // edges by their source node
	in     index.Adjacency // edges by their target node
	kept   bool            // the bases of out and in list live edges only
	listed engine.Bitmap   // in an excerpt, the edges that these bases were made to list
}

// origin identifies the tables that continue one another's rows. A table that starts anew
// gets a new origin.
type origin struct{ _ byte }

// Row is one state of an entity, as a commit wrote it.
type Row struct {
	ID       string
	Src, Dst uint32        // ordinals of an edge's ends
	Vals     []value.Value // by property
	Claims   string        // the text of its membership; see package membership
	Stamp    segment.Stamp // the origin; Put and PutClaimed ignore it
}

// detached returns a copy of the row that refers to no segment.
func (r Row) detached() Row {
	r.ID = strings.Clone(r.ID)
	if r.Claims != "" {
		r.Claims = membership.Shared(r.Claims)
	}
	owned := false
	for p, v := range r.Vals {
		if !v.IsList() && v.Kind() != value.String && v.Kind() != value.Vector {
			continue // needs no copy: reading bytes copies them
		}
		if !owned {
			r.Vals, owned = slices.Clone(r.Vals), true
		}
		r.Vals[p] = Detached(v)
	}
	return r
}

// Detached returns a copy of a value that refers to no segment.
func Detached(v value.Value) value.Value {
	if v.IsList() {
		elems := slices.Clone(v.Elems())
		for i, e := range elems {
			elems[i] = Detached(e)
		}
		return value.OfList(v.Kind(), elems)
	}
	switch v.Kind().Storage() {
	case value.InText:
		return value.OfString(strings.Clone(v.Str()))
	case value.InVector:
		return value.OfVector(slices.Clone(v.Vector()))
	default: // bytes were copied when they were read
		return v
	}
}

// newTable returns an empty table for entities of type t.
func newTable(t *schema.Type) *Table {
	return &Table{
		Rows:    Rows{Type: t, Entities: Entities{sorted: true}, origin: new(origin)},
		Indexes: Indexes{idx: make([]index.Hash, len(t.Tuples))},
		texts:   &searches{typ: t},
	}
}

// Live returns the number of live entities.
func (t *Entities) Live() uint32 { return t.live }

// Ordinals returns the number of ordinals assigned, dead ones included.
func (t *Entities) Ordinals() uint32 { return t.next }

// Sorted reports whether ids ascend with ordinals.
func (t *Entities) Sorted() bool { return t.sorted }

// AllLive reports whether every ordinal is alive.
func (t *Entities) AllLive() bool { return t.live == t.next }

// Alive reports whether the entity with an ordinal exists.
func (t *Entities) Alive(ord uint32) bool {
	if t.home != nil {
		return ord < t.next && t.alive.Get(int(ord))
	}
	return ord < t.next && t.rows.Get(ord) != index.Dead
}

// atHome reports whether the number of a live entity's row is known to be its ordinal.
func (t *Entities) atHome(ord uint32) bool {
	return int(ord>>6) < len(t.home) && t.home[ord>>6]>>(ord&63)&1 != 0
}

// BaseLive reports whether the bases of Out and In list live edges only.
func (t *Table) BaseLive() bool { return t.kept || t.AllLive() }

// Out returns the index of an edge table by source.
func (x *Indexes) Out() *index.Adjacency { return &x.out }

// In returns the index of an edge table by target.
func (x *Indexes) In() *index.Adjacency { return &x.in }

// ID returns the id of a live entity.
func (t *Rows) ID(ord uint32) string { return t.idAt(t.rows.Get(ord)) }

// Ends returns the node ordinals of a live edge.
func (t *Rows) Ends(ord uint32) (src, dst uint32) { return t.endsAt(t.rows.Get(ord)) }

// Value returns property p of a live entity. The value aliases the table.
func (t *Rows) Value(ord uint32, p int) value.Value { return t.ValueAt(t.rows.Get(ord), p) }

// Values returns all properties of a live entity.
func (t *Rows) Values(ord uint32) []value.Value { return t.valuesWith(ord, nil) }

// valuesWith is Values with memory for the result, which may be nil. It does not use the memory if the row is in the
// tail, so the caller must not change the result.
func (t *Rows) valuesWith(ord uint32, vals []value.Value) []value.Value {
	row := t.rows.Get(ord)
	if row >= t.base {
		return t.tailRow(row).Vals
	}
	if vals == nil {
		vals = make([]value.Value, len(t.Type.Props))
	}
	for p := range vals {
		vals[p] = t.ValueAt(row, p)
	}
	return vals
}

// Claims returns the text of the membership of a live entity; see package membership. The text aliases the table.
func (t *Rows) Claims(ord uint32) string {
	row := t.rows.Get(ord)
	if row >= t.base {
		return t.tailRow(row).Claims
	}
	s := t.segment(row)
	return s.ClaimsOf(row - s.Start)
}

// Stamp returns the origin of a live entity.
func (t *Rows) Stamp(ord uint32) segment.Stamp {
	row := t.rows.Get(ord)
	if row >= t.base {
		return t.tailRow(row).Stamp
	}
	s := t.segment(row)
	return s.StampOf(row - s.Start)
}

// Claimed reports whether some row of the table may have a membership.
func (t *Rows) Claimed() bool {
	return slices.ContainsFunc(t.Segs, func(s *segment.Segment) bool { return s.Claims != nil }) ||
		slices.ContainsFunc(t.tail, func(r Row) bool { return r.Claims != "" })
}

// Lookup finds the live entity with an id.
func (t *Table) Lookup(id string) (ord uint32, ok bool) {
	for c := t.keys.Find(index.String(id)); c.Next(); {
		if row := t.rows.Get(c.Ord); row != index.Dead && t.idAt(row) == id {
			return c.Ord, true
		}
	}
	return 0, false
}

// Candidates returns a cursor over the entities that may have the values with this hash in
// indexed tuple i. An ordinal may occur twice, or be dead.
func (x *Indexes) Candidates(i int, hash uint64) index.Cursor { return x.idx[i].Find(hash) }

// Scan writes the ordinals of live entities into dst, starting at the ordinal `from`. It returns
// their number and the ordinal to continue at. If n < len(dst), the scan is complete.
func (t *Entities) Scan(from uint32, dst []uint32) (n int, next uint32) {
	return t.ScanTo(from, t.next, dst)
}

// ScanTo is like Scan, but only for ordinals below `to`.
func (t *Entities) ScanTo(from, to uint32, dst []uint32) (n int, next uint32) {
	dense := t.rows.Dense()
	to = min(to, t.next)
	for ord := from; ord < to; {
		end := min((ord|255)+1, to)
		page := (*[256]uint32)(nil)
		if !dense {
			page = t.rows.Page(ord &^ 255)
		}
		for ; ord < end; ord++ {
			if page != nil && page[ord&255] == index.Dead {
				continue
			}
			if n == len(dst) {
				return n, ord
			}
			dst[n] = ord
			n++
		}
	}
	return n, to
}

// Gather reads property p of live entities into dst. It resets dst first.
func (t *Rows) Gather(p int, ords []uint32, dst *column.Vec, scratch *[]uint32) {
	dst.Reset(t.Type.Props[p].Type, len(ords))
	if t.plain() {
		s := t.Segs[0]
		s.Gather(p, s.Props[p], dst, 0, ords)
		return
	}
	t.eachRun(ords, scratch, func(at int, s *segment.Segment, rows []uint32) {
		s.Gather(p, s.Props[p], dst, at, rows)
	}, func(at int, r *Row) { dst.Set(at, r.Vals[p]) })
}

// GatherID reads the ids of live entities into dst. It resets dst first.
func (t *Rows) GatherID(ords []uint32, dst *column.Vec, scratch *[]uint32) {
	dst.Reset(value.Of(value.String), len(ords))
	if t.plain() {
		s := t.Segs[0]
		s.Gather(t.idField(), t.ids(s), dst, 0, ords)
		return
	}
	t.eachRun(ords, scratch, func(at int, s *segment.Segment, rows []uint32) {
		s.Gather(t.idField(), t.ids(s), dst, at, rows)
	}, func(at int, r *Row) { dst.Strings[at] = r.ID })
}

// plain reports whether every ordinal is the number of its row, and all rows lie in one segment.
func (t *Rows) plain() bool { return t.rows.Dense() && t.base >= t.next && len(t.Segs) == 1 }

// eachRun splits the list of ordinals `ords` into runs and single rows. The rows of a run lie in
// one segment; eachRun calls the function `seg` for each run. The single rows lie in the tail;
// eachRun calls the function `tail` for each of them. The argument `at` is the index of the run or
// the row in `ords`.
func (t *Rows) eachRun(ords []uint32, scratch *[]uint32, seg func(at int, s *segment.Segment, rows []uint32), tail func(at int, r *Row)) {
	rows := (*scratch)[:0]
	for i := 0; i < len(ords); {
		row := ords[i]
		if !t.atHome(row) {
			row = t.rows.Get(row)
		}
		if row >= t.base {
			tail(i, t.tailRow(row))
			i++
			continue
		}
		s := t.segment(row)
		at := i
		rows = rows[:0]
		for row-s.Start < s.N {
			rows = append(rows, row-s.Start)
			if i++; i == len(ords) {
				break
			}
			if row = ords[i]; !t.atHome(row) {
				row = t.rows.Get(row)
			}
		}
		seg(at, s, rows)
	}
	*scratch = rows
}

// ids returns the column that has the ids of a segment.
func (t *Rows) ids(s *segment.Segment) *column.Column {
	if t.Type.IDProp >= 0 {
		return s.Props[t.Type.IDProp]
	}
	return s.ID
}

// idField returns the position of the ids in the copies of a segment's rows.
func (t *Rows) idField() int {
	if t.Type.IDProp >= 0 {
		return t.Type.IDProp
	}
	return len(t.Type.Props)
}

// idAt returns the id in a row.
func (t *Rows) idAt(row uint32) string {
	if row >= t.base {
		return t.tailRow(row).ID
	}
	s := t.segment(row)
	if r := s.ByRow(); r != nil && r.Has(t.idField()) {
		return r.Str(t.idField(), row-s.Start)
	}
	return t.ids(s).Str(row - s.Start)
}

// ValueAt returns property p of a row, which may be an outdated row of its entity.
func (t *Rows) ValueAt(row uint32, p int) value.Value {
	if row >= t.base {
		return t.tailRow(row).Vals[p]
	}
	s := t.segment(row)
	return s.Props[p].Value(row - s.Start)
}

// tailRow returns a row of the tail. It throws a fault if the row does not exist: a stored index,
// or the stored end of an edge, may hold a wrong number.
func (t *Rows) tailRow(row uint32) *Row {
	if row-t.base >= uint32(len(t.tail)) {
		corruption.Corrupt(t.object(), "%s %s: row %d does not exist; there are only %d rows", t.Type.Entity, t.Type.Name, row, t.base+uint32(len(t.tail)))
	}
	return &t.tail[row-t.base]
}

// object returns the name of the file that holds the table, for errors.
func (t *Rows) object() string {
	for i := len(t.Segs) - 1; i >= 0; i-- {
		if t.Segs[i].File != "" {
			return t.Segs[i].File
		}
	}
	return "manifest"
}

// segment returns the segment of a row with a number below t.base.
func (t *Rows) segment(row uint32) *segment.Segment {
	if s := t.Segs[0]; row < s.N {
		return s
	}
	i := sort.Search(len(t.Segs), func(i int) bool { return t.Segs[i].Start > row })
	return t.Segs[i-1]
}

// tupleHash hashes the values of an indexed tuple; ok is false if a value is null.
func tupleHash(tuple []int, val func(p int) value.Value, src, dst uint32) (h uint64, ok bool) {
	for _, p := range tuple {
		switch p {
		case schema.Source:
			h = index.MixInt(h, uint64(src))
		case schema.Target:
			h = index.MixInt(h, uint64(dst))
		default:
			v := val(p)
			if v.IsNull() {
				return 0, false
			}
			h = HashValue(h, v)
		}
	}
	return h, true
}

// HashValue adds a non-null value to a hash. Values of one kind that are equal under the operator =
// have equal hashes. The hashes are stored in indexes, so a change of the function needs a new
// format number. Only the length of a vector enters the hash; no lookup searches for a vector,
// because vectors cannot be compared.
func HashValue(h uint64, v value.Value) uint64 {
	switch s := v.Kind().Storage(); {
	case v.IsList():
		for _, e := range v.Elems() {
			h = HashValue(h, e)
		}
		return index.MixInt(h, uint64(len(v.Elems())))
	case s == value.InText:
		return index.Mix(h, v.Str())
	case s == value.InBytes:
		return index.Mix(h, v.Raw())
	case s == value.InVector:
		return index.MixInt(h, uint64(len(v.Vector())))
	case v.Kind().IsFloat() && v.Float() == 0:
		return index.MixInt(h, 0)
	}
	return index.MixInt(h, v.Code())
}

// FindTuple returns the live entity with the given values in unique rule i. The ends are those of an edge.
func FindTuple(t *Table, i int, src, dst uint32, val func(p int) value.Value) (ord uint32, ok bool) {
	return findTuple(t, i, src, dst, val, NoOrd)
}

// findTuple returns the live entity, other than `not`, with the given values in unique rule i.
func findTuple(t *Table, i int, src, dst uint32, val func(p int) value.Value, not uint32) (ord uint32, ok bool) {
	tuple := t.Type.Tuples[i]
	h, ok := tupleHash(tuple, val, src, dst)
	if !ok {
		return 0, false
	}
	for c := t.idx[i].Find(h); c.Next(); {
		if c.Ord != not && t.Alive(c.Ord) && hasTuple(t, tuple, c.Ord, src, dst, val) {
			return c.Ord, true
		}
	}
	return 0, false
}

// hasTuple reports whether an entity has the given values in a tuple.
func hasTuple(t *Table, tuple []int, ord, src, dst uint32, val func(p int) value.Value) bool {
	return !slices.ContainsFunc(tuple, func(p int) bool {
		if p != schema.Source && p != schema.Target {
			return !schema.Same(t.Value(ord, p), val(p))
		}
		s, d := t.Ends(ord)
		return p == schema.Source && s != src || p == schema.Target && d != dst
	})
}

// enter adds a row of an entity of type t to the indexes. The argument `made` says that the indexes do not hold the row's
// entity yet.
func (x *Indexes) enter(t *schema.Type, owner *index.Owner, ord uint32, r *Row, made bool) {
	if made {
		x.keys.Add(owner, index.String(r.ID), ord)
		if t.Entity == plan.Edge {
			x.out.Add(owner, r.Src, r.Dst, ord)
			x.in.Add(owner, r.Dst, r.Src, ord)
		}
	}
	for i, tuple := range t.Tuples {
		if h, ok := tupleHash(tuple, func(p int) value.Value { return r.Vals[p] }, r.Src, r.Dst); ok {
			x.idx[i].Add(owner, h, ord)
		}
	}
}

// remove removes a live entity of the given rows from the overlays of the indexes.
func (x *Indexes) remove(owner *index.Owner, t *Rows, ord uint32) {
	row := t.rows.Get(ord)
	if x.keys.Overlay() > 0 {
		x.keys.Remove(owner, index.String(t.idAt(row)), ord)
	}
	var src, dst uint32
	if t.Type.Entity == plan.Edge {
		src, dst = t.endsAt(row)
		x.out.Remove(owner, src, ord)
		x.in.Remove(owner, dst, ord)
	}
	for i, tuple := range t.Type.Tuples {
		if x.idx[i].Overlay() == 0 {
			continue
		}
		if h, ok := tupleHash(tuple, func(p int) value.Value { return t.ValueAt(row, p) }, src, dst); ok {
			x.idx[i].Remove(owner, h, ord)
		}
	}
}
