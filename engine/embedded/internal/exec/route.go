package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// walkType serves as the type of variables that are bound to walks. No schema contains it.
var walkType = &version.Type{Entity: plan.Walk, Name: "walk", IDProp: -1}

// route is the part of a schema that a walk between two types of nodes can use. Its nodes may be of
// several types. The route numbers these types; the number of a type is its kind.
type route struct {
	link     *link
	kinds    []int    // indexes of the node types; a kind is a position in this list
	names    []string // names of the node types
	from, to int      // kinds of the ends
	closed   bool     // the walk leads back to its start
	min, max int      // bounds of the length
	ahead    []way    // the ways that lead away from the end `from`
	back     []way    // the same ways, reversed
}

// way is one direction of an edge type on a route.
type way struct {
	edge     int  // index of the edge type
	in       bool // follows edges from target to source
	from, to int  // kinds of the nodes at its ends
}

// newRoute returns the route of a link. If the argument `back` is true, the walk begins at the link's target
// and follows the edges backwards.
func newRoute(s *version.Schema, types []*version.Type, l *link, back bool) *route {
	r := &route{link: l, closed: l.From == l.To, min: l.Min, max: l.Max}
	from, to := l.From, l.To
	if back {
		from, to = to, from
	}
	kind := func(node int) int {
		at := slices.Index(r.kinds, node)
		if at < 0 {
			at = len(r.kinds)
			r.kinds, r.names = append(r.kinds, node), append(r.names, s.Nodes[node].Name)
		}
		return at
	}
	r.from, r.to = kind(types[from].Index), kind(types[to].Index)
	for _, edge := range l.edgeTypes() {
		t := s.Edges[edge]
		src, dst := kind(t.From), kind(t.To)
		if !back || l.Undirected {
			r.ahead = append(r.ahead, way{edge, false, src, dst})
			r.back = append(r.back, way{edge, true, dst, src})
		}
		if back || l.Undirected {
			r.ahead = append(r.ahead, way{edge, true, dst, src})
			r.back = append(r.back, way{edge, false, src, dst})
		}
	}
	return r
}

// search is the memory of the searches along a route.
type search struct {
	near, far front
	marked    []walk    // by kind; see evaluator.onWalks
	nodes     [][]place // by distance; see evaluator.onWalks
	counted   int       // bytes of `nodes` that were charged to the run
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
func (ev *evaluator) start(f *front, r *route, kind int, node uint32, visited bool) {
	if f.walks == nil {
		f.walks, f.starts = make([]walk, len(r.kinds)), make([][]int, len(r.kinds))
	}
	for k, typ := range r.kinds {
		f.walks[k].begin(ev.snap.Nodes(typ).Ordinals())
		f.starts[k] = append(f.starts[k][:0], 0)
	}
	f.depth, f.kind, f.end[0] = 0, kind, node
	if visited {
		f.walks[kind].visit(node)
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
func (ev *evaluator) advance(f *front, ways []way) (bool, error) {
	for k := range f.walks {
		f.starts[k] = append(f.starts[k], len(f.walks[k].visited))
	}
	f.depth++
	for _, w := range ways {
		nodes := f.level(w.from, f.depth-1)
		if len(nodes) == 0 {
			continue
		}
		h, to := ev.hop(w), &f.walks[w.to]
		var err error
		if h.alive && h.adj.AllInBase() {
			err = ev.spread(to, h.adj, nodes)
		} else {
			err = ev.trail(to, h, nodes)
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
func (ev *evaluator) hop(w way) hop {
	t := ev.snap.Edges(w.edge)
	if w.in {
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
// bounds. It searches from both ends: of the two fronts, the one with fewer new nodes advances.
func (ev *evaluator) between(s *search, r *route, a, b uint32) (int, error) {
	if err := ev.tick(1); err != nil {
		return -1, err
	}
	if !r.closed && r.from == r.to && a == b {
		return r.within(0), nil
	}
	if r.closed {
		for _, w := range r.ahead {
			if w.from == r.from && w.to == r.to && joined(ev.hop(w), a, b, nil) {
				return r.within(1), nil
			}
		}
	}
	near, far := &s.near, &s.far
	ev.start(near, r, r.from, a, true)
	ev.start(far, r, r.to, b, true)
	for near.depth+far.depth < r.max {
		f, other, ways := near, far, r.ahead
		// A closed walk of two hops or more has a node at distance 1 from each end, and its ends are one node.
		// So both fronts must have advanced before they can meet.
		if far.depth == 0 && near.depth > 0 && r.closed || near.depth > 0 && far.width() < near.width() {
			f, other, ways = far, near, r.back
		}
		more, err := ev.advance(f, ways)
		if err != nil || !more {
			return -1, err
		}
		if f.meets(other) {
			return r.within(near.depth + far.depth), nil
		}
	}
	return -1, nil
}

// within returns the given length, or -1 if the length is outside of the route's bounds.
func (r *route) within(length int) int {
	if length < r.min || length > r.max {
		return -1
	}
	return length
}
