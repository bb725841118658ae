package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Input is the parsed input: the rows of each type.
type Input struct {
	Nodes []*Rows // by type; nil for types that do not occur
	Edges []*Rows
}

// Rows holds the entities of one type in the order of the input. The rows are in batches of
// neighbouring lines, so that the arrays are copied only once, when they become a segment.
type Rows struct {
	Type    *version.Type
	batches []*batch
	first   []int           // by batch: the number of its first row; then the total
	ids     *column.Builder // ids of all rows; nil if a property is the id, or if fresh is set
	// newID makes the ids if the input has none. They ascend in the order of the rows.
	newID       func(dst []byte) []byte
	segmentMade *version.Segment // the segment made from the effective rows, in id order

	entities int64 // number of effective rows
}

// batch holds rows of one type.
type batch struct {
	typ   *version.Type
	ids   *column.Builder   // nil if a property is the id; an empty text is an id to be made
	from  *column.Builder   // ids of an edge's ends
	to    *column.Builder   // see from
	props []*column.Builder // by property: its values
	lines []uint32          // line of each row in its block; once the batch is collected, in the input
	left  []missingVector   // in row order
	order []int             // properties in the order of the previous line
	stamp []uint64          // by property: stamp of the last line that has it
	rules []bool            // by property: see version.Type.HasRules
}

// missingVector is a vector that must be computed from its source: property number prop of a
// row of the batch.
type missingVector struct{ row, prop int }

func newBatch(t *version.Type) *batch {
	b := &batch{typ: t, order: make([]int, len(t.Props)), stamp: make([]uint64, len(t.Props)), rules: make([]bool, len(t.Props))}
	if t.IDProp < 0 {
		b.ids = column.NewBuilder(value.Of(value.String))
	}
	if t.Entity == plan.Edge {
		b.from, b.to = column.NewBuilder(value.Of(value.String)), column.NewBuilder(value.Of(value.String))
	}
	for i, p := range t.Props {
		b.props = append(b.props, column.NewBuilder(p.Type))
		b.order[i], b.rules[i] = i, t.HasRules(i)
	}
	return b
}

// builders calls f with each column builder of the batch.
func (b *batch) builders(f func(**column.Builder)) {
	for _, x := range []**column.Builder{&b.ids, &b.from, &b.to} {
		if *x != nil {
			f(x)
		}
	}
	for i := range b.props {
		f(&b.props[i])
	}
}

// truncate removes the values that were added for a line without a complete row.
func (b *batch) truncate() {
	n := len(b.lines)
	b.builders(func(x **column.Builder) { (*x).Truncate(n) })
}

// cut returns the rows in arrays of exactly their size, and empties the batch.
func (b *batch) cut() *batch {
	out := &batch{typ: b.typ, ids: b.ids, from: b.from, to: b.to, props: append([]*column.Builder(nil), b.props...), lines: append([]uint32(nil), b.lines...), left: b.left}
	out.builders(func(x **column.Builder) { *x = (*x).Cut() })
	b.lines, b.left = b.lines[:0], nil
	return out
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.first[len(r.first)-1] }

// add appends a batch.
func (r *Rows) add(b *batch) {
	if r.first == nil {
		r.first = []int{0}
	}
	r.first = append(r.first, r.Len()+len(b.lines))
	r.batches = append(r.batches, b)
}

// overfull finds the first row of a batch at which a column would hold more than limit. It
// returns -1 if all columns have room. sums holds the total of each column in the earlier
// batches; overfull adds this batch to it.
func (b *batch) overfull(sums *[]int64, limit int64) (row int, actual int64) {
	row, k := -1, 0
	b.builders(func(x **column.Builder) {
		if k == len(*sums) {
			*sums = append(*sums, 0)
		}
		before := (*sums)[k]
		(*sums)[k] += (*x).TextBytes()
		if (*sums)[k] > limit {
			if i := (*x).Fits(limit - before); row < 0 || i < row {
				row, actual = i, (*sums)[k]
			}
		}
		k++
	})
	return row, actual
}

// reader looks up rows. Only one goroutine may use it.
type reader struct {
	*Rows
	last int // the batch of the last lookup
}

// at returns the batch of a row and the row's position there.
func (r *reader) at(i int) (*batch, int) {
	if i < r.first[r.last] || i >= r.first[r.last+1] {
		r.last = sort.SearchInts(r.first, i+1) - 1
	}
	return r.batches[r.last], i - r.first[r.last]
}

// raw returns the id of a row.
func (r *reader) raw(i int) []byte {
	if r.ids != nil {
		return r.ids.Raw(i)
	}
	b, k := r.at(i)
	return b.props[b.typ.IDProp].Raw(k)
}

// id returns raw as a string, which is valid as long as the rows.
func (r *reader) id(i int) string { return view(r.raw(i)) }

// line returns the line number of row i.
func (r *reader) line(i int) uint32 {
	b, k := r.at(i)
	return b.lines[k]
}

