package version

import (
	"encoding/binary"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Part is the effect of a bulk commit on one type: the commit inserts or replaces the entities in
// the rows of a segment.
type Part struct {
	Type    *schema.Type     // type of the entities
	Segment *segment.Segment // no id occurs twice
	// Replace says that the commit removes every entity with an id that is not in the segment.
	Replace bool
	// Reset, together with Replace, starts the table anew. It requires that nothing outside
	// the commit refers to an entity of the type.
	Reset bool
	// Last is the greatest id of the segment, if the ids ascend and are greater than the ids of the
	// earlier parts of the type. Otherwise Last is empty. Its only purpose is to save reading the
	// ids.
	Last string
}

// The flags of a stored part.
const (
	replacePart = 1 << iota
	resetPart
)

// AppendParts appends parts in the layout of a KindBulk record: a uvarint count, then for
// each part the entity (1 byte), the type (uvarint, position in the schema), flags (1 byte:
// replacePart and resetPart) and the name of the segment (text). The operations after the parts follow; see Txn.AppendLate.
func AppendParts(dst []byte, parts []Part) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, p := range parts {
		var flags byte
		if p.Replace {
			flags |= replacePart
		}
		if p.Reset {
			flags |= resetPart
		}
		dst = append(dst, byte(p.Type.Entity))
		dst = binary.AppendUvarint(dst, uint64(p.Type.Index))
		dst = append(dst, flags)
		dst = codec.AppendText(dst, p.Segment.Name)
	}
	return dst
}

// ReadParts reads the parts that AppendParts wrote, and calls the opener `open` to read each
// segment. It also returns the operations after the parts.
func ReadParts(b []byte, s *schema.Schema, open func(t *schema.Type, name string) (*segment.Segment, error)) ([]Part, []byte, error) {
	r := &codec.Reader{Rest: b}
	parts := make([]Part, 0, 8)
	for range r.Count() {
		types := s.Nodes
		if r.Byte() == byte(plan.Edge) {
			types = s.Edges
		}
		i, flags, name := r.Index(len(types)), r.Byte(), r.Text()
		if r.Err != nil {
			return nil, nil, r.Err
		}
		seg, err := open(types[i], name)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, Part{Type: types[i], Segment: seg, Replace: flags&replacePart != 0, Reset: flags&resetPart != 0})
	}
	return parts, r.Rest, r.Err
}

