package schema

import (
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Carry says how a schema takes over the entities of a previous schema: for each type and property
// of the new schema, in schema order, it gives the corresponding type or property of the previous
// schema.
type Carry struct {
	Nodes, Edges []TypeCarry // by type of the new schema
	// Hard forbids further use of any stored segment that holds a dropped property.
	Hard bool
}

// TypeCarry is the carry of one type.
type TypeCarry struct {
	From  int   // position of the previous type; -1 if the type starts without entities
	Props []int // positions of the previous properties; -1 if there is none, see Start
	// Via holds, by position of a property, the types that its values had between the two schemas, oldest first. A cast
	// by way of another type may have another result: the text 2026-01-02 is a Date, which is a DateTime. Via lacks the
	// properties that were not cast.
	Via map[int][]ScalarType
	// Starts says, by position of a property without a previous one, what its rows got when the property was added, if the
	// property itself, as it is now, does not say that.
	Starts map[int]Start
	// Stored says that the carry reads rows as they are stored: a property without a previous one is null, whatever its
	// default is.
	Stored bool
}

// Start is what the rows got when a property was added.
type Start struct {
	Value    value.Value // the default that the property had, or null
	Unfilled bool        // the expression of the present @backfill gave no values
}

// Start returns the value that property p of t has in the rows of the previous type, which has no such property: the default
// that the property had when it was added, or null.
func (tc *TypeCarry) Start(t *Type, p int) value.Value {
	if tc.Stored {
		return value.Null
	}
	if s, ok := tc.Starts[p]; ok {
		return s.Value
	}
	return t.Default(p)
}

// Fills reports whether rows got values from the present @backfill of property p of t when the property was added.
func (tc *TypeCarry) Fills(t *Type, p int) bool {
	return tc.From >= 0 && tc.Props[p] < 0 && t.Props[p].Backfill != nil && !tc.Starts[p].Unfilled
}

// setStart sets the value that the rows got when property p of t was added, and whether they also got values from its
// present @backfill. A required property whose rows all got values from a @backfill starts as its present default, which
// rows without the property need.
func (tc *TypeCarry) setStart(t *Type, p int, v value.Value, filled bool) {
	if v.IsNull() && !t.Props[p].Type.Nullable {
		v = t.Default(p)
	}
	s := Start{v, t.Props[p].Backfill != nil && !filled}
	if value.Equal(v, t.Default(p)) && !s.Unfilled {
		return
	}
	if tc.Starts == nil {
		tc.Starts = map[int]Start{}
	}
	tc.Starts[p] = s
}

// Default returns the value of property p for an entity that a write gives none, or null.
func (t *Type) Default(p int) value.Value {
	if d := t.Props[p].Default; d != nil {
		return d.Value
	}
	return value.Null
}

// Ancestor is an earlier schema from which another one descends.
type Ancestor struct {
	Digest string // digest of the schema
	Carry  *Carry // from the ancestor to the descendant
}

// Change is a change to another schema.
type Change struct {
	Schema *Schema // the new schema
	Carry  *Carry  // how the new schema takes over the entities
}

// NewCarry returns the carry between two schemas. It takes the renames, and the properties whose vectors are removed, from
// `steps`, the steps of the schema change. The function `anew` reports whether a type starts without entities.
func NewCarry(from, to *Schema, steps []catalog.Step, anew func(t *Type) bool) *Carry {
	type member struct {
		entity plan.Entity
		typ    string
		prop   string // "" for the type itself
	}
	was := map[member]string{}  // the earlier names of the renamed members, by the new ones
	remade := map[member]bool{} // the properties whose vectors are removed
	for _, s := range steps {
		e := plan.Node
		if s.Kind == catalog.EdgeType {
			e = plan.Edge
		}
		switch s.Code {
		case catalog.RenameNode, catalog.RenameEdge:
			was[member{e, s.Type, ""}] = s.Was
		case catalog.RenameProperty:
			was[member{e, s.Type, s.Property}] = s.Was
		}
		if s.Remakes() {
			remade[member{e, s.Type, s.Property}] = true
		}
	}
	name := func(m member, now string) string {
		if old, ok := was[m]; ok {
			return old
		}
		return now
	}
	carry := func(types []*Type) (out []TypeCarry) {
		for _, t := range types {
			tc := TypeCarry{From: -1, Props: make([]int, len(t.Props))}
			old := from.Type(t.Entity, name(member{t.Entity, t.Name, ""}, t.Name))
			if t.Of != nil { // a reference type has the name of its interface, which no step renames
				old = from.Reference(t.Of.Type.Name)
			}
			if old != nil && !anew(t) {
				tc.From = old.Index
			}
			for p, prop := range t.Props {
				tc.Props[p] = -1
				if tc.From < 0 || remade[member{t.Entity, t.Name, prop.Name}] {
					continue
				}
				if q, ok := old.Prop(name(member{t.Entity, t.Name, prop.Name}, prop.Name)); ok {
					tc.Props[p] = q
				}
			}
			out = append(out, tc)
		}
		return out
	}
	c := &Carry{Nodes: carry(to.Nodes), Edges: carry(to.Edges)}
	c.clearUnjoined(from, to)
	return c
}

// clearUnjoined makes an edge type start without edges if no node at a previous end can be at the present one.
func (c *Carry) clearUnjoined(from, to *Schema) {
	for i := range c.Edges {
		e := &c.Edges[i]
		if e.From < 0 {
			continue
		}
		if !c.joins(from, to, from.Edges[e.From], to.Edges[i]) {
			e.From = -1
		}
		if e.From < 0 {
			for p := range e.Props {
				e.Props[p] = -1
			}
		}
	}
}

// joins reports whether edges of the previous type `old` can be edges of the type `now`.
func (c *Carry) joins(from, to *Schema, old, now *Type) bool {
	for _, target := range []bool{false, true} {
		was, is := from.EndType(old, target), to.EndType(now, target)
		if !c.SameEnd(was, is) && len(c.AtEnd(from, to, was, is)) == 0 {
			return false
		}
	}
	return true
}

// SameEnd reports whether what is at an end of an edge type, `is`, is what was there before the schema change, `was`: the same
// node type or the reference type of the same interface. Then the ends of edges keep their ordinals.
func (c *Carry) SameEnd(was, is *Type) bool { return c.Nodes[is.Index].From == was.Index }

// Moves reports whether an end of an edge type changed, so that its edges need other ends.
func (c *Carry) Moves(from, to *Schema, old, now *Type) bool {
	return !c.SameEnd(from.EndType(old, false), to.EndType(now, false)) || !c.SameEnd(from.EndType(old, true), to.EndType(now, true))
}

// AtEnd maps the names of the node types that could be at an end of an edge type before a schema change to their present names.
// It lacks the types that cannot be there any more. The types at the end are `was` and `is`.
func (c *Carry) AtEnd(from, to *Schema, was, is *Type) MemberNames {
	names := MemberNames{}
	for i, tc := range c.Nodes[:to.Declared()] {
		if tc.From < 0 {
			continue
		}
		if before, now := from.Nodes[tc.From], to.Nodes[i]; was.fits(before) && is.fits(now) {
			names[before.Name] = now.Name
		}
	}
	return names
}

// fits reports whether an entity of a node type is at an end of type t, or a reference there can stand for it.
func (t *Type) fits(node *Type) bool { return t == node || t.Of != nil && t.Implements(node) }

// Ends returns the number of node types of which nodes can be at an end of type t.
func (t *Type) Ends() int {
	if t.Of == nil {
		return 1
	}
	return len(t.Of.Members)
}

// compose returns the carry that has the effect of c, followed by the effect of `next`. c leads to the schema `middle`,
// and `next` from there to the schema `to`.
func (c *Carry) compose(middle, to *Schema, next *Carry) *Carry {
	chain := func(between, types []*Type, first, second []TypeCarry) []TypeCarry {
		out := make([]TypeCarry, len(second))
		for i, tc := range second {
			out[i] = TypeCarry{From: -1, Props: slices.Repeat([]int{-1}, len(tc.Props))}
			if tc.From < 0 || first[tc.From].From < 0 {
				continue
			}
			before := first[tc.From]
			out[i].From = before.From
			for p, q := range tc.Props {
				switch {
				case q < 0:
					out[i].setStart(types[i], p, tc.Start(types[i], p), tc.Fills(types[i], p))
					continue
				case before.Props[q] < 0:
					was, is := between[tc.From].Props[q].Backfill, types[i].Props[p].Backfill
					filled := before.Fills(between[tc.From], q) && is != nil && was.Text == is.Text
					start, _ := tc.Cast(types[i], p, before.Start(between[tc.From], q))
					out[i].setStart(types[i], p, start, filled)
					continue
				}
				out[i].Props[p] = before.Props[q]
				via := append(slices.Clone(before.Via[q]), scalarOf(between[tc.From].Props[q].Type))
				out[i].setVia(p, append(via, tc.Via[p]...), scalarOf(types[i].Props[p].Type))
			}
		}
		return out
	}
	return &Carry{Nodes: chain(middle.Nodes, to.Nodes, c.Nodes, next.Nodes), Edges: chain(middle.Edges, to.Edges, c.Edges, next.Edges), Hard: c.Hard || next.Hard}
}

// setVia sets the types that the values of property p had before they got the type `last`.
func (tc *TypeCarry) setVia(p int, via []ScalarType, last ScalarType) {
	via = slices.Compact(via)
	if via[len(via)-1] == last {
		via = via[:len(via)-1]
	}
	if len(via) == 0 {
		return
	}
	if tc.Via == nil {
		tc.Via = map[int][]ScalarType{}
	}
	tc.Via[p] = via
}

// Cast converts a value of a property of the previous type to a value of property p of t. It reports false, and returns
// null, if the property's type does not have the value exactly.
func (tc *TypeCarry) Cast(t *Type, p int, v value.Value) (value.Value, bool) {
	is := t.Props[p].Type
	for _, s := range append(slices.Clone(tc.Via[p]), scalarOf(is)) {
		var ok bool
		if v, ok = value.Cast(v, value.Type{Kind: s.Kind, Dim: s.Dim, List: is.List}); !ok {
			return value.Null, false
		}
	}
	return v, true
}

// Keeps reports whether property p of t has the values of its previous property, which is one of the previous type `old`,
// unchanged.
func (tc *TypeCarry) Keeps(old, t *Type, p int) bool {
	return tc.Props[p] >= 0 && tc.Via[p] == nil && scalarOf(old.Props[tc.Props[p]].Type) == scalarOf(t.Props[p].Type)
}

// Check checks that the carry fits the two schemas. The error is a *engine.Corrupt.
func (c *Carry) Check(from, to *Schema) error {
	bad := func(format string, args ...any) error {
		return &engine.Corrupt{Object: "schema change", Detail: fmt.Sprintf(format, args...)}
	}
	check := func(carries []TypeCarry, olds, news []*Type) error {
		if len(carries) != len(news) {
			return bad("the schema change maps %d types, expected %d", len(carries), len(news))
		}
		for i, tc := range carries {
			now := news[i]
			if len(tc.Props) != len(now.Props) || tc.From >= len(olds) {
				return bad("type %s maps %d properties, expected %d, or its old type %d does not exist", now.Name, len(tc.Props), len(now.Props), tc.From)
			}
			if tc.From < 0 {
				continue
			}
			old := olds[tc.From]
			if (old.Of == nil) != (now.Of == nil) {
				return bad("type %s takes its entities from %s, which is not of the same kind", now.Name, old.Name)
			}
			if (old.IDProp < 0) != (now.IDProp < 0) || now.IDProp >= 0 && tc.Props[now.IDProp] != old.IDProp {
				return bad("type %s takes its ids from an old type that has another key", now.Name)
			}
			for p, q := range tc.Props {
				if q >= len(old.Props) || q >= 0 && !tc.castable(old.Props[q].Type, now.Props[p].Type, p) {
					return bad("property %s of %s takes its values from an old property that does not exist or has a type that cannot be converted", now.Props[p].Name, now.Name)
				}
			}
		}
		return nil
	}
	if err := check(c.Nodes, from.Nodes, to.Nodes); err != nil {
		return err
	}
	// Edges may come from a type with other ends: several changes together can leave no node type that fits both, and then each
	// edge is a violation.
	return check(c.Edges, from.Edges, to.Edges)
}

// reaches reports whether the lists `part` and `types` have the same length, and the types at each
// position have the same number of properties.
func (c *Carry) reaches(part []TypeCarry, types []*Type) bool {
	return slices.EqualFunc(part, types, func(tc TypeCarry, t *Type) bool { return len(tc.Props) == len(t.Props) })
}

// castable reports whether some values of the type `from` can be taken over as values of property p, of type `to`.
func (tc *TypeCarry) castable(from, to value.Type, p int) bool {
	for was, is := range tc.steps(from, p, to) {
		if was.CastsTo(is) == value.CastsNone {
			return false
		}
	}
	return from.List == to.List
}

// ScalarType is the type of a scalar, or of the elements of a list, without its enum.
type ScalarType struct {
	Kind value.Kind
	Dim  int // see value.Type
}

// scalarOf returns the type of a scalar, or of the elements of a list.
func scalarOf(t value.Type) ScalarType { return ScalarType{t.Kind, t.Dim} }

// steps yields the types between which values of property p are cast, or their elements, one after another, from the first
// type to the last one.
func (tc *TypeCarry) steps(first value.Type, p int, last value.Type) iter.Seq2[value.Type, value.Type] {
	return func(yield func(was, is value.Type) bool) {
		was := scalarOf(first)
		for _, is := range append(slices.Clone(tc.Via[p]), scalarOf(last)) {
			if !yield(value.Type{Kind: was.Kind, Dim: was.Dim}, value.Type{Kind: is.Kind, Dim: is.Dim}) {
				return
			}
			was = is
		}
	}
}

// Widens reports whether property p of t has the numbers of its previous property, which is one of the type `old`: whether
// its values are unchanged but for a wider kind. Then they can be taken from that property at any later time.
func (tc *TypeCarry) Widens(old, t *Type, p int) bool {
	for was, is := range tc.steps(old.Props[tc.Props[p]].Type, p, t.Props[p].Type) {
		if !was.Equal(is) && !catalog.Widens(was, is) {
			return false
		}
	}
	return true
}

// Checked lists the properties of t for which Cast can fail. The previous type is `old`.
func (tc *TypeCarry) Checked(old, t *Type) (props []int) {
	for p, q := range tc.Props {
		if q < 0 {
			continue
		}
		for was, is := range tc.steps(old.Props[q].Type, p, t.Props[p].Type) {
			if was.CastsTo(is) != value.CastsAll {
				props = append(props, p)
				break
			}
		}
	}
	return props
}

// Convertible reports whether values of the type `from` can be taken over as values of the type
// `to` at any time: whether the types differ at most by a wider kind.
func Convertible(from, to value.Type) bool {
	return from.Kind == to.Kind && from.List == to.List && from.Dim == to.Dim || catalog.Widens(from, to)
}

// Descend makes the schema `from` and its ancestors the ancestors of s. c must be the carry from
// that schema to s.
func (s *Schema) Descend(from *Schema, c *Carry) {
	s.Ancestors = []Ancestor{{from.Digest, c}}
	for _, a := range from.Ancestors {
		s.Ancestors = append(s.Ancestors, Ancestor{a.Digest, a.Carry.compose(from, s, c)})
	}
}

// Equal reports whether two schemas have the same source and the same ancestors.
func (s *Schema) Equal(o *Schema) bool {
	return s.Digest == o.Digest && s.Source == o.Source &&
		slices.EqualFunc(s.Ancestors, o.Ancestors, func(a, b Ancestor) bool { return a.Digest == b.Digest && reflect.DeepEqual(a.Carry, b.Carry) })
}

// Since returns the carry from an ancestor a to s. It returns nil if the two are equal; ok is false
// if s does not descend from a. If a occurs several times among the ancestors, as when a schema was
// restored, the carry is from its latest occurrence.
func (s *Schema) Since(a *Schema) (c *Carry, ok bool) {
	if s.Digest == a.Digest {
		return nil, true
	}
	i := slices.IndexFunc(s.Ancestors, func(x Ancestor) bool { return x.Digest == a.Digest })
	if i < 0 {
		return nil, false
	}
	return s.Ancestors[i].Carry, true
}

// RowCarry converts rows of one type to another one.
type RowCarry struct {
	to    *Type
	carry TypeCarry
	keeps []bool        // by position of a property, whether it takes its value as it is
	start []value.Value // by position of a property without a previous one; see TypeCarry.Start
}

// Rows returns the conversion of rows of the previous type `old` to type t.
func (tc TypeCarry) Rows(old, t *Type) *RowCarry {
	c := &RowCarry{to: t, carry: tc, keeps: make([]bool, len(tc.Props)), start: make([]value.Value, len(tc.Props))}
	for p, q := range tc.Props {
		if c.keeps[p] = tc.Keeps(old, t, p); q < 0 {
			c.start[p] = tc.Start(t, p)
		}
	}
	return c
}

// Convert sets out, which has an element for each property of the new type, to the values of a row. A value that the new type does not
// have becomes null.
func (c *RowCarry) Convert(out, vals []value.Value) {
	for p, q := range c.carry.Props {
		switch {
		case q < 0:
			out[p] = c.start[p]
		case c.keeps[p]:
			out[p] = vals[q]
		default:
			out[p], _ = c.carry.Cast(c.to, p, vals[q])
		}
	}
}

// Names returns a function that maps the name of a property of the previous type `old` to its name in t, and reports false if
// t does not take over the property. It returns nil if all names stay.
func (tc TypeCarry) Names(old, t *Type) func(name string) (string, bool) {
	now := make(map[string]string, len(tc.Props))
	for p, q := range tc.Props {
		if q >= 0 {
			now[old.Props[q].Name] = t.Props[p].Name
		}
	}
	if !slices.ContainsFunc(old.Props, func(p *catalog.Property) bool { return now[p.Name] != p.Name }) {
		return nil
	}
	return func(name string) (string, bool) { is, ok := now[name]; return is, ok }
}

// Dropped lists the positions of the properties of the previous type, which has n, that the new type does not take
// over.
func (tc TypeCarry) Dropped(n int) (out []int) {
	for p := range n {
		if !slices.Contains(tc.Props, p) {
			out = append(out, p)
		}
	}
	return out
}

// MemberNames maps the names of the types that implemented an interface before a schema change to their present
// names. It lacks the types that do not implement the interface any more.
type MemberNames map[string]string

// Members returns the names of the members of an interface. The reference types of the interface are `old`
// before the change, and t in the schema `to`.
func (c *Carry) Members(old, t *Type, to *Schema) MemberNames {
	now := MemberNames{}
	for _, m := range old.Of.Members {
		at := slices.IndexFunc(c.Nodes, func(tc TypeCarry) bool { return tc.From == m.Type.Index })
		if at >= 0 && t.Implements(to.Nodes[at]) {
			now[m.Type.Name] = to.Nodes[at].Name
		}
	}
	return now
}

// Gone reports whether a reference stands for a node of a type that does not implement the interface any
// more.
func (m MemberNames) Gone(ref string) bool {
	name, _ := SplitRef(ref)
	return m[name] == ""
}

// Renamed reports whether a type has another name than before.
func (m MemberNames) Renamed() bool {
	for was, is := range m {
		if was != is {
			return true
		}
	}
	return false
}
