package exec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
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
	if !ev.IsShared(v) {
		return nil
	}
	return &ev.shares[v]
}

// beginShared prepares the variables over interfaces for a run.
func (ev *evaluator) beginShared() {
	for v, i := range ev.Over {
		if i == nil {
			continue
		}
		if err := ev.shares[v].begin(ev.snap); err != nil {
			ev.fail(err)
		}
	}
}

// newShares returns memory for the tables of a query's variables over interfaces. It is nil if there are none.
func newShares(q *ir.Query) []shared {
	if !slices.ContainsFunc(q.Over, func(i *version.Interface) bool { return i != nil }) {
		return nil
	}
	list := make([]shared, len(q.Over))
	for v, i := range q.Over {
		list[v].of = i
	}
	return list
}

// evalShared evaluates a property or the id of a variable over an interface for the rows of a frame.
func (ev *evaluator) evalShared(e *ir.Expr, s *shared, f *frame, vec *column.Vec) {
	vec.Reset(e.Type, f.n)
	dense := &ev.sharedVec
	ends := ev.sortMembers(s, f.cols[e.Var][:f.n])
	from := uint32(0)
	for k, m := range s.of.Members {
		ords, places := ev.sharedOrds[from:ends[k]], ev.sharedPlaces[from:ends[k]]
		if from = ends[k]; len(ords) == 0 {
			continue
		}
		switch {
		case e.Kind == ir.ExprID:
			s.tables[k].GatherID(ords, dense, &ev.scratch)
		case m.Props[e.Prop] >= 0:
			s.tables[k].Gather(m.Props[e.Prop], ords, dense, &ev.scratch)
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
func (s *shared) value(e *ir.Expr, ord uint32) value.Value {
	k, local := s.place(ord)
	switch m := s.of.Members[k]; {
	case e.Kind == ir.ExprID:
		return value.OfString(s.tables[k].ID(local))
	case m.Props[e.Prop] >= 0:
		return s.tables[k].Value(local, m.Props[e.Prop])
	default:
		return value.OfString(m.Type.Name)
	}
}

// evalRef evaluates a text for each row of a frame that identifies a node among those of all types: the name of its
// type, a zero byte, and its id. The order of these texts is that of types and ids.
func (ev *evaluator) evalRef(e *ir.Expr, f *frame, vec *column.Vec) {
	made := &ev.made[e.Slot]
	ev.spent -= *made // the texts of the previous frame are not used any more
	*made = 0
	s := ev.shared(e.Var)
	vec.Reset(e.Type, f.n)
	for i, ord := range f.cols[e.Var][:f.n] {
		typ, table, local := ev.Types[e.Var], ev.tables[e.Var], ord
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
