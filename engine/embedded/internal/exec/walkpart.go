package exec

import (
	"cmp"
	"reflect"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// walkPart binds a fact about a walk. The length of a walk is in the column of its variable. The
// evaluation searches for the nodes only when an expression needs them.
func (b *binder) walkPart(e plan.WalkPart, out *expr) error {
	l := b.walkLinks[e.Var]
	if l == nil {
		return mismatch("no traversal binds a walk to $%s", b.read.Vars[e.Var].Name)
	}
	back := e.From != l.src.From
	if from, to := ends(&l.src, back); e.From != from || e.To != to {
		return mismatch("the ends of the walk $%s are not those of its traversal", b.read.Vars[e.Var].Name)
	}
	out.kind, out.v, out.typ = exprWalk, e.Var, e.Fact.Type()
	out.walk = e
	if e.Fact != plan.WalkHops {
		out.search = len(b.routes)
		r := newRoute(b.query, l, back)
		out.near, out.far = r.end(b.query, e.From, 0), r.end(b.query, e.To, 1)
		b.routes = append(b.routes, r)
	}
	return nil
}

// ends returns the ends of a traversal in the order in which it is followed.
func ends(t *plan.Traverse, back bool) (from, to plan.VarID) {
	if back {
		return t.To, t.From
	}
	return t.From, t.To
}

// evalWalk evaluates a fact about a walk for the rows of a frame.
func (ev *evaluator) evalWalk(e *expr, f *frame, vec *column.Vec) {
	vec.Reset(e.typ, f.n)
	hops := f.cols[e.walk.Var]
	for i := range f.n {
		switch {
		case hops[i] == version.NoOrd:
			vec.SetNull(i)
		case e.walk.Fact == plan.WalkHops:
			if vec.Valid != nil {
				vec.Valid.Set(i)
			}
			vec.Ints[i] = int64(hops[i])
		default:
			list, err := ev.walkNodes(e, f.cols[e.walk.From][i], f.cols[e.walk.To][i])
			if err != nil {
				ev.fail(err)
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
func (ev *evaluator) walkNodes(e *expr, a, b uint32) (value.Value, error) {
	r := ev.routes[e.search]
	from, fitsA := ev.placeOf(&e.near, a)
	to, fitsB := ev.placeOf(&e.far, b)
	if !fitsA || !fitsB {
		return value.OfList(value.String, nil), nil
	}
	nodes, err := ev.walkBetween(&ev.searches[e.search], r, from, to)
	if err != nil {
		return value.Null, ev.inWalk(err, &r.link.Traverse)
	}
	list := make([]value.Value, len(nodes))
	for i, n := range nodes {
		if e.walk.Fact == plan.WalkTypes {
			list[i] = value.OfString(r.names[n.kind])
		} else {
			list[i] = value.OfString(ev.snap.Nodes(r.kinds[n.kind]).ID(n.node))
		}
	}
	return value.OfList(value.String, list), nil
}

// walkBetween returns the nodes of the shortest walk from node a to node b. If there are several
// shortest walks, it returns the one whose sequence of types and ids comes first. It returns nil if
// there is no walk.
func (ev *evaluator) walkBetween(s *search, r *route, first, last place) ([]place, error) {
	length, err := ev.between(s, r, first, last)
	if err != nil {
		return nil, err
	}
	switch length {
	case -1:
		return nil, nil
	case 0:
		return []place{first}, nil
	case 1:
		return []place{first, last}, nil
	}
	if err := ev.onWalks(s, r); err != nil {
		return nil, err
	}
	nodes := make([]place, 1, length+1)
	nodes[0] = first
	for i := 1; i < length; i++ {
		var next place
		if i <= s.near.depth && len(s.nodes[i]) == 1 {
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
func (ev *evaluator) onWalks(s *search, r *route) error {
	depth := s.near.depth
	for len(s.nodes) <= depth {
		s.nodes = append(s.nodes, nil)
	}
	met := s.nodes[depth][:0]
	for k := range r.kinds {
		for _, node := range s.near.level(k, depth) {
			if s.far.walks[k].bits.Get(int(node)) {
				met = append(met, place{k, node})
			}
		}
	}
	s.nodes[depth] = met
	for i := depth - 1; i > 0; i-- {
		s.unmark(ev, r)
		for k := range r.kinds {
			for _, node := range s.near.level(k, i) {
				s.marked[k].visit(node)
			}
		}
		found := s.nodes[i][:0]
		for _, p := range s.nodes[i+1] {
			err := ev.neighboursOn(r, r.back, p, func(n place) {
				if bits := s.marked[n.kind].bits; bits.Get(int(n.node)) {
					bits.Clear(int(n.node)) // list each node once
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
		if err := ev.charge(&s.marked[k]); err != nil {
			return err
		}
	}
	bytes := 0
	for _, list := range s.nodes {
		bytes += cap(list) * int(unsafe.Sizeof(place{}))
	}
	more := max(0, bytes-s.counted)
	s.counted += more
	return ev.spend(more)
}

// unmark empties the sets of marked nodes.
func (s *search) unmark(ev *evaluator, r *route) {
	if s.marked == nil {
		s.marked = make([]walk, len(r.kinds))
	}
	for k, typ := range r.kinds {
		s.marked[k].begin(ev.snap.Nodes(typ).Ordinals())
	}
}

// mark marks the nodes that can be node number i of a shortest walk, provided that node number i-1
// is on a shortest walk.
func (s *search) mark(ev *evaluator, r *route, i, length int) {
	s.unmark(ev, r)
	if i <= s.near.depth {
		for _, p := range s.nodes[i] {
			s.marked[p.kind].visit(p.node)
		}
		return
	}
	for k := range r.kinds {
		for _, node := range s.far.level(k, length-i) {
			s.marked[k].visit(node)
		}
	}
}

// leastNeighbour returns one of the marked neighbours of a node: the neighbour whose type and id
// come first.
func (ev *evaluator) leastNeighbour(s *search, r *route, of place) (place, error) {
	var least place
	var id string
	found := false
	err := ev.neighboursOn(r, r.ahead, of, func(n place) {
		if !s.marked[n.kind].bits.Get(int(n.node)) || found && n == least {
			return
		}
		next := ev.snap.Nodes(r.kinds[n.kind]).ID(n.node)
		order := cmp.Or(cmp.Compare(r.names[n.kind], r.names[least.kind]), cmp.Compare(next, id))
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
func (ev *evaluator) neighboursOn(r *route, ways []way, of place, yield func(place)) error {
	for i := range ways {
		w := &ways[i]
		if w.from != of.kind {
			continue
		}
		if err := ev.neighbours(r, w, ev.hop(w), of.node, yield); err != nil {
			return err
		}
	}
	return nil
}

// walkLink binds a traversal with a variable for its walk, so that expressions can refer to the
// variable before the traversal's block is bound.
func (b *binder) walkLink(c plan.Traverse) error {
	l, err := b.link(c)
	if err != nil {
		return err
	}
	// The clauses of a block whose truth is a value may be checked several times.
	if known := b.walkLinks[c.EdgeVar]; known != nil && !reflect.DeepEqual(known.src, c) {
		return mismatch("two traversals bind the walk $%s", b.read.Vars[c.EdgeVar].Name)
	}
	if b.walkLinks == nil {
		b.walkLinks = map[plan.VarID]*link{}
	}
	b.walkLinks[c.EdgeVar] = l
	return nil
}

// checkWalkPart checks the fact that an expression states about a walk, and its variables.
func (b *binder) checkWalkPart(e plan.WalkPart) error {
	if !e.Fact.Valid() {
		return mismatch("there is no fact %d about a walk", uint8(e.Fact))
	}
	if err := b.checkVariable(e.Var, plan.Walk); err != nil {
		return err
	}
	if err := b.checkVariable(e.From, plan.Node); err != nil {
		return err
	}
	return b.checkVariable(e.To, plan.Node)
}
