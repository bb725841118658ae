// Package segment has immutable runs of the rows of one type, stored as columns.
package segment

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// A segment of rows has these blocks:
//
//	meta        format   1 byte
//	            type     entity (1 byte, 0 node, 1 edge), name (text)
//	            rows     uvarint
//	            columns  uvarint count; for each its property's name (text; empty for
//	                     the id, "@sources" for the memberships) and its descriptor,
//	                     see package column
//	            stamps   1 byte, see noStamps; of sameStamp, its two numbers (uvarints) follow; not before format 14
//	src, dst    ordinals of an edge's ends, 4 bytes each
//	made, changed
//	            the stamps of the rows, 4 bytes each; only with listStamps
//	c0.v …      the blocks of column 0, and so on

// Segment is an immutable run of rows, stored as columns.
type Segment struct {
	Name     string           // name in the store; empty for a segment in memory
	Start    uint32           // row number of its first row
	N        uint32           // number of rows
	ID       *column.Column   // nil if a property is the id
	Src, Dst []uint32         // only of a segment built in memory; see Ends
	Props    []*column.Column // by property of the table's type
	Claims   *column.Column   // texts of the memberships; nil if no row has one
	Origin   *Origin          // nil if the names and kinds stored are those of the table's type
	Stamps   Stamps           // empty if a file has the lists, see StampOf
	ends     *pair            // only of a stored segment
	listed   *pair            // the stamps in a file
	File     string           // only of a stored segment
	copies   *copies          // only of a stored segment of nodes
}

