package exec

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// hop is one direction of an edge type.
type hop struct {
	edges *version.Table   // the edges of the type
	adj   *index.Adjacency // the edges by their node at the start of the hop
	alive bool             // every listed edge is live
	// whole is set if the base of the index lists all neighbours of every node, each once.
	whole bool
}

// newHop returns the hop over the edges that an index of the table lists.
func newHop(t *version.Table, adj *index.Adjacency) hop {
	alive := t.AllLive()
	return hop{t, adj, alive, alive && adj.Simple()}
}

// near returns the other ends of a node's edges in the base of the index. It returns the edges too
// unless all of them are live.
func (h *hop) near(node uint32) (edges, others []uint32) {
	if h.alive {
		return nil, h.adj.Others(node)
	}
	return h.adj.Base(node)
}

// hops returns the directions in which an edge type is followed, and their number.
func (ev *evaluator) hops(edge int, out, in bool) (hops [2]hop, n int) {
	t := ev.snap.Edges(edge)
	if out {
		hops[n] = newHop(t, t.Out())
		n++
	}
	if in {
		hops[n] = newHop(t, t.In())
		n++
	}
	return hops, n
}

// traverse is the common part of expand, check, reach and explore.
type traverse struct {
	*ir.Link
	back bool         // follows edges from target to source
	from plan.VarID   // the bound end
	to   plan.VarID   // the other end
	vars []plan.VarID // already bound
	id   int          // position in matcher.frames and matcher.walks
}

// traverse returns the part that all steps for a link have in common. If the argument `back` is
// true, the steps follow the edges backwards.
func (pl *planner) traverse(s *scope, l *ir.Link, back bool) traverse {
	tr := traverse{Link: l, back: back, from: l.From, to: l.To, vars: slices.Clip(s.vars), id: pl.frame()}
	if back {
		tr.from, tr.to = l.To, l.From
	}
	return tr
}

// addExpand adds the step that binds the other end of a traversal.
func (pl *planner) addExpand(s *scope, l *ir.Link, back bool) {
	tr := pl.traverse(s, l, back)
	switch {
	case l.Same:
		s.pipe.steps = append(s.pipe.steps, &identify{tr, false})
	case l.Explores():
		s.pipe.steps = append(s.pipe.steps, pl.explore(tr, false))
	case tr.Walk:
		s.pipe.steps = append(s.pipe.steps, &reach{tr, false, 0})
	default:
		s.pipe.steps = append(s.pipe.steps, &expand{tr})
	}
	s.bind(tr.to)
	s.bind(l.EdgeVar)
}

// check returns the step for a traversal with both ends bound.
func (pl *planner) check(s *scope, l *ir.Link) step {
	tr := pl.traverse(s, l, false)
	switch {
	case l.Same:
		return &identify{tr, true}
	case l.Explores():
		return pl.explore(tr, true)
	case tr.Walk:
		return &reach{tr, true, pl.frame()}
	case l.OrTypes != nil:
		return &checkAlternatives{tr}
	}
	return &check{traverse: tr}
}

// expand follows the edges of a node.
type expand struct{ traverse }

// run implements step.
func (s *expand) run(m *matcher, p *pipe, at int, f *frame) error {
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.to, s.EdgeVar)
	var room [2]hop
	hops := m.hopsOf(room[:0], s.Link, s.Undirected || !s.back, s.Undirected || s.back)
	last := p.inner && at == len(p.steps)-1
	if len(hops) == 1 && hops[0].whole && s.EdgeVar == plan.NoVar && f.found == nil && !last {
		return s.follow(m, p, at, f, out, hops[0].adj)
	}
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		edges, others, err := m.neighbours(s, hops, f.cols[s.from][i])
		if err != nil {
			return err
		}
		if last && len(others) > 0 {
			f.found.set(f.outer[i]) // one match is enough
			m.countRows(p, 1)
			continue
		}
		for len(others) > 0 {
			k := out.repeat(f, i, s.vars, len(others))
			copy(out.cols[s.to][out.n-k:out.n], others)
			others = others[k:]
			if s.EdgeVar != plan.NoVar {
				copy(out.cols[s.EdgeVar][out.n-k:out.n], edges)
				edges = edges[k:]
			}
			if out.n < frameSize {
				break
			}
			if err := m.flush(p, at, out); err != nil {
				return err
			}
			if f.isDone(i) {
				break
			}
		}
	}
	return m.flush(p, at, out)
}

