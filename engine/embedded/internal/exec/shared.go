package exec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file gives variables over interfaces their values.

// shared is the tables of the node types that implement an interface, for a variable over the interface. The
// ordinals of the variable number the nodes of all these tables: those of each table follow those
// of the table before.
type shared struct {
	of     *version.Interface
	tables []*version.Table // by position in of.Members
	starts []uint32         // by position in of.Members: the ordinal of the table's first node
}

// isShared reports whether a variable is over an interface.
func (q *query) isShared(v plan.VarID) bool { return q.over[v] != nil }

// begin takes the tables from a snapshot. The error is a *engine.TooLarge if the nodes are too many for
// ordinals.
func (s *shared) begin(snap *version.Snapshot) error {
	s.tables, s.starts = s.tables[:0], s.starts[:0]
	next := uint64(0)
	for _, m := range s.of.Members {
		t := snap.Nodes(m.Type.Index)
		s.tables, s.starts = append(s.tables, t), append(s.starts, uint32(next))
		if next += uint64(t.Ordinals()); next >= uint64(version.NoOrd) {
			return &engine.TooLarge{Resource: "nodes of the interface " + s.of.Type.Name, Limit: int64(version.NoOrd) - 1, Actual: int64(next),
				Hint: "bind the variable to one node type"}
		}
	}
	return nil
}

// place returns the position of a node's type among the members, and the node's ordinal in the table of
// that type.
func (s *shared) place(ord uint32) (member int, local uint32) {
	for after := len(s.starts); after-member > 1; {
		if middle := (member + after) / 2; s.starts[middle] > ord {
			after = middle
		} else {
			member = middle
		}
	}
	return member, ord - s.starts[member]
}

// compare compares two nodes by the names of their types and then by their ids.
func (s *shared) compare(a, b uint32) int {
	if a == b {
		return 0
	}
	m, x := s.place(a)
	n, y := s.place(b)
	switch {
	case m != n && !fault.On(fault.TypesIgnored):
		return cmp.Compare(m, n)
	case m == n && s.tables[m].Sorted():
		return cmp.Compare(x, y)
	}
	return strings.Compare(s.tables[m].ID(x), s.tables[n].ID(y))
}

// shared returns the tables of a variable over an interface, or nil for another variable.
func (ev *evaluator) shared(v plan.VarID) *shared {
	if !ev.isShared(v) {
		return nil
	}
	return &ev.shares[v]
}

// beginShared prepares the variables over interfaces for a run.
func (ev *evaluator) beginShared() {
	for v, i := range ev.over {
		if i == nil {
			continue
		}
		if err := ev.shares[v].begin(ev.snap); err != nil {
			ev.fail(err)
		}
	}
}

// newShares returns memory for the tables of a query's variables over interfaces. It is nil if there are none.
func newShares(q *query) []shared {
	if !slices.ContainsFunc(q.over, func(i *version.Interface) bool { return i != nil }) {
		return nil
	}
	list := make([]shared, len(q.over))
	for v, i := range q.over {
		list[v].of = i
	}
	return list
}

// evalShared evaluates a property or the id of a variable over an interface for the rows of a frame.
func (ev *evaluator) evalShared(e *expr, s *shared, f *frame, vec *column.Vec) {
	vec.Reset(e.typ, f.n)
	dense := &ev.sharedVec
	ends := ev.sortMembers(s, f.cols[e.v][:f.n])
	from := uint32(0)
	for k, m := range s.of.Members {
		ords, places := ev.sharedOrds[from:ends[k]], ev.sharedPlaces[from:ends[k]]
		if from = ends[k]; len(ords) == 0 {
			continue
		}
		switch {
		case e.kind == exprID:
			s.tables[k].GatherID(ords, dense, &ev.scratch)
		case m.Props[e.prop] >= 0:
			s.tables[k].Gather(m.Props[e.prop], ords, dense, &ev.scratch)
		default: // the property catalog.TypeProperty
			for _, i := range places {
				vec.Set(int(i), value.OfString(m.Type.Name))
			}
			continue
		}
		for at, i := range places {
			vec.Set(int(i), dense.Value(at))
		}
	}
}

