package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
)

// chunk is the part of a type's effective rows that becomes one segment. It consists of the rows in
// perm. If perm is nil, it consists of consecutive rows, the first of which has the number `start`.
type chunk struct {
	perm  []uint32 // numbers of the rows, in order of their ids
	start int      // number of the first row; only if perm is nil
	n     int
	size  int64            // size of the rows in a segment, in bytes
	made  *segment.Segment // the segment made from the rows; nil if the rows are put one by one
	last  string           // the greatest id; set once the segment is made
	// src is the temporary file that contains perm, if there is one.
	src column.Source
}

// row returns the number that row i of the chunk has among all rows.
func (c *chunk) row(i int) int {
	if c.perm != nil {
		return int(c.perm[i])
	}
	return c.start + i
}

const (
	// DefaultSegment is the default of Options.Segment.
	DefaultSegment = 64 << 20
	// segmentsPerType is the number of segments of a type above which its segments become larger.
	segmentsPerType = 16
)

// segmentSize returns the number of bytes of rows at which a new segment begins, for a type with
// `total` bytes of rows.
func (a *applier) segmentSize(r *Rows, total int64) int64 {
	if a.mode == engine.Overwrite && !a.free(r.Type) {
		return math.MaxInt64 // without a reset, only one part of a commit can replace a table
	}
	return max(a.in.opts.Segment, min(total/segmentsPerType, segment.MaxBytes))
}

// order puts the rows of a type in the order of their ids and records duplicate ids as faults. If the last one of
// several rows stands, order keeps only this one.
func (a *applier) order(r *Rows) error {
	if err := r.Type.CheckRows(int64(r.Len())); err != nil {
		return err
	}
	total := int64(0)
	for _, b := range r.batches {
		total += b.size()
	}
	limit := a.segmentSize(r, total)
	o := &orderer{applier: a, r: r, limit: limit}
	switch {
	case r.newID != nil:
		r.chunks = r.ranges(limit)
	case r.spilled():
		if r.ascending() {
			r.chunks = r.ranges(limit)
			break
		}
		if err := o.merge(); err != nil {
			return err
		}
	default:
		perm := r.sorted()
		if perm == nil {
			r.chunks = r.ranges(limit)
			break
		}
		if o.small = total <= limit; o.small {
			o.size = total
		}
		rd := reader{Rows: r}
		sizes := make([][]uint32, len(r.batches))
		o.perm = make([]uint32, 0, len(perm))
		for _, row := range perm {
			b, k := rd.at(int(row))
			size := uint32(0)
			if !o.small {
				if sizes[rd.last] == nil {
					sizes[rd.last] = b.sizes()
				}
				size = sizes[rd.last][k]
			}
			if err := o.add(b, k, row, size); err != nil {
				return err
			}
		}
		if err := o.cut(); err != nil {
			return err
		}
	}
	for i := range r.chunks {
		r.entities += int64(r.chunks[i].n)
	}
	return nil
}

// ranges divides all rows, in their present order, into chunks. A chunk consists of whole batches
// and has at most `limit` bytes, unless a single batch exceeds the limit.
func (r *Rows) ranges(limit int64) []chunk {
	var out []chunk
	size := int64(0)
	for i, b := range r.batches {
		n := b.size()
		if size += n; len(out) == 0 || size > limit {
			out, size = append(out, chunk{start: r.first[i]}), n
		}
		c := &out[len(out)-1]
		c.n, c.size = c.n+b.rows(), size
	}
	return out
}

// ascending reports whether the ids of all runs, taken in the order of the rows, ascend without
// duplicates.
func (r *Rows) ascending() bool {
	for i, b := range r.batches {
		if !b.file.unique || i > 0 && bytes.Compare(r.batches[i-1].file.most, b.file.least) >= 0 {
			return false
		}
	}
	return true
}

// orderer divides rows into chunks. The rows must be added in the order of their ids.
type orderer struct {
	*applier
	r     *Rows
	limit int64    // size at which a chunk is full, in bytes
	small bool     // all rows fit into one chunk
	perm  []uint32 // rows of the current chunk
	size  int64    // size of the rows in the current chunk, in bytes
	last  []byte   // the id of the last row
}

