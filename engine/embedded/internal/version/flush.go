package version

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Flush is a segment that replaces the last rows of a table: the rows that no stored
// segment holds, and the rows of the smaller segments directly before them.
type Flush struct {
	Table   *Table           // the table with the rows
	Segment *segment.Segment // the new segment, with these rows
	keep    int              // number of the table's segments that stay
}

// segmentBytes is the approximate size limit of a segment that merges rows of stored
// segments. Tests lower it.
var segmentBytes int64 = segment.MaxBytes

// Flush makes a segment of the rows that no stored segment holds; ok is false if there are
// none. The segment is in memory; the caller stores it and sets its name.
func (t *Table) Flush() (f Flush, ok bool, err error) {
	end := t.base + uint32(len(t.tail))
	keep := slices.IndexFunc(t.Segs, func(s *segment.Segment) bool { return s.Name == "" })
	if keep < 0 {
		if len(t.tail) == 0 {
			return Flush{}, false, nil
		}
		keep = len(t.Segs)
	}
	start := t.base
	if keep < len(t.Segs) {
		start = t.Segs[keep].Start
	}
	// If a segment has fewer than twice as many rows as follow it, it is rewritten together with
	// the rows that follow. So a table of n rows has O(log n) segments, and each row is rewritten
	// O(log n) times. Large segments stay, because the new segment is made in memory.
	again := int64(0)
	for keep > 0 && t.Segs[keep-1].N < 2*(end-start) {
		if again += t.Segs[keep-1].Bytes(); again > segmentBytes {
			break
		}
		keep--
		start = t.Segs[keep].Start
	}
	if t.Segs != nil && keep == 0 && len(t.Segs) == 1 && t.Segs[0].Name == "" && len(t.tail) == 0 {
		s := *t.Segs[0] // a copy for the caller to name: snapshots share the original
		return Flush{Table: t, Segment: &s}, true, nil
	}
	s, err := t.Collect(start, end)
	return Flush{Table: t, Segment: s, keep: keep}, true, err
}

// Flushed returns the snapshot with the flushed rows in their segments.
func (s *Snapshot) Flushed(flushes []Flush) *Snapshot {
	out := &Snapshot{Commit: s.Commit, Schema: s.Schema, nodes: slices.Clone(s.nodes), edges: slices.Clone(s.edges), line: s.line}
	for _, f := range flushes {
		t, err := f.table(nil)
		if err != nil {
			panic("version: " + err.Error()) // cannot fail without files
		}
		out.set(t)
	}
	return out
}

// table returns the table with the flushed rows in their segment. It may build the indexes with
// `files`; see [Table.addLevel].
func (f Flush) table(files *IndexFiles) (*Table, error) {
	t := *f.Table
	t.Segs = append(t.Segs[:f.keep:f.keep], f.Segment)
	t.base = f.Segment.Start + f.Segment.N
	t.tail = nil
	return &t, t.addLevel(files)
}

// Adopt returns s with the flushed rows in their segments. s must be a later snapshot of the
// lineage of `flushed`. Where nothing changed since, Adopt also takes the indexes of `flushed`.
func (s *Snapshot) Adopt(flushes []Flush, flushed *Snapshot) *Snapshot {
	out := &Snapshot{Commit: s.Commit, Schema: s.Schema, nodes: slices.Clone(s.nodes), edges: slices.Clone(s.edges), line: s.line}
	for _, f := range flushes {
		typ := f.Table.Type
		out.set(f.adopt(s.Table(typ.Entity, typ.Index), flushed.Table(typ.Entity, typ.Index)))
	}
	return out
}

// adopt returns the table `now` with the flushed rows in their segment. `now` is a later table of
// the flushed table's lineage; `then` is the result of [Flush.table].
func (f Flush) adopt(now, then *Table) *Table {
	n := len(f.Table.Segs)
	switch {
	case now == f.Table:
		return then
	case now.origin != f.Table.origin || len(now.Segs) < n || !slices.Equal(now.Segs[:n], f.Table.Segs):
		return now // the table started anew since
	}
	t := *now
	if len(now.Segs) > n {
		// Segments were put after the tail, so the tail became a segment in memory. The part of
		// that segment that was not flushed stays in a segment in memory.
		rest := now.Segs[n:]
		t.Segs = slices.Clone(then.Segs)
		if end := rest[0].Start + rest[0].N; rest[0].Start < then.base {
			if end > then.base {
				late, err := now.Collect(then.base, end)
				if err != nil {
					panic("version: " + err.Error()) // cannot fail: these rows were collected before
				}
				t.Segs = append(t.Segs, late)
			}
			rest = rest[1:]
		}
		t.Segs = append(t.Segs, rest...)
		return &t
	}
	t.Segs, t.base = then.Segs, then.base
	late := now.tail[then.base-now.base:]
	t.tail = slices.Clone(late)
	t.levels, t.keys, t.idx, t.out, t.in = then.levels, then.keys, slices.Clone(then.idx), then.out, then.in
	owner := new(index.Owner)
	for i := range late {
		r := &late[i]
		for c := now.keys.Find(index.String(r.ID)); c.Next(); {
			if c.Ord < now.next && now.rows.Get(c.Ord) == now.base+uint32(len(now.tail)-len(late)+i) {
				t.enter(t.Type, owner, c.Ord, r, c.Ord >= then.next)
				break
			}
		}
	}
	return &t
}

