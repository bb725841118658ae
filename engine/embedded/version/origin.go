package version

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Origin says how a stored segment of another schema names what a table's type calls
// otherwise, lacks, or has as another type.
type Origin struct {
	Type  string
	Props []OriginProp // by the properties of the table's type
}

// OriginProp is a stored column.
type OriginProp struct {
	Name string // empty when there is none: the property is null
	Kind value.Kind
}

// origin returns how a segment of a table of type t names its columns.
func (s *Segment) origin(t *Type) *Origin {
	if s.Origin != nil {
		return s.Origin
	}
	o := &Origin{Type: t.Name, Props: make([]OriginProp, len(t.Props))}
	for p, prop := range t.Props {
		o.Props[p] = OriginProp{prop.Name, prop.Type.Kind}
	}
	return o
}

// plain reports whether a segment is stored as a table of type t names it.
func (o *Origin) plain(t *Type) bool {
	if o.Type != t.Name {
		return false
	}
	for p, prop := range t.Props {
		if o.Props[p] != (OriginProp{prop.Name, prop.Type.Kind}) {
			return false
		}
	}
	return true
}

func (o *Origin) equal(other *Origin) bool {
	if o == nil || other == nil {
		return o == other
	}
	return o.Type == other.Type && slices.Equal(o.Props, other.Props)
}

// carried returns the segment as one of a table of another type, whose properties were
// at these positions before.
func (s *Segment) carried(from, to *Type, props []int) (*Segment, error) {
	n := *s
	n.Props = make([]*column.Column, len(props))
	o := &Origin{Props: make([]OriginProp, len(props))}
	before := s.origin(from)
	o.Type = before.Type
	for p, q := range props {
		typ := to.Props[p].Type
		if q < 0 {
			n.Props[p] = column.Null(typ, int(s.N))
			continue
		}
		o.Props[p] = before.Props[q]
		n.Props[p] = s.Props[q]
		if s.Props[q].Type().Kind != typ.Kind {
			c, err := s.Props[q].Widened(typ)
			if err != nil {
				return nil, err
			}
			n.Props[p] = c
		}
	}
	// A segment in memory will be stored as the table then names it.
	if n.Origin = o; s.Name == "" || o.plain(to) {
		n.Origin = nil
	}
	return &n, nil
}

// stored returns the type as which a segment is stored that a table of type t has, and
// where the properties of t are in it; t itself when they are in their places.
func (o *Origin) stored(t *Type) (as *Type, props []int) {
	if o == nil {
		return t, nil
	}
	as = &Type{Entity: t.Entity, Name: o.Type, IDProp: -1}
	props = make([]int, len(t.Props))
	for p, op := range o.Props {
		if props[p] = -1; op.Name == "" {
			continue
		}
		props[p] = len(as.Props)
		if p == t.IDProp {
			as.IDProp = len(as.Props)
		}
		typ := t.Props[p].Type
		typ.Kind = op.Kind
		as.Props = append(as.Props, &catalog.Property{Name: op.Name, Type: typ})
	}
	as.names()
	return as, props
}

// open opens a segment of a table of type t.
func (o *Origin) open(t *Type, name string, open func(t *Type, name string) (*Segment, error)) (*Segment, error) {
	as, props := o.stored(t)
	s, err := open(as, name)
	if err != nil || o == nil {
		return s, err
	}
	if s, err = s.carried(as, t, props); err != nil {
		return nil, err
	}
	s.Origin = o
	return s, nil
}

func (o *Origin) append(dst []byte) []byte {
	if o == nil {
		return append(dst, 0)
	}
	dst = appendText(append(dst, 1), o.Type)
	for _, p := range o.Props {
		dst = append(appendText(dst, p.Name), byte(p.Kind))
	}
	return dst
}

// origin reads what append wrote.
func (r *reader) origin(t *Type) *Origin {
	switch f := r.byte(); {
	case f == 0 || r.err != nil:
		return nil
	case f != 1:
		r.fail(fmt.Sprintf("origin %d", f))
		return nil
	}
	o := &Origin{Type: r.text()}
	for _, prop := range t.Props {
		p := OriginProp{r.text(), value.Kind(r.byte())}
		if was := (value.Type{Kind: p.Kind, List: prop.Type.List, Dim: prop.Type.Dim}); r.err == nil && p.Name != "" && !convertible(was, prop.Type) {
			r.fail(fmt.Sprintf("property %s of %s is stored as %s", prop.Name, t.Name, was))
		}
		if r.err == nil && p.Name != "" && slices.ContainsFunc(o.Props, func(x OriginProp) bool { return x.Name == p.Name }) {
			r.fail(fmt.Sprintf("two properties of %s are stored as %s", t.Name, p.Name))
		}
		o.Props = append(o.Props, p)
	}
	if r.err == nil && t.IDProp >= 0 && o.Props[t.IDProp].Name == "" {
		r.fail(fmt.Sprintf("%s is stored without its id", t.Name))
	}
	return o
}

