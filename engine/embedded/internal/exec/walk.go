package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// breadthFirst returns the nodes at a distance from the node `from` that is within the bounds of
// the traversal. If the traversal leads back to its start, breadthFirst returns the start too if
// the shortest walk back to it is within the bounds. The list is valid until the next call.
func (m *matcher) breadthFirst(s *Traversal, from uint32, w *eval.Walk) ([]uint32, error) {
	most := s.Max - fault.Count(fault.HopLost)
	closed := s.From == s.To
	like := m.Types[s.From] == m.Types[s.To]
	if !like {
		most = min(most, 1) // edges of this type cannot be chained
	}
	hops, n := m.Hops(s.EdgeType, s.Undirected || !s.Back, s.Undirected || s.Back)
	w.Begin(m.Table(s.Far).Ordinals())
	if like && (!closed || fault.On(fault.StartVisited)) {
		w.Visit(from) // at the distance 0
	}
	m.source[0] = from
	if err := m.Tick(1); err != nil {
		return nil, err
	}
	if err := m.Charge(w); err != nil {
		return nil, err
	}
	// w.visited lists the nodes in the order of their distance, so it is also the queue.
	within := -1 // index in w.visited of the first node at the least distance
	if s.Min == 0 {
		within = 0
	}
	for first, d := 0, 1; d <= most; d++ {
		level := len(w.Visited)
		nodes := w.Visited[first:level]
		if d == 1 {
			nodes = m.source[:]
		}
		for _, h := range hops[:n] {
			var err error
			if h.BaseAlive && h.Adj.AllInBase() {
				err = m.Spread(w, h.Adj, nodes)
			} else {
				err = m.Trail(w, h, nodes)
			}
			if err != nil {
				return nil, err
			}
		}
		if err := m.Charge(w); err != nil {
			return nil, err
		}
		if closed && w.Bits.Get(int(from)) {
			if d < s.Min {
				return nil, nil
			}
			return m.source[:], nil
		}
		if d == s.Min {
			within = level
		}
		if first = level; len(w.Visited) == level {
			break
		}
	}
	if closed || within < 0 {
		return nil, nil // no walk leads back, or no node is as far away as Min
	}
	return w.Visited[within:], nil
}

// Reach walks breadth first from a node. If both ends are bound, it keeps the rows in which the
// walk reaches the other node. Otherwise it binds the other variable to each reached node.
type Reach struct {
	Traversal
	Both bool // whether both ends are bound
	Set  int  // number of the walk that marks the nodes within the bounds
}

// run implements [Step].
func (s *Reach) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	if s.Both {
		return s.check(m, p, at, f)
	}
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.Far)
	var reached []uint32
	last := version.NoOrd
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if node := f.Cols[s.Near][i]; node != last {
			var err error
			if reached, err = m.breadthFirst(&s.Traversal, node, &m.walks[s.ID]); err != nil {
				return m.InWalk(err, &s.Traverse)
			}
			last = node
		}
		for left := reached; len(left) > 0; {
			k := out.Repeat(f, i, s.Vars, len(left))
			copy(out.Cols[s.Far][out.N-k:out.N], left)
			left = left[k:]
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

// count implements [counter].
func (s *Reach) count(m *matcher, f *eval.Frame) (n int, err error) {
	for i := range f.N {
		reached, err := m.breadthFirst(&s.Traversal, f.Cols[s.Near][i], &m.walks[s.ID])
		if err != nil {
			return 0, m.InWalk(err, &s.Traverse)
		}
		n += len(reached)
	}
	return n, nil
}

// check keeps the rows in which a walk from one node reaches the other. It walks from the end that seems to have fewer
// distinct nodes, and remembers what the first of them reach.
func (s *Reach) check(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	known := m.reachedBy(s.Set, s.Near, s.Far, f)
	t := s.Traversal
	if known.flip {
		t.Back, t.Near, t.Far = !t.Back, t.Far, t.Near
	}
	var within engine.Bitmap
	last := version.NoOrd
	rows := m.Chosen[:0]
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if node := f.Cols[t.Near][i]; node != last {
			var err error
			if within, err = m.reachable(&t, node, known, &m.walks[s.Set]); err != nil {
				return m.InWalk(err, &s.Traverse)
			}
			last = node
		}
		if within.Get(int(f.Cols[t.Far][i])) {
			rows = append(rows, uint32(i))
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.Vars)
	return m.push(p, at+1, f)
}
