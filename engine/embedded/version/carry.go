package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Carry says how a schema takes over the entities of another: for each of its types and
// their properties, in its order, what it was before.
type Carry struct {
	Nodes, Edges []TypeCarry
	// Hard: no stored segment that holds a dropped property may stay in use.
	Hard bool
}

// TypeCarry is the part of one type.
type TypeCarry struct {
	From  int   // position of the type before; -1 for one that begins without entities
	Props []int // positions of the properties before; -1 for null
}

// Ancestor is a schema that another one descends from.
type Ancestor struct {
	Digest string
	Carry  *Carry // from it to the descendant
}

// Change puts a schema in force.
type Change struct {
	Schema *Schema
	Carry  *Carry
}

// NewCarry finds how a schema takes over what another one has, from the renames among
// the steps between them; anew tells the types that begin without entities.
func NewCarry(from, to *Schema, steps []catalog.Step, anew func(t *Type) bool) *Carry {
	type member struct {
		e         plan.Entity
		typ, prop string
	}
	was := map[member]string{}
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
			if old != nil && !anew(t) {
				tc.From = old.Index
			}
			for p, prop := range t.Props {
				tc.Props[p] = -1
				if tc.From < 0 {
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
	c.unhinge(from, to)
	return c
}

// unhinge makes the edges begin anew whose nodes do: none can be left.
func (c *Carry) unhinge(from, to *Schema) {
	for i := range c.Edges {
		e := &c.Edges[i]
		if e.From < 0 {
			continue
		}
		old, now := from.Edges[e.From], to.Edges[i]
		if c.Nodes[now.From].From != old.From || c.Nodes[now.To].From != old.To {
			e.From = -1
		}
		if e.From < 0 {
			for p := range e.Props {
				e.Props[p] = -1
			}
		}
	}
}

// then returns the way that leads through two.
func (c *Carry) then(next *Carry) *Carry {
	chain := func(first, second []TypeCarry) []TypeCarry {
		out := make([]TypeCarry, len(second))
		for i, tc := range second {
			out[i] = TypeCarry{From: -1, Props: slices.Repeat([]int{-1}, len(tc.Props))}
			if tc.From < 0 || first[tc.From].From < 0 {
				continue
			}
			out[i].From = first[tc.From].From
			for p, q := range tc.Props {
				if q >= 0 {
					out[i].Props[p] = first[tc.From].Props[q]
				}
			}
		}
		return out
	}
	return &Carry{Nodes: chain(c.Nodes, next.Nodes), Edges: chain(c.Edges, next.Edges)}
}

// fits checks that the way leads from one schema to another. The error is a
// *engine.Corrupt.
func (c *Carry) fits(from, to *Schema) error {
	bad := func(format string, args ...any) error {
		return &engine.Corrupt{Object: "schema change", Detail: fmt.Sprintf(format, args...)}
	}
	check := func(carries []TypeCarry, olds, news []*Type) error {
		if len(carries) != len(news) {
			return bad("it has %d types, wanted %d", len(carries), len(news))
		}
		for i, tc := range carries {
			now := news[i]
			if len(tc.Props) != len(now.Props) || tc.From >= len(olds) {
				return bad("type %s takes over %d properties of type %d, of %d", now.Name, len(tc.Props), tc.From, len(olds))
			}
			if tc.From < 0 {
				continue
			}
			old := olds[tc.From]
			if (old.IDProp < 0) != (now.IDProp < 0) || now.IDProp >= 0 && tc.Props[now.IDProp] != old.IDProp {
				return bad("type %s takes over ids that its key does not make", now.Name)
			}
			for p, q := range tc.Props {
				if q >= len(old.Props) || q >= 0 && !convertible(old.Props[q].Type, now.Props[p].Type) {
					return bad("property %s of %s takes over another", now.Props[p].Name, now.Name)
				}
			}
		}
		return nil
	}
	if err := check(c.Nodes, from.Nodes, to.Nodes); err != nil {
		return err
	}
	if err := check(c.Edges, from.Edges, to.Edges); err != nil {
		return err
	}
	for i, tc := range c.Edges {
		if tc.From < 0 {
			continue
		}
		old, now := from.Edges[tc.From], to.Edges[i]
		if c.Nodes[now.From].From != old.From || c.Nodes[now.To].From != old.To {
			return bad("edge %s takes over edges between other nodes", now.Name)
		}
	}
	return nil
}

// reaches reports whether a part of the way is one to these types.
func (c *Carry) reaches(part []TypeCarry, types []*Type) bool {
	return slices.EqualFunc(part, types, func(tc TypeCarry, t *Type) bool { return len(tc.Props) == len(t.Props) })
}

// convertible reports whether values of one type can be taken over as another.
func convertible(from, to value.Type) bool {
	return from.Kind == to.Kind && from.List == to.List && from.Dim == to.Dim || catalog.Widens(from, to)
}

// Descend notes that the schema follows another on a branch.
func (s *Schema) Descend(from *Schema, c *Carry) {
	s.Ancestors = []Ancestor{{from.Digest, c}}
	for _, a := range from.Ancestors {
		s.Ancestors = append(s.Ancestors, Ancestor{a.Digest, a.Carry.then(c)})
	}
}

// Since returns the way from a schema to one that is equal or descends from it; nil when
// they are equal. ok is false when it does not. Of several ways, as when a schema came
// back, it is the latest.
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

// Carried returns the state with another schema. Entities keep their ordinals, and rows
// stay where they are. The error is a *engine.Corrupt when the way does not lead from
// the state's schema to the other one.
func (s *Snapshot) Carried(ch Change) (*Snapshot, error) {
	if ch.Carry == nil { // it has the schema
		return s, nil
	}
	if err := ch.Carry.fits(s.Schema, ch.Schema); err != nil {
		return nil, err
	}
	out := NewSnapshot(ch.Schema, s.Commit)
	for _, part := range []struct {
		carries []TypeCarry
		olds    []*Table
		news    []*Table
	}{{ch.Carry.Nodes, s.nodes, out.nodes}, {ch.Carry.Edges, s.edges, out.edges}} {
		for i, tc := range part.carries {
			if tc.From < 0 {
				continue
			}
			t, err := part.olds[tc.From].carried(part.news[i].Type, tc, ch.Carry.Hard)
			if err != nil {
				return nil, err
			}
			part.news[i] = t
		}
	}
	return out, nil
}

// carried returns the table as one of another type.
func (t *Table) carried(typ *Type, tc TypeCarry, hard bool) (*Table, error) {
	n := *t
	n.Type, n.line = typ, nil
	same := len(t.Type.Props) == len(typ.Props)
	for p, q := range tc.Props {
		same = same && p == q && t.Type.Props[p].Type.Kind == typ.Props[p].Type.Kind
	}
	n.tail = slices.Clip(t.tail)
	if !same {
		n.tail = make([]Row, len(t.tail))
		for i, r := range t.tail {
			r.Vals = typ.carriedRow(r.Vals, tc.Props)
			n.tail[i] = r
		}
	}
	dropped := false
	for q := range t.Type.Props {
		dropped = dropped || hard && !slices.Contains(tc.Props, q)
	}
	n.Segs = make([]*Segment, len(t.Segs))
	for i, s := range t.Segs {
		c, err := s.carried(t.Type, typ, tc.Props)
		if err != nil {
			return nil, err
		}
		if dropped {
			c.Name, c.Origin = "", nil
		}
		n.Segs[i] = c
	}
	n.idx = make([]index.Hash, len(typ.Tuples))
	for i, tuple := range typ.Tuples {
		if j := t.Type.sameTuple(typ, tuple, tc.Props); j >= 0 {
			n.idx[i] = t.idx[j]
		} else {
			n.idx[i] = n.buildTuple(tuple)
		}
	}
	n.texts = t.texts.carried(t.Type, typ, tc.Props)
	return &n, nil
}

// carriedRow returns the values of a row as one of the type.
func (t *Type) carriedRow(vals []value.Value, props []int) []value.Value {
	out := make([]value.Value, len(props))
	for p, q := range props {
		if q >= 0 {
			out[p] = value.Widen(vals[q], t.Props[p].Type.Kind)
		}
	}
	return out
}

// sameTuple finds the indexed tuple of the type before that has the same values as one
// of the type after, or -1.
func (t *Type) sameTuple(now *Type, tuple, props []int) int {
	before := make([]int, len(tuple))
	for i, p := range tuple {
		switch {
		case p < 0:
			before[i] = p
		case props[p] < 0 || t.Props[props[p]].Type.Kind != now.Props[p].Type.Kind:
			return -1
		default:
			before[i] = props[p]
		}
	}
	return slices.IndexFunc(t.Tuples, func(old []int) bool { return slices.Equal(old, before) })
}

// buildTuple builds the index of a tuple.
func (t *Table) buildTuple(tuple []int) index.Hash {
	return index.BuildHash(t.next, func(ord uint32) (uint64, bool) {
		row := t.rows.Get(ord)
		if row == index.Dead {
			return 0, false
		}
		var src, dst uint32
		if t.Type.Entity == plan.Edge {
			src, dst = t.endsAt(row)
		}
		return t.tupleHash(tuple, func(p int) value.Value { return t.valueAt(row, p) }, src, dst)
	})
}

// carried returns the searches of the same rows in a table of another type.
func (s *searches) carried(from, to *Type, props []int) *searches {
	n := &searches{typ: to}
	before := s.next(from)
	for p, q := range props {
		if view := before.past[q]; q >= 0 && view != nil {
			if n.past == nil {
				n.past = map[int]*index.TextView{}
			}
			n.past[p] = view
		}
	}
	return n
}

// Uncarried lists what a side of a merge changed since the base of entities whose types
// are not taken over: both states have one schema, which the way begins at.
func Uncarried(base, side *Snapshot, c *Carry, message string) (out []engine.MergeConflict) {
	for _, part := range []struct {
		carries []TypeCarry
		tables  []*Table
		before  []*Table
	}{{c.Nodes, side.nodes, base.nodes}, {c.Edges, side.edges, base.edges}} {
		for i, t := range part.tables {
			if slices.ContainsFunc(part.carries, func(tc TypeCarry) bool { return tc.From == i }) {
				continue
			}
			m := merge{}
			for _, id := range changedIDs(part.before[i], t) {
				was, is := m.state(base, t.Type, id), m.state(side, t.Type, id)
				if is.there && !(was.there && was.same(&is)) {
					out = append(out, engine.MergeConflict{Kind: engine.DeleteVsUpdate, Entity: t.Type.Entity.String(), Type: t.Type.Name, ID: id, Message: message})
				}
			}
		}
	}
	sortConflicts(out)
	return out
}

// strict says which rules of a type a state that was carried to it may break.
type strict struct {
	props  []int
	tuples []int // unique ones
	card   bool
}

// stricter compares the rules of a type with those that its entities kept before.
func (t *Type) stricter(old *Type, props []int) (s strict) {
	for p, q := range props {
		if q < 0 {
			if !t.Props[p].Type.Nullable {
				s.props = append(s.props, p)
			}
			continue
		}
		was, is := old.Props[q].Type, t.Props[p].Type
		narrower := is.Enum != nil && (was.Enum == nil || slices.ContainsFunc(was.Enum, func(v string) bool { return !slices.Contains(is.Enum, v) }))
		if was.Nullable && !is.Nullable || was.Kind != is.Kind || narrower || t.rulesOf(p) != "" && t.rulesOf(p) != old.rulesOf(q) {
			s.props = append(s.props, p)
		}
	}
	for i, tuple := range t.Tuples[:t.Unique] {
		if j := old.sameTuple(t, tuple, props); j < 0 || j >= old.Unique {
			s.tuples = append(s.tuples, i)
		}
	}
	s.card = t.Card != nil && (old.Card == nil || *t.Card != *old.Card)
	return s
}

// rulesOf spells the ranges and checks of a property.
func (t *Type) rulesOf(p int) string {
	var b strings.Builder
	for _, r := range t.ranges[p] {
		b.WriteString("range")
		for _, end := range []*value.Value{r.Min, r.Max} {
			b.WriteByte(' ')
			if end != nil {
				b.WriteString(value.Text(*end))
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range t.checks[p] {
		fmt.Fprintf(&b, "check %q\n", c.text)
	}
	return b.String()
}

// Migrate puts a schema in force that has a way from the one there is, as the first thing
// that a transaction does.
func (tx *Txn) Migrate(ch Change) error {
	base, err := tx.base.Carried(ch)
	if err != nil {
		return err
	}
	from := tx.base.Schema
	*tx = *Begin(base)
	tx.change, tx.from = &ch, from
	return nil
}

// Change returns the schema that the transaction puts in force; nil for none.
func (tx *Txn) Change() *Change { return tx.change }

// strictness returns what the schema that the transaction puts in force wants of a type's
// entities beyond what they kept.
func (tx *Txn) strictness(t *Type) strict {
	if tx.change == nil {
		return strict{}
	}
	carries, olds := tx.change.Carry.Nodes, tx.from.Nodes
	if t.Entity == plan.Edge {
		carries, olds = tx.change.Carry.Edges, tx.from.Edges
	}
	tc := carries[t.Index]
	if tc.From < 0 {
		return strict{}
	}
	return t.stricter(olds[tc.From], tc.Props)
}

// Broken lists up to limit rules of the schema which the transaction puts in force that
// the entities break which it took over.
func (tx *Txn) Broken(limit int) (out []*engine.ConstraintViolation) {
	for _, t := range tx.base.Tables() {
		s := tx.strictness(t.Type)
		if s.props == nil && s.tuples == nil && !s.card {
			continue
		}
		for ord := range t.next {
			if !t.Alive(ord) {
				continue
			}
			for _, p := range s.props {
				if err := t.Type.CheckValue(p, t.Value(ord, p)); err != nil {
					v := err.(*engine.ConstraintViolation)
					v.ID = t.ID(ord)
					out = append(out, v)
				}
			}
			for _, i := range s.tuples {
				if other, ok := t.twin(i, ord); ok {
					out = append(out, t.uniqueViolation(i, ord, other))
				}
			}
			if len(out) >= limit {
				return out[:limit]
			}
		}
		if s.card {
			nodes := tx.base.nodes[t.Type.From]
			for _, src := range t.sources(nodes) {
				if v := checkDegree(t, nodes, src); v != nil {
					if out = append(out, v); len(out) == limit {
						return out
					}
				}
			}
		}
	}
	return out
}

// sources lists the nodes alive that edges alive lead from, in order.
func (t *Table) sources(nodes *Table) (out []uint32) {
	for src := range nodes.next {
		if nodes.Alive(src) && Degree(t, t.Out(), src) > 0 {
			out = append(out, src)
		}
	}
	return out
}