// follow does the work of run if an index lists the neighbours of every node. It copies the rows column by column.
func (s *expand) follow(m *matcher, p *pipe, at int, f, out *frame, adj *index.Adjacency) error {
	to := out.cols[s.to][:frameSize]
	n := 0
	for i, node := range f.cols[s.from][:f.n] {
		for others := adj.Others(node); len(others) > 0; {
			k := 1
			if len(others) == 1 {
				to[n], m.origins[n] = others[0], uint32(i)
			} else {
				k = copy(to[n:], others)
				for j := range m.origins[n : n+k] {
					m.origins[n+j] = uint32(i)
				}
			}
			others = others[k:]
			if n += k; n < frameSize {
				break
			}
			if err := s.passOn(m, p, at, f, out, n); err != nil {
				return err
			}
			n = 0
		}
	}
	if err := m.tick(f.n); err != nil {
		return err
	}
	return s.passOn(m, p, at, f, out, n)
}

// passOn flushes the first n rows of a frame. The step has bound its variable; passOn copies the other variables from the
// rows of f that matcher.origins lists.
func (s *expand) passOn(m *matcher, p *pipe, at int, f, out *frame, n int) error {
	for _, v := range s.vars {
		from, to := f.cols[v][:f.n], out.cols[v][:n]
		for k, i := range m.origins[:n] {
			to[k] = from[i]
		}
	}
	out.n = n
	if err := m.tick(n); err != nil {
		return err
	}
	return m.flush(p, at, out)
}

// count implements [counter].
func (s *expand) count(m *matcher, f *frame) (n int, err error) {
	var room [2]hop
	hops := m.hopsOf(room[:0], s.Link, s.Undirected || !s.back, s.Undirected || s.back)
	for i := range f.n {
		_, others, err := m.neighbours(s, hops, f.cols[s.from][i])
		if err != nil {
			return 0, err
		}
		n += len(others)
	}
	return n, nil
}

// nearby is the memory in which a step lists the edges of a node.
type nearby struct{ edges, nodes []uint32 }

// neighbours returns the live edges of a node and the nodes that they lead to. If the query
// has no edge variable, it returns each node once, and no edges. The lists belong to the
// index, or are valid until the next call for the same step: while a step passes on the rows of a
// node with many edges, later steps call neighbours too.
func (m *matcher) neighbours(s *expand, hops []hop, node uint32) (edges, others []uint32, err error) {
	wanted := s.EdgeVar != plan.NoVar
	if h := &hops[0]; len(hops) == 1 && (h.whole || h.alive && (wanted || h.adj.Distinct()) && h.adj.InBase(node)) {
		if wanted {
			edges, others = h.adj.Base(node)
		} else {
			others = h.adj.Others(node)
		}
		return edges, others, m.tick(1 + len(others))
	}
	near := &m.around[s.id]
	edges, others = near.edges[:0], near.nodes[:0]
	seen := &m.walks[s.id]
	seen.begin(m.table(s.to).Ordinals())
	for k, h := range hops {
		base, nodes := h.adj.Base(node)
		if err := m.tick(1 + len(base)); err != nil {
			return nil, nil, err
		}
		for j, other := range nodes {
			switch {
			case !h.alive && !h.edges.Alive(base[j]):
			case !wanted:
				seen.visit(other)
			case k == 0 || other != node: // an edge from the node to itself was already listed
				edges, others = append(edges, base[j]), append(others, other)
			}
		}
		later := 0
		for o := h.adj.Later(node); o.Next(); later++ {
			switch {
			case !h.alive && !h.edges.Alive(o.Edge):
			case !wanted:
				seen.visit(o.Other)
			case k == 0 || o.Other != node:
				edges, others = append(edges, o.Edge), append(others, o.Other)
			}
		}
		if err := m.tick(later); err != nil {
			return nil, nil, err
		}
	}
	if !wanted {
		return nil, seen.visited, m.charge(seen)
	}
	more := cap(edges) + cap(others) - cap(near.edges) - cap(near.nodes)
	near.edges, near.nodes = edges, others
	return edges, others, m.hold(4 * more)
}