// set replaces the table of t's type.
func (s *Snapshot) set(t *Table) {
	if t.Type.Entity == plan.Edge {
		s.edges[t.Type.Index] = t
	} else {
		s.nodes[t.Type.Index] = t
	}
}

// Collect makes a segment in memory of the rows [start, end), dead rows included. The error is a
// *engine.TooLarge.
func (t *Rows) Collect(start, end uint32) (*segment.Segment, error) {
	c := t.collector(start)
	for row := start; row < end; row++ {
		var src, dst uint32
		if t.Type.Entity == plan.Edge {
			src, dst = t.endsAt(row)
		}
		if err := c.add(row, src, dst); err != nil {
			return nil, err
		}
	}
	return c.finish(), nil
}

// collector builds a segment from rows of a table.
type collector struct {
	t     *Rows
	s     *segment.Segment
	id    *column.Builder   // nil if a property is the id
	props []*column.Builder // by property: the values
	// claims has the memberships; nil until a row has one.
	claims *column.Builder
	from   segment.Reader // reads the rows of the table
}

// collector returns a collector of rows. The segment of the collector starts at row number `start`.
func (t *Rows) collector(start uint32) *collector {
	c := &collector{t: t, s: &segment.Segment{Start: start}}
	if t.Type.IDProp < 0 {
		c.id = column.NewBuilder(value.Of(value.String))
	}
	for _, p := range t.Type.Props {
		c.props = append(c.props, column.NewBuilder(p.Type))
	}
	return c
}

// add adds a row of the table. src and dst are its ends if the table is an edge table.
func (c *collector) add(row, src, dst uint32) error {
	if row < c.t.base {
		c.from.Segment = c.t.segment(row)
		return c.addFrom(&c.from, row-c.from.Start, src, dst)
	}
	r := c.t.tailRow(row)
	return c.put(func() string { return r.ID }, func(p int) value.Value { return r.Vals[p] }, r.Claims, r.Stamp, src, dst)
}

// addFrom adds row i of a segment.
func (c *collector) addFrom(r *segment.Reader, i, src, dst uint32) error {
	return c.put(func() string { return r.EntityID(i) }, func(p int) value.Value { return r.Value(i, p) }, r.ClaimsOf(i), r.StampOf(i), src, dst)
}

// put adds a row. It calls the function `id` only if no property is the id.
func (c *collector) put(id func() string, val func(p int) value.Value, claims string, stamp segment.Stamp, src, dst uint32) error {
	if c.id != nil {
		if err := c.id.AppendString(id()); err != nil {
			return err
		}
	}
	for p := range c.props {
		if err := c.props[p].Append(val(p)); err != nil {
			return err
		}
	}
	if claims != "" && c.claims == nil {
		c.claims = column.NewBuilder(value.Of(value.String))
		for range c.s.N {
			if err := c.claims.AppendString(""); err != nil {
				return err
			}
		}
	}
	if c.claims != nil {
		if err := c.claims.AppendString(claims); err != nil {
			return err
		}
	}
	if c.t.Type.Entity == plan.Edge {
		c.s.Src, c.s.Dst = append(c.s.Src, src), append(c.s.Dst, dst)
	}
	c.s.Stamps.Add(stamp)
	c.s.N++
	return nil
}

// bytes returns the approximate memory of the collected rows, in bytes.
func (c *collector) bytes() int64 {
	n := 8 * (len(c.s.Src) + len(c.s.Stamps.Made))
	if c.id != nil {
		n += c.id.Bytes()
	}
	for _, b := range c.props {
		n += b.Bytes()
	}
	if c.claims != nil {
		n += c.claims.Bytes()
	}
	return int64(n)
}

// finish returns the segment.
func (c *collector) finish() *segment.Segment {
	if c.id != nil {
		c.s.ID = c.id.Finish(nil)
	}
	for _, b := range c.props {
		c.s.Props = append(c.s.Props, b.Finish(nil))
	}
	if c.claims != nil {
		c.s.Claims = c.claims.Finish(nil)
	}
	c.s.Stamps.Pack()
	return c.s
}
