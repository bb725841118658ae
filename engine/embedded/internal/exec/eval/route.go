package eval

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"

// VisitAll visits the nodes that walks from the given node reach within the maximum length of the
// route. On a closed route, it stops when it comes back to that node.
func (ev *Evaluator) VisitAll(f *Front, r *ir.Route, from ir.Place) error {
	ev.start(f, r, from, r.Link.Walk && !r.Closed)
	if err := ev.Tick(1); err != nil {
		return err
	}
	for f.Depth < r.Max && !f.IsBack(r) {
		if more, err := ev.advance(f, r, r.Ahead); err != nil || !more {
			return err
		}
	}
	return nil
}

// IsBack reports whether a search on a closed route has come back to its start.
func (f *Front) IsBack(r *ir.Route) bool {
	return r.Closed && f.walks[f.Kind].Bits.Get(int(f.End[0]))
}

// PlaceOf returns the place of the node that a variable stands for. It reports false if the node does not fit the
// end of the route.
func (ev *Evaluator) PlaceOf(e *ir.RouteEnd, ord uint32) (p ir.Place, fits bool) {
	s := ev.Shared(e.Var)
	if s == nil {
		return ir.Place{Kind: e.Only, Node: ord}, e.Only >= 0
	}
	m, local := s.place(ord)
	return ir.Place{Kind: e.Kinds[m], Node: local}, e.Kinds[m] >= 0
}

// Base returns the number to add to the ordinals of the nodes of a kind to get the ordinals of a variable. It
// reports false if the variable cannot stand for these nodes.
func (ev *Evaluator) Base(e *ir.RouteEnd, kind int) (base uint32, fits bool) {
	s := ev.Shared(e.Var)
	if s == nil {
		return 0, kind == e.Only
	}
	m := e.Member[kind]
	if m < 0 {
		return 0, false
	}
	return s.Starts[m], true
}

// Search is the memory of the searches along a route.
type Search struct {
	Near, far Front
	marked    []Walk       // by kind; see Evaluator.onWalks
	nodes     [][]ir.Place // by distance; see Evaluator.onWalks
	counted   int          // bytes of `nodes` that were charged to the run
}

// Front is the part of a search that begins at one end of a route.
type Front struct {
	walks  []Walk    // by kind: the visited nodes, in the order of their distance from the end
	starts [][]int   // by kind and distance: position in walks[kind].visited of the first node at that distance
	Depth  int       // distance of the nodes that were visited last
	End    [1]uint32 // the node at the end
	Kind   int       // kind of that node
}

// begin prepares the memory for a new run.
func (s *Search) begin() {
	s.counted = 0
	for _, f := range []*Front{&s.Near, &s.far} {
		for k := range f.walks {
			f.walks[k].Counted = 0
		}
	}
	for k := range s.marked {
		s.marked[k].Counted = 0
	}
}

// start begins a search at a node. If `visited` is true, the node counts as visited; otherwise the
// search can come back to it.
func (ev *Evaluator) start(f *Front, r *ir.Route, p ir.Place, visited bool) {
	if f.walks == nil {
		f.walks, f.starts = make([]Walk, len(r.Kinds)), make([][]int, len(r.Kinds))
	}
	for k, typ := range r.Kinds {
		f.walks[k].Begin(ev.Snap.Nodes(typ).Ordinals())
		f.starts[k] = append(f.starts[k][:0], 0)
	}
	f.Depth, f.Kind, f.End[0] = 0, p.Kind, p.Node
	if visited {
		f.walks[p.Kind].Visit(p.Node)
	}
}

// Level returns the nodes of a kind at a distance from the end. The distance is at most the depth.
func (f *Front) Level(kind, distance int) []uint32 {
	if distance == 0 {
		if kind == f.Kind {
			return f.End[:]
		}
		return nil
	}
	visited := f.walks[kind].Visited
	if distance < f.Depth {
		visited = visited[:f.starts[kind][distance+1]]
	}
	return visited[f.starts[kind][distance]:]
}

