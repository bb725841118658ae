package exec

import (
	"cmp"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Traversal is the common part of expand, check, reach and explore.
type Traversal struct {
	*ir.Link
	Back bool         // follows edges from target to source
	Near plan.VarID   // the bound end
	Far  plan.VarID   // the other end
	Vars []plan.VarID // already bound
	ID   int          // position in matcher.frames and matcher.walks
}

// Expand follows the edges of a node.
type Expand struct{ Traversal }

// run implements [Step].
func (s *Expand) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.Far, s.EdgeVar)
	var room [2]eval.Hop
	hops := m.HopsOf(room[:0], s.Link, s.Undirected || !s.Back, s.Undirected || s.Back)
	last := p.Inner && at == len(p.Steps)-1
	if len(hops) == 1 && hops[0].Whole && s.EdgeVar == plan.NoVar && f.Found == nil && !last {
		return s.follow(m, p, at, f, out, hops[0].Adj)
	}
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		edges, others, err := m.neighbours(s, hops, f.Cols[s.Near][i])
		if err != nil {
			return err
		}
		if last && len(others) > 0 {
			f.Found.Set(f.Outer[i]) // one match is enough
			m.countRows(p, 1)
			continue
		}
		for len(others) > 0 {
			k := out.Repeat(f, i, s.Vars, len(others))
			copy(out.Cols[s.Far][out.N-k:out.N], others)
			others = others[k:]
			if s.EdgeVar != plan.NoVar {
				copy(out.Cols[s.EdgeVar][out.N-k:out.N], edges)
				edges = edges[k:]
			}
			if out.N < eval.FrameSize {
				break
			}
			if err := m.flush(p, at, out); err != nil {
				return err
			}
			if f.IsDone(i) {
				break
			}
		}
	}
	return m.flush(p, at, out)
}

// follow does the work of run if an index lists the neighbours of every node. It copies the rows column by column.
func (s *Expand) follow(m *matcher, p *Pipe, at int, f, out *eval.Frame, adj *index.Adjacency) error {
	to := out.Cols[s.Far][:eval.FrameSize]
	n := 0
	for i, node := range f.Cols[s.Near][:f.N] {
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
			if n += k; n < eval.FrameSize {
				break
			}
			if err := s.passOn(m, p, at, f, out, n); err != nil {
				return err
			}
			n = 0
		}
	}
	if err := m.Tick(f.N); err != nil {
		return err
	}
	return s.passOn(m, p, at, f, out, n)
}

// passOn flushes the first n rows of a frame. The step has bound its variable; passOn copies the other variables from the
// rows of f that matcher.origins lists.
func (s *Expand) passOn(m *matcher, p *Pipe, at int, f, out *eval.Frame, n int) error {
	for _, v := range s.Vars {
		from, to := f.Cols[v][:f.N], out.Cols[v][:n]
		for k, i := range m.origins[:n] {
			to[k] = from[i]
		}
	}
	out.N = n
	if err := m.Tick(n); err != nil {
		return err
	}
	return m.flush(p, at, out)
}

// count implements [counter].
func (s *Expand) count(m *matcher, f *eval.Frame) (n int, err error) {
	var room [2]eval.Hop
	hops := m.HopsOf(room[:0], s.Link, s.Undirected || !s.Back, s.Undirected || s.Back)
	for i := range f.N {
		_, others, err := m.neighbours(s, hops, f.Cols[s.Near][i])
		if err != nil {
			return 0, err
		}
		n += len(others)
	}
	return n, nil
}

// neighbours returns the live edges of a node and the nodes that they lead to. If the query
// has no edge variable, it returns each node once, and no edges. The lists belong to the
// index, or are valid until the next call for the same step: while a step passes on the rows of a
// node with many edges, later steps call neighbours too.
func (m *matcher) neighbours(s *Expand, hops []eval.Hop, node uint32) (edges, others []uint32, err error) {
	wanted := s.EdgeVar != plan.NoVar
	if h := &hops[0]; len(hops) == 1 && (h.Whole || h.BaseAlive && (wanted || h.Adj.Distinct()) && h.Adj.InBase(node)) {
		if wanted {
			edges, others = h.Adj.Base(node)
		} else {
			others = h.Adj.Others(node)
		}
		return edges, others, m.Tick(1 + len(others))
	}
	near := &m.around[s.ID]
	edges, others = near.Edges[:0], near.Nodes[:0]
	seen := &m.walks[s.ID]
	seen.Begin(m.Table(s.Far).Ordinals())
	for k, h := range hops {
		base, nodes := h.Adj.Base(node)
		if err := m.Tick(1 + len(base)); err != nil {
			return nil, nil, err
		}
		for j, other := range nodes {
			switch {
			case !h.BaseAlive && !h.Edges.Alive(base[j]):
			case !wanted:
				seen.Visit(other)
			case k == 0 || other != node: // an edge from the node to itself was already listed
				edges, others = append(edges, base[j]), append(others, other)
			}
		}
		later := 0
		for o := h.Adj.Later(node); o.Next(); later++ {
			switch {
			case !h.Alive && !h.Edges.Alive(o.Edge):
			case !wanted:
				seen.Visit(o.Other)
			case k == 0 || o.Other != node:
				edges, others = append(edges, o.Edge), append(others, o.Other)
			}
		}
		if err := m.Tick(later); err != nil {
			return nil, nil, err
		}
	}
	if !wanted {
		return nil, seen.Visited, m.Charge(seen)
	}
	more := cap(edges) + cap(others) - cap(near.Edges) - cap(near.Nodes)
	near.Edges, near.Nodes = edges, others
	return edges, others, m.Hold(4 * more)
}

