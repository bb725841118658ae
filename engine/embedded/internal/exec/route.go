package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// walkType serves as the type of variables that are bound to walks. No schema contains it.
var walkType = &version.Type{Entity: plan.Walk, Name: "walk", IDProp: -1}

// route is the part of a schema that a walk between two nodes can use, or a traversal along edges of several
// types that have an interface at an end. Its nodes may be of several types. The route numbers these types;
// the number of a type is its kind.
type route struct {
	link      *link
	kinds     []int       // indexes of the node types; a kind is a position in this list
	names     []string    // names of the node types
	kindOf    map[int]int // kinds by index of the node type
	accepts   [2][]bool   // by kind: whether such a node may be at the near end, and at the far end
	near, far routeEnd    // the variables of the link
	closed    bool        // the walk leads back to its start
	min, max  int         // bounds of the length
	ahead     []way       // the ways that lead away from the near end
	back      []way       // the same ways, reversed
}

// way is one direction of an edge type on a route, for source nodes of one kind.
type way struct {
	edge    int           // index of the edge type
	in      bool          // follows edges from target to source
	from    int           // kind of the node at which it begins
	to      int           // kind of the node at which it ends; of no use if toRef is not nil
	fromRef *version.Type // reference type at which the way begins, or nil
	toRef   *version.Type // reference type at which the way ends, or nil
}

// place is a node on a route.
type place struct {
	kind int
	node uint32
}

// routeEnd says which nodes a variable at an end of a route can stand for.
type routeEnd struct {
	v      plan.VarID
	only   int   // kind of the nodes of a variable over a node type, or -1 if none is on the route
	kinds  []int // of a variable over an interface, by position of the member: the kind, or -1 for none
	member []int // of a variable over an interface, by kind: the position of the member, or -1 for none
}

// newRoute returns the route of a link. If the argument `back` is true, the walk begins at the link's target
// and follows the edges backwards.
func newRoute(q *query, l *link, back bool) *route {
	s := q.Schema
	r := &route{link: l, closed: l.From == l.To, min: l.Min, max: l.Max, kindOf: map[int]int{}}
	from, to := l.From, l.To
	if back {
		from, to = to, from
	}
	if !l.general {
		r.accept(0, r.kind(s, q.types[from].Index))
		r.accept(1, r.kind(s, q.types[to].Index))
	}
	for _, edge := range l.edgeTypes() {
		t := s.Edges[edge]
		if !back || l.Undirected {
			r.addWays(s, t, false)
		}
		if back || l.Undirected {
			r.addWays(s, t, true)
		}
	}
	r.near, r.far = r.end(q, from, 0), r.end(q, to, 1)
	return r
}

// kind returns the kind of a node type.
func (r *route) kind(s *version.Schema, node int) int {
	at, ok := r.kindOf[node]
	if !ok {
		at = len(r.kinds)
		r.kindOf[node] = at
		r.kinds, r.names = append(r.kinds, node), append(r.names, s.Nodes[node].Name)
		r.accepts[0], r.accepts[1] = append(r.accepts[0], false), append(r.accepts[1], false)
	}
	return at
}

// accept records that nodes of a kind may be at the near end (0) or the far end (1).
func (r *route) accept(end, kind int) { r.accepts[end][kind] = true }

// addWays adds the ways along an edge type, ahead and back. The argument `in` says whether the ways ahead lead
// from target to source.
func (r *route) addWays(s *version.Schema, t *version.Type, in bool) {
	begin, end := s.EndType(t, in), s.EndType(t, !in)
	starts, ends := r.kindsAt(s, begin), r.kindsAt(s, end)
	if r.link.general {
		for _, k := range starts {
			r.accept(0, k)
		}
		for _, k := range ends {
			r.accept(1, k)
		}
	}
	r.ahead = appendWays(r.ahead, t.Index, in, begin, end, starts, ends)
	r.back = appendWays(r.back, t.Index, !in, end, begin, ends, starts)
}

// kindsAt returns the kinds of the nodes that may be at an end of an edge.
func (r *route) kindsAt(s *version.Schema, end *version.Type) []int {
	if end.Of == nil {
		return []int{r.kind(s, end.Index)}
	}
	kinds := make([]int, len(end.Of.Members))
	for i, m := range end.Of.Members {
		kinds[i] = r.kind(s, m.Type.Index)
	}
	return kinds
}

// appendWays appends the ways of an edge type from nodes of some kinds to nodes of others.
func appendWays(ways []way, edge int, in bool, begin, end *version.Type, starts, ends []int) []way {
	w := way{edge: edge, in: in}
	if begin.Of != nil {
		w.fromRef = begin
	}
	if end.Of != nil {
		w.toRef = end
	} else {
		w.to = ends[0]
	}
	for _, k := range starts {
		w.from = k
		ways = append(ways, w)
	}
	return ways
}

// isDirect reports whether the ends of the edges are the nodes themselves and not references.
func (w *way) isDirect() bool { return w.fromRef == nil && w.toRef == nil }