// width returns the number of nodes at the greatest distance that was searched.
func (f *Front) width() int {
	n := 0
	for k := range f.walks {
		n += len(f.Level(k, f.Depth))
	}
	return n
}

// advance visits the nodes one hop further away. It reports whether it found any.
func (ev *Evaluator) advance(f *Front, r *ir.Route, ways []ir.Way) (bool, error) {
	for k := range f.walks {
		f.starts[k] = append(f.starts[k], len(f.walks[k].Visited))
	}
	f.Depth++
	for i := range ways {
		w := &ways[i]
		nodes := f.Level(w.From, f.Depth-1)
		if len(nodes) == 0 {
			continue
		}
		h := ev.hop(w)
		var err error
		switch {
		case !w.IsDirect():
			for _, node := range nodes {
				if err = ev.neighbours(r, w, h, node, func(p ir.Place) { f.walks[p.Kind].Visit(p.Node) }); err != nil {
					break
				}
			}
		case h.BaseAlive && h.Adj.AllInBase():
			err = ev.Spread(&f.walks[w.To], h.Adj, nodes)
		default:
			err = ev.Trail(&f.walks[w.To], h, nodes)
		}
		if err != nil {
			return false, err
		}
	}
	for k := range f.walks {
		if err := ev.Charge(&f.walks[k]); err != nil {
			return false, err
		}
	}
	return f.width() > 0, nil
}

// hop returns the edges of a way.
func (ev *Evaluator) hop(w *ir.Way) Hop {
	t := ev.Snap.Edges(w.Edge)
	if w.In {
		return newHop(t, t.In())
	}
	return newHop(t, t.Out())
}

// meets reports whether the other front has also visited one of the nodes that this front visited
// last.
func (f *Front) meets(other *Front) bool {
	for k := range f.walks {
		for _, node := range f.Level(k, f.Depth) {
			if other.walks[k].Bits.Get(int(node)) {
				return true
			}
		}
	}
	return false
}

// Between returns the length of the shortest walk from node a to node b, or -1 if that length is outside of the
// bounds. It searches from both ends: of the two fronts, the one with fewer new nodes advances. For a route that is
// no walk, the length is 1.
func (ev *Evaluator) Between(s *Search, r *ir.Route, a, b ir.Place) (int, error) {
	if err := ev.Tick(1); err != nil {
		return -1, err
	}
	if r.Link.Walk && !r.Closed && a == b {
		return r.Within(0), nil
	}
	if r.Closed || !r.Link.Walk {
		if ev.joins(r, a, b) {
			return r.Within(1), nil
		}
		if !r.Link.Walk {
			return -1, nil
		}
	}
	near, far := &s.Near, &s.far
	ev.start(near, r, a, true)
	ev.start(far, r, b, true)
	for near.Depth+far.Depth < r.Max {
		f, other, ways := near, far, r.Ahead
		// A closed walk of two hops or more has a node at distance 1 from each end, and its ends are one node.
		// So both fronts must have advanced before they can meet.
		if far.Depth == 0 && near.Depth > 0 && r.Closed || near.Depth > 0 && far.width() < near.width() {
			f, other, ways = far, near, r.Back
		}
		more, err := ev.advance(f, r, ways)
		if err != nil || !more {
			return -1, err
		}
		if f.meets(other) {
			return r.Within(near.Depth + far.Depth), nil
		}
	}
	return -1, nil
}

// joins reports whether an edge of the route leads from node a to node b.
func (ev *Evaluator) joins(r *ir.Route, a, b ir.Place) bool {
	for i := range r.Ahead {
		w := &r.Ahead[i]
		if w.From != a.Kind || w.ToRef == nil && w.To != b.Kind {
			continue
		}
		from, ok := ev.entityAt(r, w.FromRef, a)
		to, both := ev.entityAt(r, w.ToRef, b)
		if ok && both && Joined(ev.hop(w), from, to, nil) {
			return true
		}
	}
	return false
}
