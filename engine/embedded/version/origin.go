package version

import (
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
func (o *Origin) open(t *Type, name string, open Opener) (*Segment, error) {
	as, props := o.stored(t)
	s, err := open.Segment(as, name)
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

// SegmentKey tells apart the forms in which a stored segment is read: the one of a type
// that is called so and has these properties.
func SegmentKey(t *Type, name string) string {
	key := appendText(appendText([]byte{byte(t.Entity), byte(t.IDProp + 1)}, name), t.Name)
	for _, p := range t.Props {
		key = append(appendText(key, p.Name), byte(p.Type.Kind))
	}
	return string(key)
}