// sortMembers sorts the positions in a list of ordinals by the member that the node belongs to, into
// ev.sharedPlaces. It stores the ordinals in the tables of the members at the same positions of ev.sharedOrds. The
// result lists the end of each member in them, and is valid until the next call. The work is proportional to the
// ordinals and the members, not to their product.
func (ev *evaluator) sortMembers(s *shared, ords []uint32) (ends []uint32) {
	ends = slices.Grow(ev.sharedEnds[:0], len(s.tables)+1)[:len(s.tables)+1]
	clear(ends)
	for _, ord := range ords {
		member, _ := s.place(ord)
		ends[member+1]++
	}
	for k := range s.tables {
		ends[k+1] += ends[k]
	}
	local := slices.Grow(ev.sharedOrds[:0], len(ords))[:len(ords)]
	places := slices.Grow(ev.sharedPlaces[:0], len(ords))[:len(ords)]
	for i, ord := range ords {
		member, own := s.place(ord)
		at := ends[member] // where the member begins, and where it ends after the last round
		local[at], places[at] = own, uint32(i)
		ends[member]++
	}
	ev.sharedEnds, ev.sharedOrds, ev.sharedPlaces = ends, local, places
	return ends
}

// sharedValue evaluates a property or the id of a variable over an interface for one node.
func (s *shared) value(e *expr, ord uint32) value.Value {
	k, local := s.place(ord)
	switch m := s.of.Members[k]; {
	case e.kind == exprID:
		return value.OfString(s.tables[k].ID(local))
	case m.Props[e.prop] >= 0:
		return s.tables[k].Value(local, m.Props[e.prop])
	default:
		return value.OfString(m.Type.Name)
	}
}

// evalRef evaluates a text for each row of a frame that identifies a node among those of all types: the name of its
// type, a zero byte, and its id. The order of these texts is that of types and ids.
func (ev *evaluator) evalRef(e *expr, f *frame, vec *column.Vec) {
	made := &ev.made[e.slot]
	ev.spent -= *made // the texts of the previous frame are not used any more
	*made = 0
	s := ev.shared(e.v)
	vec.Reset(e.typ, f.n)
	for i, ord := range f.cols[e.v][:f.n] {
		typ, table, local := ev.types[e.v], ev.tables[e.v], ord
		if s != nil {
			var k int
			k, local = s.place(ord)
			typ, table = s.of.Members[k].Type, s.tables[k]
		}
		text := refText(typ.Name, table.ID(local))
		vec.Strings[i] = text
		*made += int64(len(text))
	}
	if err := ev.spend(int(*made)); err != nil {
		ev.fail(err)
	}
}

// ref binds the text that identifies the node of a variable among those of all types; see evaluator.evalRef.
func (b *binder) ref(w plan.Whole) *expr {
	b.step(1)
	out := &expr{kind: exprRef, src: w, v: w.Var, typ: value.Of(value.String), slot: b.vecs, optional: b.read.Vars[w.Var].Optional}
	b.vecs++
	b.computes = true
	return out
}

// tieExpr binds the value by which an optional variable breaks ties.
func (b *binder) tieExpr(v plan.VarID) (*expr, error) {
	if b.isShared(v) {
		return b.ref(plan.Whole{Var: v}), nil
	}
	return b.expr(plan.ID{Var: v})
}

// checkSearch returns an error if a property that the plan searches or ranks belongs to a variable over an interface:
// each node type has indexes of its own.
func (b *binder) checkSearch(p plan.Prop) error {
	if b.isShared(p.Var) {
		return &engine.Unsupported{Construct: "a search of $" + b.read.Vars[p.Var].Name + " over the interface " + b.types[p.Var].Name}
	}
	return nil
}

