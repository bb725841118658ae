package exec

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"

// placeOf returns the place of the node that a variable stands for. It reports false if the node does not fit the
// end of the route.
func (ev *evaluator) placeOf(e *ir.RouteEnd, ord uint32) (p ir.Place, fits bool) {
	s := ev.shared(e.Var)
	if s == nil {
		return ir.Place{Kind: e.Only, Node: ord}, e.Only >= 0
	}
	m, local := s.place(ord)
	return ir.Place{Kind: e.Kinds[m], Node: local}, e.Kinds[m] >= 0
}

// base returns the number to add to the ordinals of the nodes of a kind to get the ordinals of a variable. It
// reports false if the variable cannot stand for these nodes.
func (ev *evaluator) base(e *ir.RouteEnd, kind int) (base uint32, fits bool) {
	s := ev.shared(e.Var)
	if s == nil {
		return 0, kind == e.Only
	}
	m := e.Member[kind]
	if m < 0 {
		return 0, false
	}
	return s.starts[m], true
}

// search is the memory of the searches along a route.
type search struct {
	near, far front
	marked    []walk       // by kind; see evaluator.onWalks
	nodes     [][]ir.Place // by distance; see evaluator.onWalks
	counted   int          // bytes of `nodes` that were charged to the run
}

// front is the part of a search that begins at one end of a route.
type front struct {
	walks  []walk    // by kind: the visited nodes, in the order of their distance from the end
	starts [][]int   // by kind and distance: position in walks[kind].visited of the first node at that distance
	depth  int       // distance of the nodes that were visited last
	end    [1]uint32 // the node at the end
	kind   int       // kind of that node
}

// begin prepares the memory for a new run.
func (s *search) begin() {
	s.counted = 0
	for _, f := range []*front{&s.near, &s.far} {
		for k := range f.walks {
			f.walks[k].counted = 0
		}
	}
	for k := range s.marked {
		s.marked[k].counted = 0
	}
}

// start begins a search at a node. If `visited` is true, the node counts as visited; otherwise the
// search can come back to it.
func (ev *evaluator) start(f *front, r *ir.Route, p ir.Place, visited bool) {
	if f.walks == nil {
		f.walks, f.starts = make([]walk, len(r.Kinds)), make([][]int, len(r.Kinds))
	}
	for k, typ := range r.Kinds {
		f.walks[k].begin(ev.snap.Nodes(typ).Ordinals())
		f.starts[k] = append(f.starts[k][:0], 0)
	}
	f.depth, f.kind, f.end[0] = 0, p.Kind, p.Node
	if visited {
		f.walks[p.Kind].visit(p.Node)
	}
}

// level returns the nodes of a kind at a distance from the end. The distance is at most the depth.
func (f *front) level(kind, distance int) []uint32 {
	if distance == 0 {
		if kind == f.kind {
			return f.end[:]
		}
		return nil
	}
	visited := f.walks[kind].visited
	if distance < f.depth {
		visited = visited[:f.starts[kind][distance+1]]
	}
	return visited[f.starts[kind][distance]:]
}

// width returns the number of nodes at the greatest distance that was searched.
func (f *front) width() int {
	n := 0
	for k := range f.walks {
		n += len(f.level(k, f.depth))
	}
	return n
}

// advance visits the nodes one hop further away. It reports whether it found any.
func (ev *evaluator) advance(f *front, r *ir.Route, ways []ir.Way) (bool, error) {
	for k := range f.walks {
		f.starts[k] = append(f.starts[k], len(f.walks[k].visited))
	}
	f.depth++
	for i := range ways {
		w := &ways[i]
		nodes := f.level(w.From, f.depth-1)
		if len(nodes) == 0 {
			continue
		}
		h := ev.hop(w)
		var err error
		switch {
		case !w.IsDirect():
			for _, node := range nodes {
				if err = ev.neighbours(r, w, h, node, func(p ir.Place) { f.walks[p.Kind].visit(p.Node) }); err != nil {
					break
				}
			}
		case h.alive && h.adj.AllInBase():
			err = ev.spread(&f.walks[w.To], h.adj, nodes)
		default:
			err = ev.trail(&f.walks[w.To], h, nodes)
		}
		if err != nil {
			return false, err
		}
	}
	for k := range f.walks {
		if err := ev.charge(&f.walks[k]); err != nil {
			return false, err
		}
	}
	return f.width() > 0, nil
}

// hop returns the edges of a way.
func (ev *evaluator) hop(w *ir.Way) hop {
	t := ev.snap.Edges(w.Edge)
	if w.In {
		return newHop(t, t.In())
	}
	return newHop(t, t.Out())
}

// meets reports whether the other front has also visited one of the nodes that this front visited
// last.
func (f *front) meets(other *front) bool {
	for k := range f.walks {
		for _, node := range f.level(k, f.depth) {
			if other.walks[k].bits.Get(int(node)) {
				return true
			}
		}
	}
	return false
}

// between returns the length of the shortest walk from node a to node b, or -1 if that length is outside of the
// bounds. It searches from both ends: of the two fronts, the one with fewer new nodes advances. For a route that is
// no walk, the length is 1.
func (ev *evaluator) between(s *search, r *ir.Route, a, b ir.Place) (int, error) {
	if err := ev.tick(1); err != nil {
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
	near, far := &s.near, &s.far
	ev.start(near, r, a, true)
	ev.start(far, r, b, true)
	for near.depth+far.depth < r.Max {
		f, other, ways := near, far, r.Ahead
		// A closed walk of two hops or more has a node at distance 1 from each end, and its ends are one node.
		// So both fronts must have advanced before they can meet.
		if far.depth == 0 && near.depth > 0 && r.Closed || near.depth > 0 && far.width() < near.width() {
			f, other, ways = far, near, r.Back
		}
		more, err := ev.advance(f, r, ways)
		if err != nil || !more {
			return -1, err
		}
		if f.meets(other) {
			return r.Within(near.depth + far.depth), nil
		}
	}
	return -1, nil
}

// joins reports whether an edge of the route leads from node a to node b.
func (ev *evaluator) joins(r *ir.Route, a, b ir.Place) bool {
	for i := range r.Ahead {
		w := &r.Ahead[i]
		if w.From != a.Kind || w.ToRef == nil && w.To != b.Kind {
			continue
		}
		from, ok := ev.entityAt(r, w.FromRef, a)
		to, both := ev.entityAt(r, w.ToRef, b)
		if ok && both && joined(ev.hop(w), from, to, nil) {
			return true
		}
	}
	return false
}