// Blocks calls `add` for each block of the segment, in the order above.
func (s *Segment) Blocks(t *schema.Type, add func(name string, data []byte) error) error {
	names, cols := s.Columns(t)
	meta := []byte{format.Current, byte(t.Entity)}
	meta = codec.AppendText(meta, t.Name)
	meta = binary.AppendUvarint(meta, uint64(s.N))
	meta = binary.AppendUvarint(meta, uint64(len(cols)))
	for i, c := range cols {
		meta = codec.AppendText(meta, names[i])
		meta = c.AppendDescriptor(meta)
	}
	stamps := s.allStamps()
	meta, err := stamps.append(meta, add)
	if err != nil {
		return err
	}
	if err := add("meta", meta); err != nil {
		return err
	}
	if t.Entity == plan.Edge {
		src, dst := s.Ends()
		if err := add("src", column.Bytes(src)); err != nil {
			return err
		}
		if err := add("dst", column.Bytes(dst)); err != nil {
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

// Cold reports whether a block is seldom read: texts that are neither a key nor in a
// dictionary, vectors, stamps, and the ids and ends of edges, which queries find through the
// indexes. The result `delta` says that the numbers of the block ascend.
func (s *Segment) Cold(t *schema.Type, block string) (cold, delta bool) {
	return coldBlock(t, s.ID != nil, block)
}

// coldBlock does the work of [Segment.Cold]. The argument hasID says that the first column holds
// the ids.
func coldBlock(t *schema.Type, hasID bool, block string) (cold, delta bool) {
	if block == "src" || block == "dst" || slices.Contains(stampBlocks[:], block) {
		return true, false
	}
	name, suffix, ok := strings.Cut(block, ".")
	i, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
	if !ok || err != nil {
		return false, false
	}
	if hasID {
		if i--; i < 0 {
			return t.Entity == plan.Edge, suffix == "o"
		}
	}
	if i >= len(t.Props) || slices.Contains(t.Key, i) || i == t.IDProp {
		return false, false
	}
	switch typ := t.Props[i].Type; {
	case typ.Kind == value.Vector && !typ.List:
		return suffix == "d", false
	case typ.Kind == value.String && !typ.List:
		return suffix == "d" || suffix == "o", suffix == "o"
	}
	return false, false
}

// Open opens a segment of type t. The segment keeps src. Columns are read on first use, and
// single values in pieces; this use throws the faults of the data, see package corruption. The
// error of Open is a *engine.Corrupt or an error of src.
func Open(t *schema.Type, name string, src column.Source) (*Segment, error) {
	corrupt := func(text string, args ...any) error {
		return &engine.Corrupt{Object: src.Name(), Detail: fmt.Sprintf(text, args...)}
	}
	meta, err := src.Block("meta")
	if err != nil {
		return nil, err
	}
	r := &codec.Reader{Rest: meta}
	written := r.Byte()
	if err := format.Rows.Check(src.Name(), "", uint32(written)); r.Err == nil && err != nil {
		return nil, err
	}
	entity, typeName := r.Byte(), r.Text()
	s := &Segment{Name: name, N: r.Ordinal(), File: src.Name(), copies: newCopies(t)}
	n := r.Count()
	if r.Err != nil {
		return nil, corrupt("block meta is truncated")
	}
	if entity != byte(t.Entity) || typeName != t.Name {
		return nil, corrupt("the segment holds %s, expected %s", typeName, t.Name)
	}
	if t.Entity == plan.Edge {
		s.ends = newPair(src, [2]string{"src", "dst"}, s.N)
	}
	s.Props = make([]*column.Column, len(t.Props))
	for i := range n {
		prop := r.Text()
		if r.Err != nil {
			return nil, corrupt("block meta is truncated")
		}
		c, rest, err := column.Decode(r.Rest, "c"+strconv.Itoa(i), src)
		if err != nil {
			return nil, err
		}
		r.Rest = rest
		if c.Len() != int(s.N) {
			return nil, corrupt("column %s has %d values, expected %d", prop, c.Len(), s.N)
		}
		switch p, ok := t.Prop(prop); {
		case prop == "":
			s.ID = c
		case prop == claimsName:
			if got := c.Type(); got.Kind != value.String || got.List {
				return nil, corrupt("column %s is of type %s, expected String", prop, c.Type())
			}
			s.Claims = c
		case ok:
			want := t.Props[p].Type
			if got := c.Type(); got.Kind != want.Kind || got.List != want.List || got.Dim != want.Dim {
				return nil, corrupt("column %s is of type %s, expected %s", prop, got, want)
			}
			s.Props[p] = c
		}
	}
	if written >= 14 {
		if s.openStamps(r, src); r.Err != nil {
			return nil, corrupt("block meta does not say which stamps the rows have")
		}
	}
	for p, c := range s.Props {
		if c == nil {
			return nil, corrupt("the segment has no column for %s", t.Props[p].Name)
		}
	}
	if s.ID == nil && t.IDProp < 0 {
		return nil, corrupt("the segment has no column for the id")
	}
	return s, nil
}

// Ends returns the node ordinals at the ends of the segment's edges; nil for a segment of
// nodes.
func (s *Segment) Ends() (src, dst []uint32) {
	if s.ends == nil {
		return s.Src, s.Dst
	}
	return s.ends.all()
}

// EndsOf returns the node ordinals at the ends of edge i of the segment.
func (s *Segment) EndsOf(i uint32) (src, dst uint32) {
	if s.ends == nil {
		return s.Src[i], s.Dst[i]
	}
	return s.ends.at(i)
}

// MaxBytes is the maximum size of a segment in bytes. There is a limit because each column of a
// segment is made in memory.
const MaxBytes = 256 << 20

// endBytes returns the size of the ends of the segment's edges in bytes.
func (s *Segment) endBytes() int64 {
	if s.ends == nil && s.Src == nil {
		return 0
	}
	return 8 * int64(s.N)
}

// StoredBytes returns the approximate size of the rows of a segment in bytes. It reads no rows.
func (s *Segment) StoredBytes() int64 {
	n := s.endBytes() + s.stampBytes()
	if s.ID != nil {
		n += s.ID.StoredBytes()
	}
	for _, c := range s.Props {
		n += c.StoredBytes()
	}
	if s.Claims != nil {
		n += s.Claims.StoredBytes()
	}
	return n
}

// Bytes returns an upper bound of the memory that the rows take in a builder, in bytes.
func (s *Segment) Bytes() int64 {
	n := s.endBytes() + s.stampBytes()
	if s.ID != nil {
		n += s.ID.Bytes()
	}
	for _, c := range s.Props {
		n += c.Bytes()
	}
	if s.Claims != nil {
		n += s.Claims.Bytes()
	}
	return n
}

// claimsName is the stored name of the column Claims, which no property can have.
const claimsName = "@sources"

// ClaimsOf returns the text of the membership in row i.
func (s *Segment) ClaimsOf(i uint32) string {
	if s.Claims == nil {
		return ""
	}
	return s.Claims.Str(i)
}

// Columns returns the segment's columns with their stored names; the id has the name "".
func (s *Segment) Columns(t *schema.Type) (names []string, cols []*column.Column) {
	if s.ID != nil {
		names, cols = append(names, ""), append(cols, s.ID)
	}
	for p, c := range s.Props {
		names, cols = append(names, t.Props[p].Name), append(cols, c.Stored())
	}
	if s.Claims != nil {
		names, cols = append(names, claimsName), append(cols, s.Claims)
	}
	return names, cols
}