// narrowed returns a traversal whose ends are variables of the types that the edge needs. In place of a variable of
// another type, an interface or a node type whose nodes references stand for, is a new variable of the needed type; a link
// in the list says that the two are the same node.
func (b *binder) narrowed(c plan.Traverse, t *version.Type) (plan.Traverse, []*link, error) {
	var links []*link
	for _, end := range []struct {
		v    *plan.VarID
		node int
	}{{&c.From, t.From}, {&c.To, t.To}} {
		if node := b.Schema.Nodes[end.node]; !b.isShared(*end.v) && (node.Of == nil || b.types[*end.v].Entity != plan.Node) {
			continue
		}
		if n := len(links); n > 0 && links[n-1].From == *end.v && b.types[links[n-1].To].Index == end.node {
			*end.v = links[n-1].To
			continue
		}
		of := *end.v
		var err error
		if *end.v, err = b.hidden(of, b.Schema.Nodes[end.node]); err != nil {
			return c, nil, err
		}
		links = append(links, identity(of, *end.v))
	}
	return c, links, nil
}

// identity returns the link between a variable over an interface or a node type, and a variable of a node type or a
// reference type, that are the same node.
func identity(of, narrow plan.VarID) *link {
	return &link{Traverse: plan.Traverse{From: of, To: narrow, EdgeVar: plan.NoVar, Min: 1, Max: 1}, same: true}
}

// hidden adds a variable that the plan lacks. It stands for the node of the variable `of` as a node of type t.
func (b *binder) hidden(of plan.VarID, t *version.Type) (plan.VarID, error) {
	id := len(b.types)
	if id >= 2*maxVars {
		return plan.NoVar, &engine.TooLarge{Resource: "ends of traversals at variables over interfaces", Limit: maxVars, Actual: int64(id) - maxVars}
	}
	if !b.extended { // other programs share the plan
		read := *b.read
		read.Vars = slices.Clone(read.Vars)
		b.read, b.extended = &read, true
	}
	b.types, b.over = append(b.types, t), append(b.over, nil)
	b.read.Vars = append(b.read.Vars, plan.Var{Name: b.read.Vars[of].Name + " as " + t.Name, Entity: plan.Node, Type: t.Name})
	return plan.VarID(id), nil
}

// sameNode returns the link for a filter that requires a variable over an interface and a variable of a node type to be
// the same node. It returns nil for another filter, and if one of the variables may be null.
func (b *binder) sameNode(c plan.Cond, clauses []plan.Clause) *link {
	eq, ok := c.(plan.Compare)
	if !ok || eq.Op != plan.Eq && !fault.On(fault.UnequalNarrows) || eq.Unless != plan.NoParam {
		return nil
	}
	l, isNode := eq.Left.(plan.Whole)
	r, areNodes := eq.Right.(plan.Whole)
	if !isNode || !areNodes || b.isShared(l.Var) == b.isShared(r.Var) {
		return nil
	}
	for _, v := range []plan.VarID{l.Var, r.Var} {
		if b.read.Vars[v].Optional && !slices.ContainsFunc(clauses, func(c plan.Clause) bool { return binds(c, v) }) {
			return nil
		}
		b.step(len(clauses))
	}
	if b.isShared(l.Var) {
		return identity(l.Var, r.Var)
	}
	return identity(r.Var, l.Var)
}

// binds reports whether a clause is a binding or a traversal of a variable.
func binds(c plan.Clause, v plan.VarID) bool {
	switch c := c.(type) {
	case plan.Bind:
		return c.Var == v
	case plan.Traverse:
		return c.From == v || c.To == v
	case plan.Filter, plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
	}
	return false
}

// interfaceOf returns the interface of a variable and the type that stands for it. The error is a
// *engine.SchemaMismatch.
func (b *binder) interfaceOf(v plan.Var) (*version.Interface, error) {
	i := b.Schema.Interface(v.Type)
	if i == nil {
		return nil, mismatch("there is no interface %s", v.Type)
	}
	for _, m := range i.Members {
		for p, at := range m.Props {
			if name := i.Type.Props[p].Name; at < 0 && name != catalog.TypeProperty {
				return nil, mismatch("node %s does not have the property %s of the interface %s", m.Type.Name, name, v.Type)
			}
		}
	}
	return i, nil
}