// values returns the property values of row i.
func (r *reader) values(i int) []value.Value {
	b, k := r.at(i)
	vals := make([]value.Value, len(b.props))
	for p, x := range b.props {
		vals[p] = x.Value(k)
	}
	return vals
}

// bytes returns roughly the memory that the rows take, in bytes, including some overhead
// per row.
func (r *Rows) bytes() int {
	n := 16 * r.Len()
	if r.ids != nil {
		n += r.ids.Bytes()
	}
	if r.newID != nil {
		n += madeIDBytes * r.Len()
	}
	for _, b := range r.batches {
		b.builders(func(x **column.Builder) { n += (*x).Bytes() })
	}
	return n
}

// madeIDBytes is the size of a made id and its offset, in bytes.
const madeIDBytes = 30

// segment makes a segment of the rows in perm, or of all rows if perm is nil. It releases
// each array once it has copied it.
func (r *Rows) segment(perm []uint32) (*version.Segment, error) {
	s := &version.Segment{N: uint32(r.Len())}
	if perm != nil {
		s.N = uint32(len(perm))
	}
	if err := r.makeIDs(); err != nil {
		return nil, err
	}
	if r.ids != nil {
		s.ID = r.ids.Finish(perm)
		r.ids = nil
	}
	for p := range r.Type.Props {
		parts := make([]*column.Builder, len(r.batches))
		for i, b := range r.batches {
			parts[i] = b.props[p]
			b.props[p] = nil
		}
		c, err := column.Concat(parts, perm)
		if err != nil {
			return nil, err
		}
		s.Props = append(s.Props, c)
	}
	return s, nil
}

// collectIDs copies the ids of all rows into one column, and makes the ids that the input
// does not give. If the input gives none, it leaves this to makeIDs.
func (r *Rows) collectIDs(ids func(n int) func(dst []byte) []byte) error {
	if r.Type.IDProp >= 0 {
		return nil
	}
	made := 0
	for _, b := range r.batches {
		for i := range b.lines {
			if len(b.ids.Raw(i)) == 0 {
				made++
			}
		}
	}
	if made > 0 {
		r.newID = ids(made)
	}
	if made < r.Len() {
		return r.fillIDs(func(b *batch, i int) []byte { return b.ids.Raw(i) })
	}
	for _, b := range r.batches {
		b.ids = nil
	}
	return nil
}

// makeIDs makes the missing ids, if collectIDs has left that to it.
func (r *Rows) makeIDs() error {
	if r.newID == nil {
		return nil
	}
	return r.fillIDs(func(*batch, int) []byte { return nil })
}

// fillIDs fills the id column of all rows. given returns the id of a row in the input; if it
// is empty, fillIDs makes one.
func (r *Rows) fillIDs(given func(b *batch, i int) []byte) error {
	size := 0
	for _, b := range r.batches {
		for i := range b.lines {
			if n := len(given(b, i)); n > 0 {
				size += n
			} else {
				size += madeIDBytes - 4
			}
		}
	}
	r.ids = column.NewBuilder(value.Of(value.String))
	r.ids.Grow(r.Len(), min(size, column.MaxBytes))
	var buf []byte
	for _, b := range r.batches {
		for i := range b.lines {
			id := given(b, i)
			if len(id) == 0 {
				buf = r.newID(buf[:0])
				id = buf
			}
			if err := r.ids.AppendString(view(id)); err != nil {
				return err
			}
		}
		b.ids = nil
	}
	r.newID = nil
	return nil
}

// sorted returns the row numbers in the order of their ids; equal ids keep the order of the
// input. It returns nil if the rows already have that order and no id occurs twice.
func (r *Rows) sorted() []uint32 {
	if r.newID != nil {
		return nil
	}
	rd := reader{Rows: r}
	common := []byte(nil) // the common prefix of all ids
	ascend := true
	var last []byte
	for i := range r.Len() {
		id := rd.raw(i)
		if i == 0 {
			common = id
		} else {
			k := 0
			for k < min(len(common), len(id)) && common[k] == id[k] {
				k++
			}
			common = common[:k]
			ascend = ascend && bytes.Compare(last, id) < 0
		}
		last = id
	}
	if ascend {
		return nil
	}
	// The eight bytes after the prefix decide most comparisons.
	type item struct {
		head uint64
		row  uint32
	}
	items := make([]item, r.Len())
	for i := range items {
		var head [8]byte
		copy(head[:], rd.raw(i)[len(common):])
		items[i] = item{binary.BigEndian.Uint64(head[:]), uint32(i)}
	}
	other := reader{Rows: r}
	slices.SortFunc(items, func(x, y item) int {
		if x.head != y.head {
			return cmp.Compare(x.head, y.head)
		}
		return cmp.Or(bytes.Compare(rd.raw(int(x.row)), other.raw(int(y.row))), cmp.Compare(x.row, y.row))
	})
	perm := make([]uint32, len(items))
	for i, x := range items {
		perm[i] = x.row
	}
	return perm
}
