package version

import (
	"encoding/binary"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Part is the effect of a bulk commit on one type: it puts the rows of a segment.
type Part struct {
	Type    *Type
	Segment *Segment // no id occurs twice
	// Replace removes every entity whose id is not in the segment.
	Replace bool
	// Reset, together with Replace, starts the table anew. It requires that nothing outside
	// the commit refers to an entity of the type.
	Reset bool
}

// AppendParts appends parts in the layout of a KindBulk record: a uvarint count, then for
// each part the entity (1 byte), the type (uvarint, position in the schema), flags (1 byte:
// replace 1, reset 2) and the name of the segment (text).
func AppendParts(dst []byte, parts []Part) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, p := range parts {
		var flags byte
		if p.Replace {
			flags |= 1
		}
		if p.Reset {
			flags |= 2
		}
		dst = append(dst, byte(p.Type.Entity))
		dst = binary.AppendUvarint(dst, uint64(p.Type.Index))
		dst = append(dst, flags)
		dst = appendText(dst, p.Segment.Name)
	}
	return dst
}

// ReadParts reads the parts that AppendParts wrote, and calls open to read each segment.
func ReadParts(b []byte, s *Schema, open func(t *Type, name string) (*Segment, error)) ([]Part, error) {
	r := &reader{b: b}
	parts := make([]Part, 0, 8)
	for range r.count() {
		types := s.Nodes
		if r.byte() == byte(plan.Edge) {
			types = s.Edges
		}
		i, flags, name := r.index(len(types)), r.byte(), r.text()
		if r.err != nil {
			return nil, r.err
		}
		seg, err := open(types[i], name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{types[i], seg, flags&1 != 0, flags&2 != 0})
	}
	return parts, r.err
}

// PutSegment puts the rows of a part. After that, the transaction owns the part's segment, and the
// caller may do no more than name it. The parts of nodes must come before those of edges, because
// edge segments hold node ordinals, which the parts of nodes assign.
func (tx *Txn) PutSegment(p Part) {
	e, s := tx.edit(p.Type), p.Segment
	if p.Reset && p.Replace || e.next == 0 {
		tx.fill(e, p)
		return
	}
	e.append(s)
	ids := e.ids(s)
	var kept engine.Bitmap
	if p.Replace {
		kept = engine.NewBitmap(int(e.next))
	}
	first := e.next
	from, to := s.Ends()
	for i := range s.N {
		id := ids.Str(i)
		ord, ok := e.Lookup(id)
		if ok && p.Type.Entity == plan.Edge {
			if src, dst := e.Ends(ord); src != from[i] || dst != to[i] {
				tx.deleteEntity(e, ord)
				ok = false
			}
		}
		if ok && ord < first && kept != nil {
			kept.Set(int(ord))
		}
		if !ok {
			ord = e.assignOrdinal(strings.Clone(id))
			e.live++
		}
		e.touched[ord] = true
		e.rows.Set(tx.owner, ord, s.Start+i)
	}
	for ord := range first {
		if kept != nil && e.Alive(ord) && !kept.Get(int(ord)) {
			tx.deleteEntity(e, ord)
		}
	}
	e.reindex()
}

// fill makes the segment the whole table: row i of the segment is ordinal i.
func (tx *Txn) fill(e *edit, p Part) {
	t := newTable(p.Type)
	s := p.Segment
	s.Start = 0
	t.Segs, t.base, t.next, t.live = []*Segment{s}, s.N, s.N, s.N
	ids := t.ids(s)
	for i := range s.N {
		if id := ids.Str(i); t.last < id || i == 0 {
			t.last = id
		} else {
			t.sorted = false
			break
		}
	}
	t.reindex()
	if t.last = strings.Clone(t.last); !t.sorted {
		t.last = ""
	}
	*e.Table, e.reset = *t, true
}

// append adds a segment after the rows of the table. It first turns the tail into a segment
// in memory.
func (t *Table) append(s *Segment) {
	t.freeze()
	s.Start = t.base
	t.Segs = append(t.Segs[:len(t.Segs):len(t.Segs)], s)
	t.base += s.N
}

// freeze turns the tail into a segment in memory.
func (t *Table) freeze() {
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

// reindex rebuilds the bases of all indexes from the live entities.
func (t *Table) reindex() {
	t.based = &bases{ords: t.next, rows: t.base + uint32(len(t.tail))}
	t.idx = make([]index.Hash, len(t.Type.Tuples))
	tasks := []func(){func() {
		t.keys = index.BuildHash(t.next, func(ord uint32) (uint64, bool) {
			row := t.rows.Get(ord)
			if row == index.Dead {
				return 0, false
			}
			return index.String(t.idAt(row)), true
		})
	}}
	for i, tuple := range t.Type.Tuples {
		tasks = append(tasks, func() {
			t.idx[i] = index.BuildHash(t.next, func(ord uint32) (uint64, bool) {
				row := t.rows.Get(ord)
				if row == index.Dead {
					return 0, false
				}
				var src, dst uint32
				if t.Type.Entity == plan.Edge {
					src, dst = t.endsAt(row)
				}
				return t.tupleHash(tuple, func(p int) value.Value { return t.valueAt(row, p) }, src, dst)
			})
		})
	}
	if t.Type.Entity == plan.Edge {
		ends := func(ord uint32) (src, dst uint32, ok bool) {
			row := t.rows.Get(ord)
			if row == index.Dead {
				return 0, 0, false
			}
			src, dst = t.endsAt(row)
			return src, dst, true
		}
		tasks = append(tasks, func() { t.out = index.BuildAdjacency(t.next, ends) }, func() {
			t.in = index.BuildAdjacency(t.next, func(ord uint32) (uint32, uint32, bool) {
				src, dst, ok := ends(ord)
				return dst, src, ok
			})
		})
	}
	if t.next < parallelFrom {
		for _, task := range tasks {
			task()
		}
		return
	}
	parallel.Do(tasks...)
}

// parallelFrom is the least number of entities for which reindex builds indexes
// concurrently.
const parallelFrom = 1 << 12

func (t *Table) endsAt(row uint32) (src, dst uint32) {
	if row >= t.base {
		r := t.tailRow(row)
		return r.Src, r.Dst
	}
	s := t.segment(row)
	return s.endsOf(row - s.Start)
}
