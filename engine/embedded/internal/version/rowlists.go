package version

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// A rewrite of a large table reads the rows of each old segment in the order of the new layout: the
// rows of each segment form a list in this order, and the rewrite merges the lists. So it reads each
// segment from its beginning to its end, and holds the decompressed blocks of few segments in memory.

// rowList lists the live rows of one old segment in the order of the new layout.
type rowList struct {
	rows, ords []uint32 // positions of the rows in the segment, and their ordinals; in a temporary file
	// ascends says that the rows are in the order of the segment.
	ascends     bool
	first, last rowKey // keys of the first and the last row
	size        int64  // size of the segment in bytes
	// run is a temporary copy of the listed rows, in the order of the list. It is nil if the rows are
	// read from the segment.
	run *segment.Segment

	source  column.Source   // the temporary file that rows and ords alias
	segment int             // number of the segment in the table
	at      int             // position of the next row in the list
	key     rowKey          // key of the next row
	open    *segment.Reader // reads the segment or the run; nil before the first row is read
	ids     *column.TextReader
}

// rowKey is the place of a row in the new layout: the rows are in the order of their ids, or, if the
// ids are empty, of their ordinals.
type rowKey struct {
	id  string
	ord uint32
}

func (k rowKey) compare(l rowKey) int {
	if c := strings.Compare(k.id, l.id); c != 0 {
		return c
	}
	return cmp.Compare(k.ord, l.ord)
}

// rowMerge yields the live rows of a large table in the order of a new layout.
type rowMerge struct {
	t     *Rows // all its rows are in segments
	files *IndexFiles
	byID  bool       // the new layout has the order of the ids; otherwise of the ordinals
	lists []*rowList // a heap by their next keys, once they are complete
}

