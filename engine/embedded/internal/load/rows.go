package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Input is the parsed input: the rows of each type.
type Input struct {
	Nodes []*Rows // by type; nil for types that do not occur
	Edges []*Rows // by type; nil for types that do not occur
	opts  Options // options of the load
	// synced is what a load that claims its lines did beyond them.
	synced  *engine.SyncResult
	changes changes
}

// Rows holds the entities of one type in the order of the input, except that the rows of a spilled
// batch are in the order of their ids. The rows are divided into batches of neighbouring lines. So
// the arrays are copied only once, when they become a segment.
type Rows struct {
	Type    *schema.Type // type of the entities
	batches []*batch     // the rows, in the order of the input
	first   []int        // by batch: the number of its first row; the last element is the total
	// newID makes the ids if the input contains no ids. The new ids ascend in the order of the
	// rows.
	newID func(dst []byte) []byte
	// sequence makes the ids that are missing in the input; nil until the first such id is made.
	sequence func(dst []byte) []byte
	withIDs  bool // no property is the id, but the spilled rows have a column of ids

	chunks   []chunk // the effective rows in id order; set by applier.order
	entities int64   // number of effective rows
	// unchanged is the number of rows that order found and that are in no chunk because they change nothing.
	unchanged int64
}

// batch holds rows of one type.
type batch struct {
	typ   *schema.Type      // type of the entities
	ids   *column.Builder   // nil if a property is the id, or if all ids are still to be made; an empty text stands for one such id
	from  *column.Builder   // ids of the source nodes, for edges
	to    *column.Builder   // ids of the target nodes, for edges
	props []*column.Builder // by property: the values
	seen  *column.Builder   // in the modes that patch: a bit for each property that the line has; else nil
	lines []int64           // by row: line number in the block, or in the input once the batch is collected
	left  []missingVector   // in row order
	// claims has the memberships of the rows: those that the lines have, or those that the mode sync gives them. It may be nil.
	claims    *claims
	unchanged engine.Bitmap // in the mode sync: the rows that change nothing
	file      *spilled      // the temporary files of the rows; nil if the rows are in memory
	order     []int         // properties in the order of the previous line
	stamp     []uint64      // by property: stamp of the last line that has it
	rules     []bool        // by property: see schema.Type.HasRules
	mask      []byte        // memory for a row of `seen`
}

// missingVector identifies a vector that must be computed from its source property: the property
// with number prop, in a row of the batch.
type missingVector struct{ row, prop int }

// newBatch returns an empty batch for entities of type t. If `patch` is set, the batch notes which properties each line has.
func newBatch(t *schema.Type, patch bool) *batch {
	b := &batch{typ: t, order: make([]int, len(t.Props)), stamp: make([]uint64, len(t.Props)), rules: make([]bool, len(t.Props))}
	if t.IDProp < 0 {
		b.ids = column.NewBuilder(value.Of(value.String))
	}
	if t.Entity == plan.Edge {
		b.from, b.to = column.NewBuilder(value.Of(value.String)), column.NewBuilder(value.Of(value.String))
	}
	if patch {
		b.seen = column.NewBuilder(textType)
	}
	for i, p := range t.Props {
		b.props = append(b.props, column.NewBuilder(p.Type))
		b.order[i], b.rules[i] = i, t.HasRules(i)
	}
	return b
}

// builders calls f with each column builder of the batch.
func (b *batch) builders(f func(**column.Builder)) {
	for _, x := range []**column.Builder{&b.ids, &b.from, &b.to, &b.seen} {
		if *x != nil {
			f(x)
		}
	}
	for i := range b.props {
		f(&b.props[i])
	}
}

// truncate removes the values of the current line, if they are not a complete row.
func (b *batch) truncate() {
	n := len(b.lines)
	b.builders(func(x **column.Builder) { (*x).Truncate(n) })
}

// cut returns the rows in arrays of exactly their size, and empties the batch.
func (b *batch) cut() *batch {
	out := &batch{typ: b.typ, ids: b.ids, from: b.from, to: b.to, seen: b.seen, props: append([]*column.Builder(nil), b.props...), lines: append([]int64(nil), b.lines...), left: b.left, claims: b.claims}
	out.builders(func(x **column.Builder) { *x = (*x).Cut() })
	b.lines, b.left, b.claims = b.lines[:0], nil, nil
	return out
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.first[len(r.first)-1] }

// add appends a batch.
func (r *Rows) add(b *batch) {
	if r.first == nil {
		r.first = []int{0}
	}
	r.first = append(r.first, r.Len()+b.rows())
	r.batches = append(r.batches, b)
}

// rows returns the number of rows.
func (b *batch) rows() int {
	if b.file != nil {
		return b.file.rows
	}
	return len(b.lines)
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
	b, k := r.at(i)
	return b.idColumn().Raw(k)
}

// idColumn returns the column of ids, or nil if the ids are still to be made.
func (b *batch) idColumn() *column.Builder {
	if b.typ.IDProp >= 0 {
		return b.props[b.typ.IDProp]
	}
	return b.ids
}

// id returns the result of the method `raw` as a string. The string is valid as long as the rows.
func (r *reader) id(i int) string { return view(r.raw(i)) }