// end returns the nodes that a variable can stand for at the near end (0) or the far end (1).
func (r *route) end(q *query, v plan.VarID, end int) routeEnd {
	kindOf := func(t *version.Type) int {
		if k, ok := r.kindOf[t.Index]; ok && r.accepts[end][k] {
			return k
		}
		return -1
	}
	over := q.over[v]
	if over == nil {
		return routeEnd{v: v, only: kindOf(q.types[v])}
	}
	out := routeEnd{v: v, only: -1, member: slices.Repeat([]int{-1}, len(r.kinds))}
	for m, member := range over.Members {
		k := kindOf(member.Type)
		if out.kinds = append(out.kinds, k); k >= 0 {
			out.member[k] = m
		}
	}
	return out
}

// placeOf returns the place of the node that a variable stands for. It reports false if the node does not fit the
// end of the route.
func (ev *evaluator) placeOf(e *routeEnd, ord uint32) (p place, fits bool) {
	s := ev.shared(e.v)
	if s == nil {
		return place{e.only, ord}, e.only >= 0
	}
	m, local := s.place(ord)
	return place{e.kinds[m], local}, e.kinds[m] >= 0
}

// base returns the number to add to the ordinals of the nodes of a kind to get the ordinals of a variable. It
// reports false if the variable cannot stand for these nodes.
func (ev *evaluator) base(e *routeEnd, kind int) (base uint32, fits bool) {
	s := ev.shared(e.v)
	if s == nil {
		return 0, kind == e.only
	}
	m := e.member[kind]
	if m < 0 {
		return 0, false
	}
	return s.starts[m], true
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
func (ev *evaluator) start(f *front, r *route, p place, visited bool) {
	if f.walks == nil {
		f.walks, f.starts = make([]walk, len(r.kinds)), make([][]int, len(r.kinds))
	}
	for k, typ := range r.kinds {
		f.walks[k].begin(ev.snap.Nodes(typ).Ordinals())
		f.starts[k] = append(f.starts[k][:0], 0)
	}
	f.depth, f.kind, f.end[0] = 0, p.kind, p.node
	if visited {
		f.walks[p.kind].visit(p.node)
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
func (ev *evaluator) advance(f *front, r *route, ways []way) (bool, error) {
	for k := range f.walks {
		f.starts[k] = append(f.starts[k], len(f.walks[k].visited))
	}
	f.depth++
	for i := range ways {
		w := &ways[i]
		nodes := f.level(w.from, f.depth-1)
		if len(nodes) == 0 {
			continue
		}
		h := ev.hop(w)
		var err error
		switch {
		case !w.isDirect():
			for _, node := range nodes {
				if err = ev.neighbours(r, w, h, node, func(p place) { f.walks[p.kind].visit(p.node) }); err != nil {
					break
				}
			}
		case h.alive && h.adj.AllInBase():
			err = ev.spread(&f.walks[w.to], h.adj, nodes)
		default:
			err = ev.trail(&f.walks[w.to], h, nodes)
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
func (ev *evaluator) hop(w *way) hop {
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
// bounds. It searches from both ends: of the two fronts, the one with fewer new nodes advances. For a route that is
// no walk, the length is 1.
func (ev *evaluator) between(s *search, r *route, a, b place) (int, error) {
	if err := ev.tick(1); err != nil {
		return -1, err
	}
	if r.link.Walk && !r.closed && a == b {
		return r.within(0), nil
	}
	if r.closed || !r.link.Walk {
		if ev.joins(r, a, b) {
			return r.within(1), nil
		}
		if !r.link.Walk {
			return -1, nil
		}
	}
	near, far := &s.near, &s.far
	ev.start(near, r, a, true)
	ev.start(far, r, b, true)
	for near.depth+far.depth < r.max {
		f, other, ways := near, far, r.ahead
		// A closed walk of two hops or more has a node at distance 1 from each end, and its ends are one node.
		// So both fronts must have advanced before they can meet.
		if far.depth == 0 && near.depth > 0 && r.closed || near.depth > 0 && far.width() < near.width() {
			f, other, ways = far, near, r.back
		}
		more, err := ev.advance(f, r, ways)
		if err != nil || !more {
			return -1, err
		}
		if f.meets(other) {
			return r.within(near.depth + far.depth), nil
		}
	}
	return -1, nil
}

// joins reports whether an edge of the route leads from node a to node b.
func (ev *evaluator) joins(r *route, a, b place) bool {
	for i := range r.ahead {
		w := &r.ahead[i]
		if w.from != a.kind || w.toRef == nil && w.to != b.kind {
			continue
		}
		from, ok := ev.entityAt(r, w.fromRef, a)
		to, both := ev.entityAt(r, w.toRef, b)
		if ok && both && joined(ev.hop(w), from, to, nil) {
			return true
		}
	}
	return false
}

// within returns the given length, or -1 if the length is outside of the route's bounds.
func (r *route) within(length int) int {
	if length < r.min || length > r.max {
		return -1
	}
	return length
}
