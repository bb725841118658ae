package version

import (
	"slices"
	"sort"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Table is an immutable state of the entities of one type. An entity has an ordinal
// for life; its current row lies in a segment or in the tail. Rows are numbered
// through the segments and on into the tail.
type Table struct {
	Type *Type
	Segs []*Segment // each begins where the one before ends
	tail []Row      // the transaction that comes next in line may append behind its length
	line *line      // the line that may
	base uint32     // row number of tail[0]
	rows index.Rows
	next uint32 // ordinals given out
	live uint32 // entities alive
	last string // the greatest id so far, while sorted
	// sorted: ids ascend with ordinals, dead ones included.
	sorted bool

	based *bases // of the indexes below
	keys  index.Hash
	idx   []index.Hash // as Type.Tuples
	out   index.Adjacency
	in    index.Adjacency

	texts *searches

	origin *origin
}

// origin tells tables that go on with one another's rows from those that began anew.
type origin struct{ _ byte }

// Row is one state of an entity, as a commit wrote it.
type Row struct {
	ID       string
	Src, Dst uint32 // ordinals of an edge's ends
	Vals     []value.Value
}

// detached returns a row that refers to no segment.
func (r Row) detached() Row {
	r.ID = strings.Clone(r.ID)
	owned := false
	for p, v := range r.Vals {
		if !v.IsList() && v.Kind() != value.String && v.Kind() != value.Vector {
			continue // nothing that is shared: a Blob's bytes are copied when it is read
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
	switch v.Kind() {
	case value.String:
		return value.OfString(strings.Clone(v.Str()))
	case value.Vector:
		return value.OfVector(slices.Clone(v.Vector()))
	case value.Invalid, value.Bool, value.I32, value.I64, value.U32, value.U64, value.F32, value.F64, value.Date, value.DateTime, value.Blob:
	}
	return v
}

// Segment is an immutable run of rows as columns.
type Segment struct {
	Name     string // in the store; empty while it is only in memory
	Start    uint32 // row number of its first row
	N        uint32
	ID       *column.Column // nil when a property is the id
	Src, Dst []uint32       // of one that was made in memory; see Ends
	Props    []*column.Column
	Origin   *Origin     // nil when it is stored as the table's type names it
	ends     *storedEnds // of a stored one
	file     string      // of a stored one
}

func newTable(t *Type) *Table {
	return &Table{Type: t, sorted: true, idx: make([]index.Hash, len(t.Tuples)), texts: &searches{typ: t}, origin: new(origin)}
}

// Live returns the number of entities.
func (t *Table) Live() uint32 { return t.live }

// Ordinals returns the number of ordinals given out; those of dead entities are among them.
func (t *Table) Ordinals() uint32 { return t.next }

// Sorted reports whether ids ascend with ordinals.
func (t *Table) Sorted() bool { return t.sorted }

// AllLive reports whether no ordinal is dead.
func (t *Table) AllLive() bool { return t.live == t.next }

// Alive reports whether the entity of an ordinal exists.
func (t *Table) Alive(ord uint32) bool { return ord < t.next && t.rows.Get(ord) != index.Dead }

// Out returns the edges of an edge table by source.
func (t *Table) Out() *index.Adjacency { return &t.out }

// In returns the edges of an edge table by target.
func (t *Table) In() *index.Adjacency { return &t.in }

// ID returns the id of an entity that is alive.
func (t *Table) ID(ord uint32) string { return t.idAt(t.rows.Get(ord)) }

// Ends returns the node ordinals of an edge that is alive.
func (t *Table) Ends(ord uint32) (src, dst uint32) { return t.endsAt(t.rows.Get(ord)) }

// Value returns property p of an entity that is alive. It aliases the table.
func (t *Table) Value(ord uint32, p int) value.Value { return t.valueAt(t.rows.Get(ord), p) }

// Values returns all properties of an entity that is alive.
func (t *Table) Values(ord uint32) []value.Value {
	row := t.rows.Get(ord)
	if row >= t.base {
		return t.late(row).Vals
	}
	vals := make([]value.Value, len(t.Type.Props))
	for p := range vals {
		vals[p] = t.valueAt(row, p)
	}
	return vals
}

// Lookup finds the entity with an id.
func (t *Table) Lookup(id string) (ord uint32, ok bool) {
	for c := t.keys.Find(index.String(id)); c.Next(); {
		if row := t.rows.Get(c.Ord); row != index.Dead && t.idAt(row) == id {
			return c.Ord, true
		}
	}
	return 0, false
}

// Candidates returns a cursor over the entities that may have these values in the
// indexed tuple i. An ordinal may come twice, or be dead.
func (t *Table) Candidates(i int, hash uint64) index.Cursor { return t.idx[i].Find(hash) }

// Scan writes the ordinals of entities, from ordinal from on, into dst and returns
// how many there are and where to go on; less than len(dst) means the end.
func (t *Table) Scan(from uint32, dst []uint32) (n int, next uint32) {
	dense := t.rows.Dense()
	for ord := from; ord < t.next; {
		end := min((ord|255)+1, t.next)
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
	return n, t.next
}

// Gather reads property p of entities that are alive into dst, which it resets.
func (t *Table) Gather(p int, ords []uint32, dst *column.Vec, scratch *[]uint32) {
	dst.Reset(t.Type.Props[p].Type, len(ords))
	t.eachRun(ords, scratch, func(at int, s *Segment, rows []uint32) {
		s.Props[p].Gather(dst, at, rows)
	}, func(at int, r *Row) { dst.Set(at, r.Vals[p]) })
}

// GatherID reads the ids of entities that are alive into dst, which it resets.
func (t *Table) GatherID(ords []uint32, dst *column.Vec, scratch *[]uint32) {
	dst.Reset(value.Of(value.String), len(ords))
	t.eachRun(ords, scratch, func(at int, s *Segment, rows []uint32) {
		t.ids(s).Gather(dst, at, rows)
	}, func(at int, r *Row) { dst.Strings[at] = r.ID })
}

// eachRun cuts a list of ordinals into runs whose rows lie in one segment, and rows
// of the tail.
func (t *Table) eachRun(ords []uint32, scratch *[]uint32, seg func(at int, s *Segment, rows []uint32), tail func(at int, r *Row)) {
	if t.rows.Dense() && t.base >= t.next && len(t.Segs) == 1 {
		seg(0, t.Segs[0], ords)
		return
	}
	rows := (*scratch)[:0]
	for i := 0; i < len(ords); {
		row := t.rows.Get(ords[i])
		if row >= t.base {
			tail(i, t.late(row))
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
			row = t.rows.Get(ords[i])
		}
		seg(at, s, rows)
	}
	*scratch = rows
}

func (t *Table) ids(s *Segment) *column.Column {
	if t.Type.IDProp >= 0 {
		return s.Props[t.Type.IDProp]
	}
	return s.ID
}

func (t *Table) idAt(row uint32) string {
	if row >= t.base {
		return t.late(row).ID
	}
	s := t.segment(row)
	return t.ids(s).Str(row - s.Start)
}

func (t *Table) valueAt(row uint32, p int) value.Value {
	if row >= t.base {
		return t.late(row).Vals[p]
	}
	s := t.segment(row)
	return s.Props[p].Value(row - s.Start)
}

// late returns a row of the tail. A stored index or a stored end of an edge may name a
// row that there is not.
func (t *Table) late(row uint32) *Row {
	if row-t.base >= uint32(len(t.tail)) {
		damage.Corrupt(t.object(), "%s %s: row %d of %d", t.Type.Entity, t.Type.Name, row, t.base+uint32(len(t.tail)))
	}
	return &t.tail[row-t.base]
}

// object names what the table is stored in.
func (t *Table) object() string {
	for i := len(t.Segs) - 1; i >= 0; i-- {
		if t.Segs[i].file != "" {
			return t.Segs[i].file
		}
	}
	return "manifest"
}

// segment returns the segment of a row below base.
func (t *Table) segment(row uint32) *Segment {
	if s := t.Segs[0]; row < s.N {
		return s
	}
	i := sort.Search(len(t.Segs), func(i int) bool { return t.Segs[i].Start > row })
	return t.Segs[i-1]
}

// tupleHash hashes the values of an indexed tuple; ok is false when one is null.
func (t *Table) tupleHash(tuple []int, val func(p int) value.Value, src, dst uint32) (h uint64, ok bool) {
	for _, p := range tuple {
		switch p {
		case Source:
			h = index.MixInt(h, uint64(src))
		case Target:
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

// HashValue adds a value that is not null to a hash, so that values that are = and
// of one kind hash alike.
func HashValue(h uint64, v value.Value) uint64 {
	switch {
	case v.IsList():
		for _, e := range v.Elems() {
			h = HashValue(h, e)
		}
		return index.MixInt(h, uint64(len(v.Elems())))
	case v.Kind() == value.String:
		return index.Mix(h, v.Str())
	case v.Kind() == value.Blob:
		return index.Mix(h, string(v.Bytes()))
	case v.Kind() == value.Vector:
		return index.MixInt(h, uint64(len(v.Vector())))
	case v.Kind().IsFloat() && v.Float() == 0:
		return index.MixInt(h, 0)
	}
	return index.MixInt(h, v.Bits())
}
