package eval

import (
	"cmp"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evalWalk evaluates a fact about a walk for the rows of a frame.
func (ev *Evaluator) evalWalk(e *ir.Expr, f *Frame, vec *column.Vec) {
	vec.Reset(e.Type, f.N)
	hops := f.Cols[e.Walk.Var]
	for i := range f.N {
		switch {
		case hops[i] == version.NoOrd:
			vec.SetNull(i)
		case e.Walk.Fact == plan.WalkHops:
			if vec.Valid != nil {
				vec.Valid.Set(i)
			}
			vec.Ints[i] = int64(hops[i])
		default:
			list, err := ev.walkNodes(e, f.Cols[e.Walk.From][i], f.Cols[e.Walk.To][i])
			if err != nil {
				ev.Fail(err)
				list = value.OfList(value.String, nil)
			}
			vec.Set(i, list)
		}
	}
}

// walkNodes returns the ids or the types of the nodes of the walk between a and b, the nodes at the
// ends. If an end is a variable over an interface that was bound before the traversal, the row may
// belong to a walk that ends at another node. A later step drops such a row; walkNodes then returns
// any list.
func (ev *Evaluator) walkNodes(e *ir.Expr, a, b uint32) (value.Value, error) {
	r := ev.Routes[e.Search]
	from, fitsA := ev.PlaceOf(&e.Near, a)
	to, fitsB := ev.PlaceOf(&e.Far, b)
	if !fitsA || !fitsB {
		return value.OfList(value.String, nil), nil
	}
	nodes, err := ev.walkBetween(&ev.Searches[e.Search], r, from, to)
	if err != nil {
		return value.Null, ev.InWalk(err, &r.Link.Traverse)
	}
	list := make([]value.Value, len(nodes))
	for i, n := range nodes {
		if e.Walk.Fact == plan.WalkTypes {
			list[i] = value.OfString(r.Names[n.Kind])
		} else {
			list[i] = value.OfString(ev.Snap.Nodes(r.Kinds[n.Kind]).ID(n.Node))
		}
	}
	return value.OfList(value.String, list), nil
}

// walkBetween returns the nodes of the shortest walk from node a to node b. If there are several
// shortest walks, it returns the one whose sequence of types and ids comes first. It returns nil if
// there is no walk.
func (ev *Evaluator) walkBetween(s *Search, r *ir.Route, first, last ir.Place) ([]ir.Place, error) {
	length, err := ev.Between(s, r, first, last)
	if err != nil {
		return nil, err
	}
	switch length {
	case -1:
		return nil, nil
	case 0:
		return []ir.Place{first}, nil
	case 1:
		return []ir.Place{first, last}, nil
	}
	if err := ev.onWalks(s, r); err != nil {
		return nil, err
	}
	nodes := make([]ir.Place, 1, length+1)
	nodes[0] = first
	for i := 1; i < length; i++ {
		var next ir.Place
		if i <= s.Near.Depth && len(s.nodes[i]) == 1 {
			next = s.nodes[i][0]
		} else {
			s.mark(ev, r, i, length)
			if next, err = ev.leastNeighbour(s, r, nodes[i-1]); err != nil {
				return nil, err
			}
		}
		nodes = append(nodes, next)
	}
	return append(nodes, last), nil
}

// onWalks sets s.nodes: for each distance up to the depth of the near front, the nodes at that distance through which
// a shortest walk leads. The two fronts must have met.
func (ev *Evaluator) onWalks(s *Search, r *ir.Route) error {
	depth := s.Near.Depth
	for len(s.nodes) <= depth {
		s.nodes = append(s.nodes, nil)
	}
	met := s.nodes[depth][:0]
	for k := range r.Kinds {
		for _, node := range s.Near.Level(k, depth) {
			if s.far.walks[k].Bits.Get(int(node)) {
				met = append(met, ir.Place{Kind: k, Node: node})
			}
		}
	}
	s.nodes[depth] = met
	for i := depth - 1; i > 0; i-- {
		s.unmark(ev, r)
		for k := range r.Kinds {
			for _, node := range s.Near.Level(k, i) {
				s.marked[k].Visit(node)
			}
		}
		found := s.nodes[i][:0]
		for _, p := range s.nodes[i+1] {
			err := ev.neighboursOn(r, r.Back, p, func(n ir.Place) {
				if bits := s.marked[n.Kind].Bits; bits.Get(int(n.Node)) {
					bits.Clear(int(n.Node)) // list each node once
					found = append(found, n)
				}
			})
			if err != nil {
				return err
			}
		}
		s.nodes[i] = found
	}
	for k := range s.marked {
		if err := ev.Charge(&s.marked[k]); err != nil {
			return err
		}
	}
	bytes := 0
	for _, list := range s.nodes {
		bytes += cap(list) * int(unsafe.Sizeof(ir.Place{}))
	}
	more := max(0, bytes-s.counted)
	s.counted += more
	return ev.Spend(more)
}

// unmark empties the sets of marked nodes.
func (s *Search) unmark(ev *Evaluator, r *ir.Route) {
	if s.marked == nil {
		s.marked = make([]Walk, len(r.Kinds))
	}
	for k, typ := range r.Kinds {
		s.marked[k].Begin(ev.Snap.Nodes(typ).Ordinals())
	}
}

// mark marks the nodes that can be node number i of a shortest walk, provided that node number i-1
// is on a shortest walk.
func (s *Search) mark(ev *Evaluator, r *ir.Route, i, length int) {
	s.unmark(ev, r)
	if i <= s.Near.Depth {
		for _, p := range s.nodes[i] {
			s.marked[p.Kind].Visit(p.Node)
		}
		return
	}
	for k := range r.Kinds {
		for _, node := range s.far.Level(k, length-i) {
			s.marked[k].Visit(node)
		}
	}
}

// leastNeighbour returns one of the marked neighbours of a node: the neighbour whose type and id
// come first.
func (ev *Evaluator) leastNeighbour(s *Search, r *ir.Route, of ir.Place) (ir.Place, error) {
	var least ir.Place
	var id string
	found := false
	err := ev.neighboursOn(r, r.Ahead, of, func(n ir.Place) {
		if !s.marked[n.Kind].Bits.Get(int(n.Node)) || found && n == least {
			return
		}
		next := ev.Snap.Nodes(r.Kinds[n.Kind]).ID(n.Node)
		order := cmp.Or(cmp.Compare(r.Names[n.Kind], r.Names[least.Kind]), cmp.Compare(next, id))
		if fault.On(fault.LastWalk) {
			order = -order
		}
		if !found || order < 0 {
			least, id, found = n, next, true
		}
	})
	return least, err
}

// neighboursOn calls `yield` for the nodes to which the live edges of a node lead, once for each edge.
func (ev *Evaluator) neighboursOn(r *ir.Route, ways []ir.Way, of ir.Place, yield func(ir.Place)) error {
	for i := range ways {
		w := &ways[i]
		if w.From != of.Kind {
			continue
		}
		if err := ev.neighbours(r, w, ev.hop(w), of.Node, yield); err != nil {
			return err
		}
	}
	return nil
}
