package version

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// SegmentFormat is the format number of a segment's content. Its blocks:
//
//	meta        format   1 byte
//	            type     entity (1 byte, 0 node, 1 edge), name (text)
//	            rows     uvarint
//	            columns  uvarint count; of each its property's name (text; empty for
//	                     the id) and its descriptor, see package column
//	src, dst    ordinals of an edge's ends, 4 bytes each
//	c0.v …      the blocks of column 0, and so on
const SegmentFormat = 1

// Blocks hands the blocks of the segment to add.
func (s *Segment) Blocks(t *Type, add func(name string, data []byte) error) error {
	names, cols := s.columns(t)
	meta := []byte{SegmentFormat, byte(t.Entity)}
	meta = appendText(meta, t.Name)
	meta = binary.AppendUvarint(meta, uint64(s.N))
	meta = binary.AppendUvarint(meta, uint64(len(cols)))
	for i, c := range cols {
		meta = appendText(meta, names[i])
		meta = c.AppendDescriptor(meta)
	}
	if err := add("meta", meta); err != nil {
		return err
	}
	if s.Src != nil {
		if err := add("src", column.Bytes(s.Src)); err != nil {
			return err
		}
		if err := add("dst", column.Bytes(s.Dst)); err != nil {
			return err
		}
	}
	for i, c := range cols {
		if err := c.Blocks("c"+strconv.Itoa(i), add); err != nil {
			return err
		}
	}
	return nil
}

// ReadSegment reads a segment of a type from its blocks, which it aliases. The error
// is a *engine.Corrupt, or get's.
func ReadSegment(t *Type, name string, get func(name string) ([]byte, error)) (*Segment, error) {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: "segment " + name, Detail: fmt.Sprintf(format, args...)}
	}
	meta, err := get("meta")
	if err != nil {
		return nil, err
	}
	r := &reader{b: meta}
	if f := r.byte(); r.err == nil && f != SegmentFormat {
		return nil, corrupt("format %d, wanted %d", f, SegmentFormat)
	}
	entity, typeName := r.byte(), r.text()
	s := &Segment{Name: name, N: r.ordinal()}
	n := r.count()
	if r.err != nil {
		return nil, r.err
	}
	if entity != byte(t.Entity) || typeName != t.Name {
		return nil, corrupt("it holds %s, wanted %s", typeName, t.Name)
	}
	if t.Entity == 1 {
		for _, end := range []struct {
			name string
			to   *[]uint32
		}{{"src", &s.Src}, {"dst", &s.Dst}} {
			b, err := get(end.name)
			if err != nil {
				return nil, err
			}
			a, ok := column.Array[uint32](b, int(s.N))
			if !ok {
				return nil, corrupt("block %s has %d bytes, wanted %d rows", end.name, len(b), s.N)
			}
			*end.to = a
		}
	}
	s.Props = make([]*column.Column, len(t.Props))
	for i := range n {
		prop := r.text()
		if r.err != nil {
			return nil, r.err
		}
		c, rest, err := column.Decode(r.b, "c"+strconv.Itoa(i), get)
		if err != nil {
			return nil, err
		}
		r.b = rest
		if c.Len() != int(s.N) {
			return nil, corrupt("column %s has %d values, wanted %d", prop, c.Len(), s.N)
		}
		if prop == "" {
			s.ID = c
		} else if p, ok := t.Prop(prop); ok {
			want := t.Props[p].Type
			if got := c.Type(); got.Kind != want.Kind || got.List != want.List || got.Dim != want.Dim {
				return nil, corrupt("column %s is of type %s, wanted %s", prop, got, want)
			}
			s.Props[p] = c
		}
	}
	for p, c := range s.Props {
		if c == nil {
			return nil, corrupt("it has no column for %s", t.Props[p].Name)
		}
	}
	if s.ID == nil && t.IDProp < 0 {
		return nil, corrupt("it has no column for the id")
	}
	return s, nil
}

// Collect makes a segment of the rows from start up to end, alive or not, in memory.
func (t *Table) Collect(start, end uint32) (*Segment, error) {
	s := &Segment{Start: start, N: end - start}
	var id *column.Builder
	if t.Type.IDProp < 0 {
		id = column.NewBuilder(value.Of(value.String))
	}
	props := make([]*column.Builder, len(t.Type.Props))
	for p := range props {
		props[p] = column.NewBuilder(t.Type.Props[p].Type)
	}
	for row := start; row < end; row++ {
		if id != nil {
			if err := id.AppendString(t.idAt(row)); err != nil {
				return nil, err
			}
		}
		for p := range props {
			if err := props[p].Append(t.valueAt(row, p)); err != nil {
				return nil, err
			}
		}
		if t.Type.Entity == 1 {
			src, dst := t.endsAt(row)
			s.Src, s.Dst = append(s.Src, src), append(s.Dst, dst)
		}
	}
	if id != nil {
		s.ID = id.Finish(nil)
	}
	for _, b := range props {
		s.Props = append(s.Props, b.Finish(nil))
	}
	return s, nil
}

func (s *Segment) columns(t *Type) (names []string, cols []*column.Column) {
	if s.ID != nil {
		names, cols = append(names, ""), append(cols, s.ID)
	}
	for p, c := range s.Props {
		names, cols = append(names, t.Props[p].Name), append(cols, c)
	}
	return names, cols
}