// Check keeps the rows in which an edge joins the two nodes. If the field Not is set, it keeps
// the rows in which no edge joins them. If there is an edge variable, check binds it to each
// joining edge.
type Check struct {
	Traversal
	Not bool // keeps the rows without an edge; it replaces a `not` block that contains only the traversal
}

// run implements [Step].
func (s *Check) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if s.EdgeVar != plan.NoVar {
		return s.bind(m, p, at, f)
	}
	rows := m.Chosen[:0]
	from, to := f.Cols[s.From][:f.N], f.Cols[s.To][:f.N]
	set, err := m.edgeSet(s)
	if err != nil {
		return err
	}
	if set != nil {
		if err := m.Tick(f.N); err != nil {
			return err
		}
		for i := range from {
			if set.has(from[i], to[i]) != s.Not {
				rows = append(rows, uint32(i))
			}
		}
	}
	for i := 0; i < f.N && set == nil; {
		// Rows that share a node are mostly consecutive.
		k := i + 1
		for k < f.N && to[k] == to[i] {
			k++
		}
		same, others, back := to[i], from, true
		if k == i+1 {
			for k < f.N && from[k] == from[i] {
				k++
			}
			same, others, back = from[i], to, false
		}
		j, err := m.edgeTest(s, same, back, k-i)
		if err != nil {
			return err
		}
		for ; i < k; i++ {
			if j.joins(others[i]) != s.Not {
				rows = append(rows, uint32(i))
			}
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.Vars)
	return m.push(p, at+1, f)
}

// edgeTest is for one node. It tests for any other node whether an edge joins the two.
type edgeTest struct {
	node   uint32      // ordinal of the node with the edges to look up
	hops   [2]eval.Hop // the directions in which the edges are followed
	n      int         // number of hops in use
	marked *eval.Walk  // the nodes at the other ends of its edges; nil if they were not marked
	set    *edgeSet    // all edges; nil if they are not in a set
	back   bool        // the node is the target of the edges
	// opposite has the opposite direction of each hop if the node has many edges; else it is nil. Another node with few
	// edges is then tested by its own edges.
	opposite *[2]eval.Hop
}

// edgeTest returns an edgeTest for a node. The parameter `tests` is the number of calls of
// edgeTest.joins that will follow.
func (m *matcher) edgeTest(s *Check, node uint32, back bool, tests int) (j edgeTest, err error) {
	j.node, j.back, j.n = node, back, 1
	if j.set, err = m.edgeSet(s); j.set != nil || err != nil {
		return j, cmp.Or(err, m.Tick(tests))
	}
	j.hops, j.n = m.Hops(s.EdgeType, s.Undirected || !back, s.Undirected || back)
	edges := 0
	for _, h := range j.hops[:j.n] {
		edges += len(h.Adj.Others(node))
		for o := h.Adj.Later(node); edges < tests*eval.MarkShare && o.Next(); {
			edges++
		}
	}
	if edges >= tests*eval.MarkShare {
		if edges > eval.ManyEdges {
			j.opposite = m.oppositeHops(s, back)
			m.searched(s, tests/setShare) // most of these searches are cheap
		} else {
			m.searched(s, tests)
		}
		return j, m.Tick(tests)
	}
	far := s.To
	if back {
		far = s.From
	}
	j.marked = &m.walks[s.ID]
	j.marked.Begin(m.Table(far).Ordinals())
	for _, h := range j.hops[:j.n] {
		if err := m.Trail(j.marked, h, []uint32{node}); err != nil {
			return j, err
		}
	}
	if err := m.Charge(j.marked); err != nil {
		return j, err
	}
	return j, m.Tick(tests)
}

// oppositeHops returns the opposite directions of the hops of an edgeTest. They are valid until the next call for the same
// step.
func (m *matcher) oppositeHops(s *Check, back bool) *[2]eval.Hop {
	if m.opposites == nil {
		m.opposites = make([][2]eval.Hop, m.Arrangement.Frames)
	}
	hops := &m.opposites[s.ID]
	*hops, _ = m.Hops(s.EdgeType, s.Undirected || back, s.Undirected || !back)
	if s.Undirected {
		hops[0], hops[1] = hops[1], hops[0]
	}
	return hops
}

// joins reports whether an edge joins the node of j with the node `other`.
func (j *edgeTest) joins(other uint32) bool {
	if j.marked != nil {
		return j.marked.Bits.Get(int(other))
	}
	if j.set != nil {
		if j.back {
			return j.set.has(other, j.node)
		}
		return j.set.has(j.node, other)
	}
	for i := range j.n {
		h, a, b := j.hops[i], j.node, other
		if j.opposite != nil && j.opposite[i].Adj.BaseDegree(other) <= eval.FewEdges {
			h, a, b = j.opposite[i], other, j.node
		}
		if eval.Joined(h, a, b, nil) {
			return true
		}
	}
	return false
}

// bind binds the edge variable.
func (s *Check) bind(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	hops, n := m.Hops(s.EdgeType, true, s.Undirected)
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.EdgeVar)
	var err error
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if err := m.Tick(1); err != nil {
			return err
		}
		a, b := f.Cols[s.From][i], f.Cols[s.To][i]
		for k, h := range hops[:n] {
			if k == 1 && a == b {
				break
			}
			eval.Joined(h, a, b, func(edge uint32) bool {
				out.CopyRow(f, i, s.Vars)
				out.Cols[s.EdgeVar][out.N] = edge
				if out.N++; out.N == eval.FrameSize {
					err = cmp.Or(m.Tick(eval.FrameSize), m.flush(p, at, out))
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
