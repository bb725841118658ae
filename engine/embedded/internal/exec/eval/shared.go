package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// CompareIDs compares the ids of two entities that a variable may be bound to. Null comes first.
func (ev *Evaluator) CompareIDs(v plan.VarID, a, b uint32) int {
	switch {
	case a == b:
		return 0
	case a == version.NoOrd:
		return -1
	case b == version.NoOrd:
		return 1
	}
	if s := ev.Shared(v); s != nil {
		return s.Compare(a, b)
	}
	t := ev.Table(v)
	if t.Sorted() {
		return int(int64(a) - int64(b))
	}
	return strings.Compare(t.ID(a), t.ID(b))
}

// This file gives variables over interfaces their values.

// Shared is the tables of the node types that implement an interface, for a variable over the interface. The
// ordinals of the variable number the nodes of all these tables: those of each table follow those
// of the table before.
type Shared struct {
	of     *schema.Interface
	Tables []*version.Table // by position in of.Members
	Starts []uint32         // by position in of.Members: the ordinal of the table's first node
}

// begin takes the tables from a snapshot. The error is a *engine.TooLarge if the nodes are too many for
// ordinals.
func (s *Shared) begin(snap *version.Snapshot) error {
	s.Tables, s.Starts = s.Tables[:0], s.Starts[:0]
	next := uint64(0)
	for _, m := range s.of.Members {
		t := snap.Nodes(m.Type.Index)
		s.Tables, s.Starts = append(s.Tables, t), append(s.Starts, uint32(next))
		if next += uint64(t.Ordinals()); next >= uint64(version.NoOrd) {
			return &engine.TooLarge{Resource: "nodes of the interface " + s.of.Type.Name, Limit: int64(version.NoOrd) - 1, Actual: int64(next),
				Hint: "bind the variable to one node type"}
		}
	}
	return nil
}

// place returns the position of a node's type among the members, and the node's ordinal in the table of
// that type.
func (s *Shared) place(ord uint32) (member int, local uint32) {
	for after := len(s.Starts); after-member > 1; {
		if middle := (member + after) / 2; s.Starts[middle] > ord {
			after = middle
		} else {
			member = middle
		}
	}
	return member, ord - s.Starts[member]
}

// Compare compares two nodes by the names of their types and then by their ids.
func (s *Shared) Compare(a, b uint32) int {
	if a == b {
		return 0
	}
	m, x := s.place(a)
	n, y := s.place(b)
	switch {
	case m != n && !fault.On(fault.TypesIgnored):
		return cmp.Compare(m, n)
	case m == n && s.Tables[m].Sorted():
		return cmp.Compare(x, y)
	}
	return strings.Compare(s.Tables[m].ID(x), s.Tables[n].ID(y))
}

// Shared returns the tables of a variable over an interface, or nil for another variable.
func (ev *Evaluator) Shared(v plan.VarID) *Shared {
	if !ev.IsShared(v) {
		return nil
	}
	return &ev.shares[v]
}

// beginShared prepares the variables over interfaces for a run.
func (ev *Evaluator) beginShared() {
	for v, i := range ev.Over {
		if i == nil {
			continue
		}
		if err := ev.shares[v].begin(ev.Snap); err != nil {
			ev.Fail(err)
		}
	}
}

// newShares returns memory for the tables of a query's variables over interfaces. It is nil if there are none.
func newShares(q *ir.Query) []Shared {
	if !slices.ContainsFunc(q.Over, func(i *schema.Interface) bool { return i != nil }) {
		return nil
	}
	list := make([]Shared, len(q.Over))
	for v, i := range q.Over {
		list[v].of = i
	}
	return list
}

// evalShared evaluates a property or the id of a variable over an interface for the rows of a frame.
func (ev *Evaluator) evalShared(e *ir.Expr, s *Shared, f *Frame, vec *column.Vec) {
	vec.Reset(e.Type, f.N)
	dense := &ev.sharedVec
	ends := ev.sortMembers(s, f.Cols[e.Var][:f.N])
	from := uint32(0)
	for k, m := range s.of.Members {
		ords, places := ev.sharedOrds[from:ends[k]], ev.sharedPlaces[from:ends[k]]
		if from = ends[k]; len(ords) == 0 {
			continue
		}
		switch {
		case e.Kind == ir.ExprID:
			s.Tables[k].GatherID(ords, dense, &ev.scratch)
		case m.Props[e.Prop] >= 0:
			s.Tables[k].Gather(m.Props[e.Prop], ords, dense, &ev.scratch)
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
func (ev *Evaluator) sortMembers(s *Shared, ords []uint32) (ends []uint32) {
	ends = slices.Grow(ev.sharedEnds[:0], len(s.Tables)+1)[:len(s.Tables)+1]
	clear(ends)
	for _, ord := range ords {
		member, _ := s.place(ord)
		ends[member+1]++
	}
	for k := range s.Tables {
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

// value evaluates a property or the id of a variable over an interface for one node.
func (s *Shared) value(e *ir.Expr, ord uint32) value.Value {
	k, local := s.place(ord)
	switch m := s.of.Members[k]; {
	case e.Kind == ir.ExprID:
		return value.OfString(s.Tables[k].ID(local))
	case m.Props[e.Prop] >= 0:
		return s.Tables[k].Value(local, m.Props[e.Prop])
	default:
		return value.OfString(m.Type.Name)
	}
}

// evalRef evaluates a text for each row of a frame that identifies a node among those of all types: the name of its
// type, a zero byte, and its id. The order of these texts is that of types and ids.
func (ev *Evaluator) evalRef(e *ir.Expr, f *Frame, vec *column.Vec) {
	made := &ev.made[e.Slot]
	ev.Spent -= *made // the texts of the previous frame are not used any more
	*made = 0
	s := ev.Shared(e.Var)
	vec.Reset(e.Type, f.N)
	for i, ord := range f.Cols[e.Var][:f.N] {
		typ, table, local := ev.Types[e.Var], ev.Tables[e.Var], ord
		if s != nil {
			var k int
			k, local = s.place(ord)
			typ, table = s.of.Members[k].Type, s.Tables[k]
		}
		text := refText(typ.Name, table.ID(local))
		vec.Strings[i] = text
		*made += int64(len(text))
	}
	if err := ev.Spend(int(*made)); err != nil {
		ev.Fail(err)
	}
}