// appendCarry appends a way:
//
//	hard           1 byte, 0 or 1
//	nodes, edges   uvarint count; of each type what it was: uvarint, 0 for none, else
//	               its position + 1; uvarint count of properties, and of each the same
func appendCarry(dst []byte, c *Carry) []byte {
	hard := byte(0)
	if c.Hard {
		hard = 1
	}
	dst = append(dst, hard)
	for _, list := range [][]TypeCarry{c.Nodes, c.Edges} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, tc := range list {
			dst = binary.AppendUvarint(dst, uint64(tc.From+1))
			dst = binary.AppendUvarint(dst, uint64(len(tc.Props)))
			for _, p := range tc.Props {
				dst = binary.AppendUvarint(dst, uint64(p+1))
			}
		}
	}
	return dst
}

func (r *reader) carry() *Carry {
	c := &Carry{Hard: r.byte() == 1}
	for _, list := range []*[]TypeCarry{&c.Nodes, &c.Edges} {
		for range r.count() {
			tc := TypeCarry{From: int(r.ordinal()) - 1, Props: make([]int, r.count())}
			for p := range tc.Props {
				tc.Props[p] = int(r.ordinal()) - 1
			}
			*list = append(*list, tc)
		}
	}
	return c
}

// ChangeFormat is the format number of what a KindSchema record holds behind its header,
// or of the block "change" of a segment that it names:
//
//	where     1 byte, 0: the rest follows; 1: the segment's name, a text (uvarint length,
//	          bytes), follows, and the rest is in the segment
//	format    1 byte
//	schema    its digest, source and catalog encoding, each a text
//	ancestors uvarint count; of each its digest (text) and the way from it, see appendCarry
//	carry     the way from the schema before
//	ops       operations, which name types of the new schema
const ChangeFormat = 1

// AppendChange appends the change that the transaction makes, without where, and what it
// does besides.
func (tx *Txn) AppendChange(dst []byte, encoded func(*Schema) []byte) []byte {
	dst = append(dst, ChangeFormat)
	dst = appendSchema(dst, tx.change.Schema, encoded(tx.change.Schema))
	dst = appendAncestors(dst, tx.change.Schema)
	return tx.AppendOps(appendCarry(dst, tx.change.Carry))
}

// ReadChange reads what AppendChange wrote, and returns the operations.
func ReadChange(b []byte, decode Decoder) (ch Change, ops []byte, err error) {
	r := &reader{b: b}
	if f := r.byte(); r.err == nil && f != ChangeFormat {
		r.fail(fmt.Sprintf("format %d, wanted %d", f, ChangeFormat))
	}
	ch.Schema = readSchema(r, decode)
	if r.err != nil {
		return Change{}, nil, r.err
	}
	r.ancestors(ch.Schema)
	ch.Carry = r.carry()
	return ch, r.b, r.err
}

func appendAncestors(dst []byte, s *Schema) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.Ancestors)))
	for _, a := range s.Ancestors {
		dst = appendCarry(appendText(dst, a.Digest), a.Carry)
	}
	return dst
}

func (r *reader) ancestors(s *Schema) {
	for range r.count() {
		a := Ancestor{Digest: r.text(), Carry: r.carry()}
		if r.err == nil && !(a.Carry.reaches(a.Carry.Nodes, s.Nodes) && a.Carry.reaches(a.Carry.Edges, s.Edges)) {
			r.fail("an ancestor of a schema with other types")
		}
		if r.err != nil {
			return
		}
		s.Ancestors = append(s.Ancestors, a)
	}
}

// ReadWhere reads where a KindSchema record has its change: in the rest, or in the
// segment with a name.
func ReadWhere(b []byte) (segment string, rest []byte, err error) {
	r := &reader{b: b}
	switch w := r.byte(); {
	case r.err != nil || w == 0:
	case w == 1:
		segment = r.text()
	default:
		r.fail(fmt.Sprintf("where %d", w))
	}
	return segment, r.b, r.err
}

// SegmentKey tells apart the forms in which a stored segment is read: the one of a type
// that is called so and has these properties.
func SegmentKey(t *Type, name string) string {
	key := appendText(appendText([]byte{byte(t.Entity), byte(t.IDProp + 1)}, name), t.Name)
	for _, p := range t.Props {
		key = append(appendText(key, p.Name), byte(p.Type.Kind))
	}
	return string(key)
}
