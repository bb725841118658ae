package segment

import (
	"encoding/binary"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Draft is a segment that is made column by column, so that only one column at a time must be in
// memory.
type Draft struct {
	N        uint32
	Src, Dst []uint32 // ordinals of an edge's ends
	Stamps   Stamps
	// ID makes the column of ids; nil if a property is the id.
	ID func() (*column.Column, error)
	// Prop makes the column of property p.
	Prop func(p int) (*column.Column, error)
	// Claims makes the column of memberships; nil if no row has one.
	Claims func() (*column.Column, error)
}

// Blocks calls `add` for each block of the segment. The blocks are the same as in [Segment.Blocks],
// except that meta comes last.
func (d *Draft) Blocks(t *schema.Type, add func(name string, data []byte) error) error {
	columns := len(t.Props)
	if d.ID != nil {
		columns++
	}
	if d.Claims != nil {
		columns++
	}
	meta := []byte{format.Current, byte(t.Entity)}
	meta = codec.AppendText(meta, t.Name)
	meta = binary.AppendUvarint(meta, uint64(d.N))
	meta = binary.AppendUvarint(meta, uint64(columns))
	if t.Entity == plan.Edge {
		if err := add("src", column.Bytes(d.Src)); err != nil {
			return err
		}
		if err := add("dst", column.Bytes(d.Dst)); err != nil {
			return err
		}
	}
	i := 0
	put := func(prop string, c *column.Column) error {
		meta = c.AppendDescriptor(codec.AppendText(meta, prop))
		i++
		return c.Blocks("c"+strconv.Itoa(i-1), add)
	}
	if d.ID != nil {
		c, err := d.ID()
		if err == nil {
			err = put("", c)
		}
		if err != nil {
			return err
		}
	}
	for p, prop := range t.Props {
		c, err := d.Prop(p)
		if err == nil {
			err = put(prop.Name, c.Stored())
		}
		if err != nil {
			return err
		}
	}
	if d.Claims != nil {
		c, err := d.Claims()
		if err == nil {
			err = put(claimsName, c)
		}
		if err != nil {
			return err
		}
	}
	meta, err := d.Stamps.append(meta, add)
	if err != nil {
		return err
	}
	return add("meta", meta)
}

// Cold is [Segment.Cold] for a block of the draft.
func (d *Draft) Cold(t *schema.Type, block string) (cold, delta bool) {
	return coldBlock(t, d.ID != nil, block)
}

// Segment makes the segment in memory.
func (d *Draft) Segment(t *schema.Type) (*Segment, error) {
	s := &Segment{N: d.N, Src: d.Src, Dst: d.Dst, Stamps: d.Stamps}
	var err error
	if d.ID != nil {
		if s.ID, err = d.ID(); err != nil {
			return nil, err
		}
	}
	for p := range t.Props {
		c, err := d.Prop(p)
		if err != nil {
			return nil, err
		}
		s.Props = append(s.Props, c)
	}
	if d.Claims != nil {
		if s.Claims, err = d.Claims(); err != nil {
			return nil, err
		}
	}
	return s, nil
}