// check keeps the rows in which an edge joins the two nodes. If the field `not` is set, it keeps
// the rows in which no edge joins them. If there is an edge variable, check binds it to each
// joining edge.
type check struct {
	traverse
	not bool // keeps the rows without an edge; it replaces a `not` block that contains only the traversal
}

// run implements step.
func (s *check) run(m *matcher, p *pipe, at int, f *frame) error {
	if s.EdgeVar != plan.NoVar {
		return s.bind(m, p, at, f)
	}
	rows := m.chosen[:0]
	from, to := f.cols[s.From][:f.n], f.cols[s.To][:f.n]
	set, err := m.edgeSet(s)
	if err != nil {
		return err
	}
	if set != nil {
		if err := m.tick(f.n); err != nil {
			return err
		}
		for i := range from {
			if set.has(from[i], to[i]) != s.not {
				rows = append(rows, uint32(i))
			}
		}
	}
	for i := 0; i < f.n && set == nil; {
		// Rows that share a node are mostly consecutive.
		k := i + 1
		for k < f.n && to[k] == to[i] {
			k++
		}
		same, others, back := to[i], from, true
		if k == i+1 {
			for k < f.n && from[k] == from[i] {
				k++
			}
			same, others, back = from[i], to, false
		}
		j, err := m.edgeTest(s, same, back, k-i)
		if err != nil {
			return err
		}
		for ; i < k; i++ {
			if j.joins(others[i]) != s.not {
				rows = append(rows, uint32(i))
			}
		}
	}
	m.chosen = rows
	f.choose(rows, s.vars)
	return m.push(p, at+1, f)
}

// edgeTest is for one node. It tests for any other node whether an edge joins the two.
type edgeTest struct {
	node   uint32   // ordinal of the node with the edges to look up
	hops   [2]hop   // the directions in which the edges are followed
	n      int      // number of hops in use
	marked *walk    // the nodes at the other ends of its edges; nil if they were not marked
	set    *edgeSet // all edges; nil if they are not in a set
	back   bool     // the node is the target of the edges
	// opposite has the opposite direction of each hop if the node has many edges; else it is nil. Another node with few
	// edges is then tested by its own edges.
	opposite *[2]hop
}

// A node with more than manyEdges edges, as far as they were counted, is tested by the edges of the other node if that
// one has at most fewEdges.
const (
	manyEdges = 32
	fewEdges  = 4
)

// edgeTest returns an edgeTest for a node. The parameter `tests` is the number of calls of
// edgeTest.joins that will follow.
func (m *matcher) edgeTest(s *check, node uint32, back bool, tests int) (j edgeTest, err error) {
	j.node, j.back, j.n = node, back, 1
	if j.set, err = m.edgeSet(s); j.set != nil || err != nil {
		return j, cmp.Or(err, m.tick(tests))
	}
	j.hops, j.n = m.hops(s.EdgeType, s.Undirected || !back, s.Undirected || back)
	edges := 0
	for _, h := range j.hops[:j.n] {
		edges += len(h.adj.Others(node))
		for o := h.adj.Later(node); edges < tests*markShare && o.Next(); {
			edges++
		}
	}
	if edges >= tests*markShare {
		if edges > manyEdges {
			j.opposite = m.oppositeHops(s, back)
			m.searched(s, tests/setShare) // most of these searches are cheap
		} else {
			m.searched(s, tests)
		}
		return j, m.tick(tests)
	}
	far := s.To
	if back {
		far = s.From
	}
	j.marked = &m.walks[s.id]
	j.marked.begin(m.table(far).Ordinals())
	for _, h := range j.hops[:j.n] {
		if err := m.trail(j.marked, h, []uint32{node}); err != nil {
			return j, err
		}
	}
	if err := m.charge(j.marked); err != nil {
		return j, err
	}
	return j, m.tick(tests)
}