// PutSegments inserts or replaces the entities of the parts. No id of a type may occur twice in the
// parts. The parts of a type must follow one another. Of several parts of a type, only the first
// may replace other entities, and this part must then reset the table. After the call, the
// transaction owns the segments of the parts; the caller may only set their names. The parts of
// nodes must come before those of edges, because edge segments hold node ordinals, which the parts
// of nodes assign.
func (tx *Txn) PutSegments(parts []Part) error {
	for len(parts) > 0 {
		t, n := parts[0].Type, 1
		for n < len(parts) && parts[n].Type == t {
			n++
		}
		if err := tx.putParts(t, parts[:n]); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// putParts does the work of PutSegments for all parts of one type.
func (tx *Txn) putParts(t *schema.Type, parts []Part) error {
	e := tx.edit(t)
	fill := parts[0].Reset && parts[0].Replace || e.next == 0
	if fill {
		*e.Table, e.reset = *newTable(t), true
		dropDeadEnds(tx, t)
	}
	put := uint32(0)
	for _, p := range parts {
		put += p.Segment.N
		if fill {
			e.extend(p)
		} else {
			e.putSegment(p)
		}
	}
	if fill {
		e.last = strings.Clone(e.last)
	}
	if parts[0].Replace {
		defer tx.dropReferences(t)
	}
	return tx.reindex(e.Table, put)
}

// dropDeadEnds rebuilds the indexes of the edge types of a node type that starts anew, if all their
// edges are deleted. The indexes still list deleted edges by the ordinals that their nodes had.
func dropDeadEnds(tx *Txn, t *schema.Type) {
	for _, list := range [][]int{t.Out, t.In} {
		for _, i := range list {
			if edges := tx.Table(tx.Schema().Edges[i]); edges.live == 0 && edges.next > 0 {
				tx.edit(edges.Type).reindex()
			}
		}
	}
}

// extend adds a segment to a table in which each row i belongs to ordinal i. This stays true after
// the call. extend does not update the indexes. The string `last` of the table refers to memory of
// the segment until the caller clones it.
func (t *Rows) extend(p Part) {
	s := p.Segment
	s.Start = t.base
	t.Segs = append(t.Segs, s)
	t.base += s.N
	t.next, t.live = t.base, t.base
	if p.Last != "" && t.sorted {
		t.last = p.Last
		return
	}
	ids := t.ids(s)
	for i := range s.N {
		if !t.sorted {
			return
		}
		if id := ids.Str(i); t.last < id || s.Start+i == 0 {
			t.last = id
		} else {
			t.sorted, t.last = false, ""
		}
	}
}

// append adds a segment after the rows of the table. It first turns the tail into a segment
// in memory.
func (t *Rows) append(s *segment.Segment) {
	t.freeze()
	s.Start = t.base
	t.Segs = append(t.Segs[:len(t.Segs):len(t.Segs)], s)
	t.base += s.N
}

// freeze turns the tail into a segment in memory.
func (t *Rows) freeze() {
	if len(t.tail) == 0 {
		return
	}
	s, err := t.Collect(t.base, t.base+uint32(len(t.tail)))
	if err != nil {
		// Tails are flushed long before the text of a column reaches its limit.
		panic("version: " + err.Error())
	}
	t.Segs = append(t.Segs[:len(t.Segs):len(t.Segs)], s)
	t.base += s.N
	t.tail = nil
}

// reindex rebuilds all indexes from the live entities, with level 0 only.
func (t *Table) reindex() {
	t.levels = t.wholeLevel()
	t.idx = make([]index.Hash, len(t.Type.Tuples))
	hashes := hashes(&t.Rows)
	tasks := []func(){func() { t.keys = index.BuildHash(t.next, hashes[0]) }}
	for i, hash := range hashes[1:] {
		tasks = append(tasks, func() { t.idx[i] = index.BuildHash(t.next, hash) })
	}
	if t.Type.Entity == plan.Edge {
		tasks = append(tasks,
			func() { t.out = index.BuildAdjacency(t.next, t.liveEnds) },
			func() { t.in = index.BuildAdjacency(t.next, reversed(t.liveEnds)) })
	}
	if t.next < parallelFrom {
		for _, task := range tasks {
			task()
		}
		return
	}
	parallel.Do(tasks...)
}

// wholeLevel returns the description of a level 0 that covers the whole table.
func (t *Table) wholeLevel() []*level {
	return []*level{{ords: t.next, rows: t.base + uint32(len(t.tail)), entries: int(t.next)}}
}

// parallelFrom is the least number of entities for which reindex builds indexes
// concurrently.
const parallelFrom = 1 << 12

// endsAt returns the ordinals of the nodes that the edge in a row joins.
func (t *Rows) endsAt(row uint32) (src, dst uint32) {
	if row >= t.base {
		r := t.tailRow(row)
		return r.Src, r.Dst
	}
	s := t.segment(row)
	return s.EndsOf(row - s.Start)
}

// late is what a transaction with parts has noted since NoteLate: operations that follow the parts.
type late struct {
	limit  int                                       // bytes of operations in memory from which StoreLate stores them
	store  func(ops []byte) (name string, err error) // stores operations in a segment
	stored []string                                  // the segments with the first operations, in order
	ops    []byte                                    // the operations after them
}

// KeepLate makes StoreLate call the function `store` when there are at least `limit` bytes of operations.
func (tx *Txn) KeepLate(limit int, store func(ops []byte) (name string, err error)) {
	tx.keepLate = &late{limit: limit, store: store}
}

// NoteLate makes the transaction note what PutClaimed and Remove do from now on, as operations for the record of a bulk
// load, which has them after its parts. Without KeepLate, the transaction becomes no record, and notes nothing.
func (tx *Txn) NoteLate() { tx.late = tx.keepLate }

// StoreLate stores the operations since NoteLate if they are many, so that neither the record nor the memory of the
// transaction grows with them.
func (tx *Txn) StoreLate() error {
	if tx.late == nil || len(tx.late.ops) < max(tx.late.limit, 1) {
		return nil
	}
	name, err := tx.late.store(tx.late.ops)
	if err != nil {
		return err
	}
	tx.kept = append(tx.kept, name)
	tx.late.stored, tx.late.ops = append(tx.late.stored, name), tx.late.ops[:0]
	return nil
}

// AppendLate appends the operations since NoteLate to the parts of a record: a code and the name of a segment (text) for
// each segment that StoreLate stored, then the other operations.
func (tx *Txn) AppendLate(dst []byte) []byte {
	if tx.late == nil {
		return dst
	}
	for _, name := range tx.late.stored {
		dst = codec.AppendText(append(dst, opStored), name)
	}
	return append(dst, tx.late.ops...)
}

// ReadLate reads the names of segments that AppendLate wrote. It returns the other operations too.
func ReadLate(b []byte) (stored []string, ops []byte, err error) {
	r := &codec.Reader{Rest: b}
	for r.Err == nil && len(r.Rest) > 0 && r.Rest[0] == opStored {
		r.Byte()
		stored = append(stored, r.Text())
	}
	return stored, r.Rest, r.Err
}
