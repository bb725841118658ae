package version

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Collect makes a segment in memory of the rows [start, end), dead rows included. The error is a
// *engine.TooLarge.
func (t *Rows) Collect(start, end uint32) (*Segment, error) {
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
	s     *Segment
	id    *column.Builder   // nil if a property is the id
	props []*column.Builder // by property: the values
	from  rowReader         // reads the rows of the table
}

// collector returns a collector of rows. The segment of the collector starts at row number `start`.
func (t *Rows) collector(start uint32) *collector {
	c := &collector{t: t, s: &Segment{Start: start}}
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
	return c.put(func() string { return r.ID }, func(p int) value.Value { return r.Vals[p] }, src, dst)
}

// addFrom adds row i of a segment.
func (c *collector) addFrom(r *rowReader, i, src, dst uint32) error {
	return c.put(func() string { return r.id(i) }, func(p int) value.Value { return r.value(i, p) }, src, dst)
}

// put adds a row. It calls the function `id` only if no property is the id.
func (c *collector) put(id func() string, val func(p int) value.Value, src, dst uint32) error {
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
	if c.t.Type.Entity == plan.Edge {
		c.s.Src, c.s.Dst = append(c.s.Src, src), append(c.s.Dst, dst)
	}
	c.s.N++
	return nil
}

// bytes returns the approximate memory of the collected rows, in bytes.
func (c *collector) bytes() int64 {
	n := 8 * len(c.s.Src)
	if c.id != nil {
		n += c.id.Bytes()
	}
	for _, b := range c.props {
		n += b.Bytes()
	}
	return int64(n)
}

// finish returns the segment.
func (c *collector) finish() *Segment {
	if c.id != nil {
		c.s.ID = c.id.Finish(nil)
	}
	for _, b := range c.props {
		c.s.Props = append(c.s.Props, b.Finish(nil))
	}
	return c.s
}