// oppositeHops returns the opposite directions of the hops of an edgeTest. They are valid until the next call for the same
// step.
func (m *matcher) oppositeHops(s *check, back bool) *[2]hop {
	if m.opposites == nil {
		m.opposites = make([][2]hop, m.arrangement.frames)
	}
	hops := &m.opposites[s.id]
	*hops, _ = m.hops(s.EdgeType, s.Undirected || back, s.Undirected || !back)
	if s.Undirected {
		hops[0], hops[1] = hops[1], hops[0]
	}
	return hops
}

// The nodes at the other ends of a node's edges are marked only if the node has fewer than
// markShare edges for each expected test. Otherwise a search for each test is cheaper.
const markShare = 4

// joins reports whether an edge joins the node of j with the node `other`.
func (j *edgeTest) joins(other uint32) bool {
	if j.marked != nil {
		return j.marked.bits.Get(int(other))
	}
	if j.set != nil {
		if j.back {
			return j.set.has(other, j.node)
		}
		return j.set.has(j.node, other)
	}
	for i := range j.n {
		h, a, b := j.hops[i], j.node, other
		if j.opposite != nil && j.opposite[i].adj.BaseDegree(other) <= fewEdges {
			h, a, b = j.opposite[i], other, j.node
		}
		if joined(h, a, b, nil) {
			return true
		}
	}
	return false
}

// bind binds the edge variable.
func (s *check) bind(m *matcher, p *pipe, at int, f *frame) error {
	hops, n := m.hops(s.EdgeType, true, s.Undirected)
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.EdgeVar)
	var err error
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if err := m.tick(1); err != nil {
			return err
		}
		a, b := f.cols[s.From][i], f.cols[s.To][i]
		for k, h := range hops[:n] {
			if k == 1 && a == b {
				break
			}
			joined(h, a, b, func(edge uint32) bool {
				out.copyRow(f, i, s.vars)
				out.cols[s.EdgeVar][out.n] = edge
				if out.n++; out.n == frameSize {
					err = cmp.Or(m.tick(frameSize), m.flush(p, at, out))
				}
				return err == nil
			})
			if err != nil {
				return err
			}
		}
	}
	return m.flush(p, at, out)
}

// joined reports whether a live edge joins two nodes. If `yield` is not nil, joined calls it for
// each such edge until it returns false.
func joined(h hop, a, b uint32, yield func(edge uint32) bool) bool {
	any := false
	edges, others := h.near(a)
	if yield != nil {
		edges, others = h.adj.Base(a)
	}
	if h.whole && yield == nil && len(others) <= fewEdges {
		return slices.Contains(others, b)
	}
	at, found := slices.BinarySearch(others, b)
	if h.whole && yield == nil {
		return found
	}
	for ; at < len(others) && others[at] == b; at++ {
		if h.alive || h.edges.Alive(edges[at]) {
			if any = true; yield == nil || !yield(edges[at]) {
				return true
			}
		}
	}
	for o := h.adj.Later(a); o.Next(); {
		if o.Other == b && (h.alive || h.edges.Alive(o.Edge)) {
			if any = true; yield == nil || !yield(o.Edge) {
				return true
			}
		}
	}
	return any
}