// line returns the line number of row i.
func (r *reader) line(i int) int64 {
	b, k := r.at(i)
	return b.line(k)
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

// bytes returns the approximate size of the rows in memory, in bytes, including some overhead per
// row.
func (r *Rows) bytes() int {
	n := 16 * r.Len()
	if r.newID != nil {
		n += madeIDBytes * r.Len()
	}
	for _, b := range r.batches {
		n += b.bytes()
	}
	return n
}

// bytes returns the approximate size in bytes of the columns, in memory or on the disk.
func (b *batch) bytes() int {
	if b.file != nil {
		return int(b.file.size)
	}
	n := 0
	b.builders(func(x **column.Builder) { n += (*x).Bytes() })
	return n
}

// held returns the approximate number of bytes that a batch in memory will occupy when its missing
// vectors have been computed.
func (b *batch) held() int64 {
	n := int64(b.bytes() + 8*len(b.lines))
	for _, l := range b.left {
		n += 16 + 4*int64(b.typ.Props[l.prop].Type.Dim)
	}
	return n
}

// The sizes of a made id, in bytes.
const (
	madeIDLen   = 26            // of its text
	madeIDBytes = madeIDLen + 4 // of its text and its offset
)

// size returns the size of the rows in a segment, in bytes.
func (b *batch) size() int64 {
	if b.file != nil {
		return b.file.size
	}
	n := int64(0)
	b.builders(func(x **column.Builder) { n += (*x).Size() })
	if b.ids == nil && b.typ.IDProp < 0 {
		n += int64(madeIDBytes * b.rows())
	}
	return n
}

// sizes returns, for each row, the size of the row in a segment, in bytes.
func (b *batch) sizes() []uint32 {
	if b.file != nil {
		return column.Read[uint32](cmp.Or(b.file.filled, b.file.perRow), b.file.name+sizeColumn, b.file.rows)
	}
	out := make([]uint32, b.rows())
	b.builders(func(x **column.Builder) { (*x).AddSizes(out) })
	return out
}

// fillIDs makes the ids that are missing in the input. The argument `last` says that no more rows
// follow. If the input contains no id at all, fillIDs makes none: newID makes them later, and until
// then the batches have no column of ids.
func (r *Rows) fillIDs(batches []*batch, last bool, opts *Options) error {
	if r.Type.IDProp >= 0 {
		return nil
	}
	missing, rows := 0, 0
	for _, b := range batches {
		for i := range b.rows() {
			if b.ids == nil || len(b.ids.Raw(i)) == 0 {
				missing++
			}
		}
		rows += b.rows()
	}
	if missing == rows && !r.withIDs {
		if r.spilled() {
			missing = longSequence
		}
		if last && r.Len() > 0 {
			r.newID = opts.IDs(missing)
		}
		for _, b := range batches {
			b.ids = nil
		}
		return nil
	}
	if missing > 0 && r.sequence == nil || r.spilled() && !r.withIDs {
		if !last || r.spilled() {
			missing = longSequence
		}
		r.sequence = opts.IDs(missing)
	}
	if !r.withIDs && r.spilled() {
		if err := r.idsOfSpilled(opts); err != nil {
			return err
		}
	}
	for _, b := range batches {
		if err := b.fillIDs(r.sequence); err != nil {
			return err
		}
	}
	return nil
}

// longSequence is the number of ids to request if the number of rows is unknown.
const longSequence = 1 << 31

// fillIDs replaces the column of ids by one in which each empty id is the result of next, which appends the next id to dst. Without a
// column, all ids are missing. If none is missing, the column stays.
func (b *batch) fillIDs(next func(dst []byte) []byte) error {
	n, size, missing := b.rows(), 0, 0
	for i := range n {
		given := 0
		if b.ids != nil {
			given = len(b.ids.Raw(i))
		}
		size += given
		if given == 0 {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	ids := column.NewBuilder(value.Of(value.String))
	ids.Grow(n, size+missing*madeIDLen)
	var buf []byte
	for i := range n {
		var id []byte
		if b.ids != nil {
			id = b.ids.Raw(i)
		}
		if len(id) == 0 {
			buf = next(buf[:0])
			id = buf
		}
		if err := ids.AppendString(view(id)); err != nil {
			return err
		}
	}
	b.ids = ids
	return nil
}

// makeIDs makes the ids of all rows, unless the rows have ids already.
func (r *Rows) makeIDs() error {
	if r.newID == nil {
		return nil
	}
	for _, b := range r.batches {
		if err := b.fillIDs(r.newID); err != nil {
			return err
		}
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
	items := make([]item, r.Len())
	for i := range items {
		var head [8]byte
		copy(head[:], rd.raw(i)[len(common):])
		items[i] = item{binary.BigEndian.Uint64(head[:]), uint32(i)}
	}
	items = byHead(items)
	other := reader{Rows: r}
	for rest := items; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].head == rest[0].head {
			n++
		}
		slices.SortFunc(rest[:n], func(x, y item) int {
			return cmp.Or(bytes.Compare(rd.raw(int(x.row)), other.raw(int(y.row))), cmp.Compare(x.row, y.row))
		})
		rest = rest[n:]
	}
	perm := make([]uint32, len(items))
	for i, x := range items {
		perm[i] = x.row
	}
	return perm
}

// item is a row to sort, and eight bytes of its id.
type item struct {
	head uint64
	row  uint32
}

// byHead returns the items in the order of their heads. Items with equal heads keep their order. It is a radix sort, which takes the
// least byte of the heads first and passes over a byte that is the same in all of them. The items may be overwritten.
func byHead(items []item) []item {
	var counts [8][256]uint32
	for _, x := range items {
		for b := range counts {
			counts[b][byte(x.head>>(8*b))]++
		}
	}
	to := make([]item, len(items))
	for b := range counts {
		if len(items) == 0 || int(counts[b][byte(items[0].head>>(8*b))]) == len(items) {
			continue
		}
		at := uint32(0)
		for v, n := range counts[b] {
			counts[b][v], at = at, at+n
		}
		for _, x := range items {
			place := &counts[b][byte(x.head>>(8*b))]
			to[*place] = x
			*place++
		}
		items, to = to, items
	}
	return items
}
