package segment

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Origin says how a segment that was stored under another schema names its type and
// columns, where these differ from the table's type.
type Origin struct {
	Type  string       // name of the type in the segment
	Props []OriginProp // by the table type's properties
}

// OriginProp is a stored column.
type OriginProp struct {
	Name string     // empty if there is none: the property is null
	Kind value.Kind // kind of the stored values
}

// origin returns the type name and columns under which a segment of a table of type t is
// stored.
func (s *Segment) origin(t *schema.Type) *Origin {
	if s.Origin != nil {
		return s.Origin
	}
	o := &Origin{Type: t.Name, Props: make([]OriginProp, len(t.Props))}
	for p, prop := range t.Props {
		o.Props[p] = OriginProp{prop.Name, prop.Type.Kind}
	}
	return o
}

// plain reports whether the stored names and kinds are those of type t.
func (o *Origin) plain(t *schema.Type) bool {
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

// Equal reports whether both origins give the same names. Each may be nil.
func (o *Origin) Equal(other *Origin) bool {
	if o == nil || other == nil {
		return o == other
	}
	return o.Type == other.Type && slices.Equal(o.Props, other.Props)
}

// Carried returns the segment for a table that changes its type from `from` to `to`. A value that `to` does not have
// becomes null. If tc does more than widen a property, or gives one a default, the segment has to be stored anew, since a reader could not
// tell what was done to its stored values.
func (s *Segment) Carried(from, to *schema.Type, tc schema.TypeCarry) (*Segment, error) {
	n := *s
	n.Props = make([]*column.Column, len(tc.Props))
	if s.copies != nil {
		n.copies = newCopies(to)
	}
	o := &Origin{Props: make([]OriginProp, len(tc.Props))}
	before := s.origin(from)
	o.Type = before.Type
	for p, q := range tc.Props {
		typ := to.Props[p].Type
		if q < 0 {
			start := tc.Start(to, p)
			if start.IsNull() {
				n.Props[p] = column.Null(typ, int(s.N))
				continue
			}
			c, err := column.Repeat(typ, start, int(s.N))
			if err != nil {
				return nil, err
			}
			n.Props[p], n.Name = c, ""
			continue
		}
		o.Props[p] = before.Props[q]
		n.Props[p] = s.Props[q]
		if !tc.Keeps(from, to, p) {
			c, err := s.Props[q].Mapped(typ, func(v value.Value) value.Value {
				v, _ = tc.Cast(to, p, v)
				return v
			})
			if err != nil {
				return nil, err
			}
			n.Props[p] = c
		}
		if !tc.Widens(from, to, p) {
			n.Name = ""
		}
	}
	// A segment in memory will be stored under the names of the table's type.
	if n.Origin = o; n.Name == "" || o.plain(to) {
		n.Origin = nil
	}
	return &n, nil
}

// RenameClaims replaces the texts of the memberships by those that f returns. If one differs, the segment has to be stored
// anew. The error is a *engine.TooLarge.
func (s *Segment) RenameClaims(f func(text string) string) error {
	if s.Claims == nil {
		return nil
	}
	b, now, changed := column.NewBuilder(s.Claims.Type()), map[string]string{}, false
	for i := range s.N {
		text := s.Claims.Str(i)
		is, known := now[text]
		if !known {
			text = strings.Clone(text) // the column may be in a file that is unmapped later
			is = f(text)
			now[text] = is
			changed = changed || is != text
		}
		if err := b.AppendString(is); err != nil {
			return err
		}
	}
	if changed {
		s.Claims, s.Name, s.Origin = b.Finish(nil), "", nil
	}
	return nil
}

// StoredAs returns the type under which a segment of a table of type t is stored, and the
// positions of t's properties in it. For a nil origin it returns t and nil.
func (o *Origin) StoredAs(t *schema.Type) (as *schema.Type, props []int) {
	if o == nil {
		return t, nil
	}
	as = &schema.Type{Entity: t.Entity, Name: o.Type, IDProp: -1}
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
	as.IndexNames()
	return as, props
}

// Open opens a segment of a table of type t.
func (o *Origin) Open(t *schema.Type, name string, open Opener) (*Segment, error) {
	as, props := o.StoredAs(t)
	s, err := open.Segment(as, name)
	if err != nil || o == nil {
		return s, err
	}
	if s, err = s.Carried(as, t, schema.TypeCarry{Props: props, Stored: true}); err != nil {
		return nil, err
	}
	s.Origin = o
	return s, nil
}

// Append appends the encoding of the origin to dst. The origin may be nil.
func (o *Origin) Append(dst []byte) []byte {
	if o == nil {
		return append(dst, 0)
	}
	dst = codec.AppendText(append(dst, 1), o.Type)
	for _, p := range o.Props {
		dst = append(codec.AppendText(dst, p.Name), byte(p.Kind))
	}
	return dst
}

// ReadOrigin reads an origin that append wrote.
func ReadOrigin(r *codec.Reader, t *schema.Type) *Origin {
	switch f := r.Byte(); {
	case f == 0 || r.Err != nil:
		return nil
	case f != 1:
		r.Fail(fmt.Sprintf("the origin of a segment has the unknown code %d", f))
		return nil
	}
	o := &Origin{Type: r.Text()}
	for _, prop := range t.Props {
		p := OriginProp{r.Text(), value.Kind(r.Byte())}
		if was := (value.Type{Kind: p.Kind, List: prop.Type.List, Dim: prop.Type.Dim}); r.Err == nil && p.Name != "" && !schema.Convertible(was, prop.Type) {
			r.Fail(fmt.Sprintf("property %s of %s is stored with the type %s, which cannot be converted", prop.Name, t.Name, was))
		}
		if r.Err == nil && p.Name != "" && slices.ContainsFunc(o.Props, func(x OriginProp) bool { return x.Name == p.Name }) {
			r.Fail(fmt.Sprintf("two properties of %s are stored under the name %s", t.Name, p.Name))
		}
		o.Props = append(o.Props, p)
	}
	if r.Err == nil && t.IDProp >= 0 && o.Props[t.IDProp].Name == "" {
		r.Fail(fmt.Sprintf("%s is stored without its id", t.Name))
	}
	return o
}

// CacheKey returns a key for the cache of opened segments. It differs for each form in
// which a stored segment is read: for each type name and list of properties. It leaves out whether a
// property is a list, and its length: no change of a type that keeps stored values changes these; see
// [schema.Convertible].
func CacheKey(t *schema.Type, name string) string {
	key := binary.AppendUvarint([]byte{byte(t.Entity)}, uint64(t.IDProp+1)) // 0 without one
	key = codec.AppendText(codec.AppendText(key, name), t.Name)
	for _, p := range t.Props {
		key = append(codec.AppendText(key, p.Name), byte(p.Type.Kind))
	}
	return string(key)
}

// Opener opens the stored segments that a manifest names.
type Opener interface {
	// Segment opens a segment with rows of type t.
	Segment(t *schema.Type, name string) (*Segment, error)
	// Source opens any other segment.
	Source(name string) (column.Source, error)
}