// mergeRows prepares a rowMerge of the rows of a table. It copies the rows of a segment to a temporary file if the merge
// would otherwise have to keep the whole segment in memory. `memory` bounds the bytes of segments
// that the merge keeps in memory for that reason.
func mergeRows(ctx context.Context, t *Rows, files *IndexFiles, byID bool, memory int64) (*rowMerge, error) {
	m := &rowMerge{t: t, files: files, byID: byID}
	if err := m.list(ctx); err != nil {
		return nil, err
	}
	// Segments with disjoint ranges of keys are read one after another. The large ones come first, so
	// that few bytes are copied.
	var disjoint []*rowList
	for _, l := range slices.SortedFunc(slices.Values(m.lists), func(a, b *rowList) int { return cmp.Compare(b.size, a.size) }) {
		if t.Segs[l.segment].Name == "" {
			continue // its rows are in memory in any case
		}
		overlaps := func(x *rowList) bool { return x.first.compare(l.last) <= 0 && l.first.compare(x.last) <= 0 }
		if l.ascends && !slices.ContainsFunc(disjoint, overlaps) {
			disjoint = append(disjoint, l)
			continue
		}
		if memory -= l.size; memory >= 0 {
			continue
		}
		memory += l.size
		if err := m.copyRows(ctx, l); err != nil {
			return nil, err
		}
	}
	for i := len(m.lists)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// list makes the lists of all segments.
func (m *rowMerge) list(ctx context.Context) error {
	t := m.t
	pairs, err := index.SpillPairs(len(t.Segs), m.files.Scratch, func(put func(part int, a, b uint32) error) error {
		k, s := 0, t.Segs[0]
		for ord := range t.next {
			if ord%rewriteTick == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			row := t.rows.Get(ord)
			if row == index.Dead {
				continue
			}
			if row-s.Start >= s.N {
				k = sort.Search(len(t.Segs), func(i int) bool { return t.Segs[i].Start > row }) - 1
				s = t.Segs[k]
			}
			if err := put(k, row-s.Start, ord); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	name := func(l *rowList, array string) string { return array + strconv.Itoa(l.segment) }
	src, err := m.files.Scratch(func(add func(string, []byte) error) error {
		for k := range t.Segs {
			n := pairs.Len(k)
			if n == 0 {
				continue
			}
			l := &rowList{segment: k, rows: make([]uint32, 0, n), ords: make([]uint32, 0, n)}
			if err := pairs.Each(k, func(row, ord uint32) { l.rows, l.ords = append(l.rows, row), append(l.ords, ord) }); err != nil {
				return err
			}
			if err := m.sort(ctx, l); err != nil {
				return err
			}
			if err := add(name(l, "r"), column.Bytes(l.rows)); err != nil {
				return err
			}
			if err := add(name(l, "o"), column.Bytes(l.ords)); err != nil {
				return err
			}
			m.lists = append(m.lists, l)
			l.rows, l.ords = nil, nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range m.lists {
		l.source = src
		l.rows = column.Read[uint32](src, name(l, "r"), pairs.Len(l.segment))
		l.ords = column.Read[uint32](src, name(l, "o"), pairs.Len(l.segment))
	}
	return nil
}

// sort puts a list, which is in the order of the ordinals, in the order of the new layout. It sets the
// fields that describe the list.
func (m *rowMerge) sort(ctx context.Context, l *rowList) error {
	l.size = m.t.Segs[l.segment].StoredBytes()
	n := len(l.rows)
	l.ascends = slices.IsSorted(l.rows)
	if !m.byID {
		l.first.ord, l.last.ord = l.ords[0], l.ords[n-1]
		l.key = l.first
		return nil
	}
	s, err := m.files.opened(m.t, l.segment)
	if err != nil {
		return err
	}
	ids := m.t.ids(s)
	inOrder := l.ascends
	if inOrder {
		reader, last := column.NewTextReader(ids), []byte(nil)
		for i := 0; i < n && inOrder; i++ {
			id, _ := reader.Text(l.rows[i])
			inOrder = i == 0 || string(last) < id
			last = append(last[:0], id...)
		}
	}
	if !inOrder {
		perm := make([]uint32, n)
		for i := range perm {
			perm[i] = uint32(i)
		}
		slices.SortFunc(perm, func(a, b uint32) int { return strings.Compare(ids.Str(l.rows[a]), ids.Str(l.rows[b])) })
		rows, ords := make([]uint32, n), make([]uint32, n)
		for i, p := range perm {
			rows[i], ords[i] = l.rows[p], l.ords[p]
		}
		l.rows, l.ords = rows, ords
		l.ascends = slices.IsSorted(rows)
	}
	l.first.id, l.last.id = strings.Clone(ids.Str(l.rows[0])), strings.Clone(ids.Str(l.rows[n-1]))
	l.key = l.first
	return ctx.Err()
}

// copyRows copies the rows of a list to a temporary file, in the order of the list.
func (m *rowMerge) copyRows(ctx context.Context, l *rowList) error {
	s, err := m.files.opened(m.t, l.segment)
	if err != nil {
		return err
	}
	typ := m.t.Type
	gather := func(c *column.Column) (*column.Column, error) {
		b := column.NewBuilder(c.Type())
		for i, row := range l.rows {
			if i%rewriteTick == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			if err := b.Append(c.Value(row)); err != nil {
				return nil, err
			}
		}
		return b.Finish(nil), nil
	}
	d := &segment.Draft{N: uint32(len(l.rows)), Prop: func(p int) (*column.Column, error) { return gather(s.Props[p]) }}
	for _, row := range l.rows {
		d.Stamps.Add(s.StampOf(row))
	}
	d.Stamps.Pack()
	if s.Claims != nil {
		d.Claims = func() (*column.Column, error) { return gather(s.Claims) }
	}
	if typ.IDProp < 0 {
		d.ID = func() (*column.Column, error) { return gather(s.ID) }
	}
	if typ.Entity == plan.Edge {
		d.Src, d.Dst = make([]uint32, d.N), make([]uint32, d.N)
		for i, row := range l.rows {
			d.Src[i], d.Dst[i] = s.EndsOf(row)
		}
	}
	src, err := m.files.Scratch(func(add func(string, []byte) error) error { return d.Blocks(typ, add) })
	if err == nil {
		l.run, err = segment.Open(typ, "", src)
	}
	return err
}

// each calls f with each live row in the order of the new layout: with its ordinal, a reader of the
// segment with the row, and the position of the row there.
func (m *rowMerge) each(f func(ord uint32, r *segment.Reader, i uint32) error) error {
	for len(m.lists) > 0 {
		l := m.lists[0]
		if l.open == nil {
			if err := m.read(l); err != nil {
				return err
			}
		}
		if err := f(l.ords[l.at], l.open, l.row()); err != nil {
			return err
		}
		if l.at++; l.at < len(l.ords) {
			l.setKey(m.t, m.byID)
		} else {
			last := len(m.lists) - 1
			m.lists[0], m.lists = m.lists[last], m.lists[:last]
			*l = rowList{} // frees the memory of the segment
		}
		m.down(0)
	}
	return nil
}

// read opens the segment of a list.
func (m *rowMerge) read(l *rowList) error {
	if l.run != nil {
		l.open = &segment.Reader{Segment: l.run}
		return nil
	}
	s, err := m.files.opened(m.t, l.segment)
	switch {
	case err != nil:
		return err
	case l.ascends:
		l.open = s.InOrder()
	default:
		l.open = &segment.Reader{Segment: s}
	}
	return nil
}

// row returns the position of the next row in the open segment.
func (l *rowList) row() uint32 {
	if l.run != nil {
		return uint32(l.at)
	}
	return l.rows[l.at]
}

// setKey sets the key of the next row.
func (l *rowList) setKey(t *Rows, byID bool) {
	if !byID {
		l.key.ord = l.ords[l.at]
		return
	}
	if l.ids == nil {
		l.ids = column.NewTextReader(t.ids(l.open.Segment))
	}
	l.key.id, _ = l.ids.Text(l.row())
}

// down moves list i to its place in the heap.
func (m *rowMerge) down(i int) {
	for {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(m.lists) && m.lists[child].key.compare(m.lists[least].key) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		m.lists[i], m.lists[least] = m.lists[least], m.lists[i]
		i = least
	}
}

// opened returns segment k of a table. It opens a stored segment anew, so that the blocks that it
// decompresses are freed together with the result.
func (f *IndexFiles) opened(t *Rows, k int) (*segment.Segment, error) {
	s := t.Segs[k]
	if s.Name == "" {
		return s, nil
	}
	as, props := s.Origin.StoredAs(t.Type)
	fresh, err := f.Open(as, s.Name)
	if err == nil && s.Origin != nil {
		origin := s.Origin
		if fresh, err = fresh.Carried(as, t.Type, schema.TypeCarry{Props: props, Stored: true}); err == nil {
			fresh.Origin = origin
		}
	}
	if err != nil {
		return nil, err
	}
	fresh.Start = s.Start
	return fresh, nil
}