// add adds row k of a batch. The parameter `row` is the number of this row among all rows.
func (o *orderer) add(b *batch, k int, row, size uint32) error {
	id := b.idColumn().Raw(k)
	if len(o.perm) > 0 && bytes.Equal(id, o.last) {
		if o.in.opts.LastWins && o.mode.Finds() {
			o.perm[len(o.perm)-1] = row
			return nil
		}
		rd := reader{Rows: o.r}
		o.fail(b.line(k), "", &engine.KeyConflict{Entity: o.r.Type.Entity.String(), Type: o.r.Type.Name, ID: string(id),
			Line: rd.line(int(o.perm[len(o.perm)-1]))})
		return nil
	}
	if !o.small && o.size+int64(size) > o.limit && len(o.perm) > 0 {
		if err := o.cut(); err != nil {
			return err
		}
	}
	o.perm, o.last, o.size = append(o.perm, row), id, o.size+int64(size)
	return nil
}

// cut ends a chunk. If the rows are in a temporary file, it moves the row numbers to such a file,
// too.
func (o *orderer) cut() error {
	c := chunk{perm: o.perm, n: len(o.perm), size: o.size}
	if err := o.keepPerm(o.r, &c); err != nil {
		return err
	}
	if o.perm = o.perm[:0]; c.src == nil {
		o.perm = nil // the chunk has the memory
	}
	o.r.chunks = append(o.r.chunks, c)
	o.size = 0
	return o.ctx.Err()
}

// merge merges the runs and adds their rows in the order of the ids.
func (o *orderer) merge() error {
	h := &heap{}
	common := o.r.batches[0].file.least // the common prefix of all ids
	for i, b := range o.r.batches {
		b.openIDs()
		common = commonPrefix(commonPrefix(common, b.file.least), b.file.most)
		h.runs = append(h.runs, &cursor{b: b, first: o.r.first[i], sizes: b.sizes()})
	}
	h.skip = len(common)
	for i := len(h.runs) - 1; i >= 0; i-- {
		h.runs[i].read(h.skip)
	}
	for i := len(h.runs)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	for tick := 0; len(h.runs) > 0; tick++ {
		if tick%cancelEvery == 0 && o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		x := h.runs[0]
		if err := o.add(x.b, x.at, uint32(x.first+x.at), x.sizes[x.at]); err != nil {
			return err
		}
		h.next()
	}
	return o.cut()
}

// commonPrefix returns the bytes with which both a and b begin.
func commonPrefix(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// cursor is a position in a run.
type cursor struct {
	b     *batch
	first int // number of the run's first row
	at    int
	id    []byte
	head  uint64   // eight bytes of the id, after the common prefix; they decide most comparisons
	sizes []uint32 // by row of the run: its size in a segment, in bytes
}

// read sets the id and its head for the current row; `skip` is the length of the common prefix.
func (c *cursor) read(skip int) {
	c.id = c.b.idColumn().Raw(c.at)
	rest := c.id[skip:]
	if len(rest) >= 8 {
		c.head = binary.BigEndian.Uint64(rest)
		return
	}
	var head [8]byte
	copy(head[:], rest)
	c.head = binary.BigEndian.Uint64(head[:])
}

// before reports whether the row of c comes before that of d: by id, then by line.
func (c *cursor) before(d *cursor) bool {
	if c.head != d.head {
		return c.head < d.head
	}
	return cmp.Or(bytes.Compare(c.id, d.id), cmp.Compare(c.b.line(c.at), d.b.line(d.at))) < 0
}

// heap is a binary heap of cursors. The cursor with the least id comes first; if ids are equal, the
// cursor with the least line.
type heap struct {
	runs []*cursor // the cursors, in the order of a heap
	skip int       // length of the common prefix of all ids
}

// next moves the first cursor to its next row.
func (h *heap) next() {
	x := h.runs[0]
	if x.at++; x.at < x.b.rows() {
		x.read(h.skip)
	} else {
		n := len(h.runs) - 1
		h.runs[0] = h.runs[n]
		h.runs = h.runs[:n]
	}
	h.down(0)
}

// down moves the cursor at position i down to its place in the heap.
func (h *heap) down(i int) {
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h.runs); k++ {
			if h.runs[k].before(h.runs[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h.runs[i], h.runs[least] = h.runs[least], h.runs[i]
		i = least
	}
}

// find returns the chunk that contains effective row i, and the position of the row in the chunk.
func (r *Rows) find(i int) (*chunk, int) {
	for k := range r.chunks {
		if c := &r.chunks[k]; i < c.n {
			return c, i
		} else {
			i -= c.n
		}
	}
	panic("load: no such row")
}

// batchesOf returns the batches that contain the rows of a chunk.
func (r *Rows) batchesOf(c *chunk) []*batch {
	if c.perm != nil {
		return r.batches
	}
	from := sort.SearchInts(r.first, c.start+1) - 1
	to := sort.SearchInts(r.first, c.start+c.n)
	return r.batches[from:to]
}
