package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// walk is a set of ordinals. To clear it, only the visited ordinals are removed.
type walk struct {
	bits    engine.Bitmap // the ordinals in the set
	visited []uint32      // in the order of their first visit
	counted int           // bytes that were charged to the run
	seen    uint32        // keeps the compiler from removing spread's prefetches
}

// begin empties the set and makes room for the ordinals below n.
func (w *walk) begin(n uint32) {
	if len(w.visited) > len(w.bits) {
		clear(w.bits)
	} else {
		for _, v := range w.visited {
			w.bits[v>>6] = 0
		}
	}
	w.visited = w.visited[:0]
	if words := (int(n) + 63) / 64; len(w.bits) < words {
		w.bits = make(engine.Bitmap, words)
	}
}

// visit adds an ordinal and reports whether the set lacked it.
func (w *walk) visit(ord uint32) bool {
	if w.bits.Get(int(ord)) {
		return false
	}
	w.bits.Set(int(ord))
	w.visited = append(w.visited, ord)
	return true
}

// charge charges the run for the growth of the walk's memory.
func (ev *evaluator) charge(w *walk) error {
	if now := 8*len(w.bits) + 4*len(w.visited); now > w.counted {
		more := now - w.counted
		w.counted = now
		return ev.spend(more)
	}
	return nil
}

// readAhead is the number of nodes that spread looks up together. It is large enough to
// keep the memory system busy, and small enough that prefetched data is still in the cache
// when it is used.
const readAhead = 16

// spread visits the neighbours of nodes. All edges of the nodes must be live and in the base of the
// index. It overlaps the memory latency of several nodes: it first reads where their edges are, and
// then where those edges lead.
func (ev *evaluator) spread(w *walk, adj *index.Adjacency, nodes []uint32) error {
	var rows [readAhead][]uint32
	for len(nodes) > 0 {
		some := nodes[:min(len(nodes), readAhead)]
		nodes = nodes[len(some):]
		total := 0
		for i, node := range some {
			rows[i] = adj.Others(node)
			total += len(rows[i])
		}
		var seen uint32
		for _, others := range rows[:len(some)] {
			if len(others) > 0 {
				seen += others[0]
			}
		}
		w.seen = seen
		if err := ev.walk(len(some) + total); err != nil {
			return err
		}
		n := len(w.visited)
		queue := slices.Grow(w.visited, total)[:n+total]
		bits := w.bits
		for _, others := range rows[:len(some)] {
			for _, other := range others {
				word, bit := &bits[other>>6], uint64(1)<<(other&63)
				old := *word
				*word = old | bit
				queue[n] = other
				n += int(^old >> (other & 63) & 1) // a branch would often be mispredicted
			}
		}
		w.visited = queue[:n]
	}
	return nil
}

// trail visits the live neighbours of nodes.
func (ev *evaluator) trail(w *walk, h hop, nodes []uint32) error {
	for _, node := range nodes {
		edges, others := h.near(node)
		if err := ev.walk(1 + len(others)); err != nil {
			return err
		}
		for j, other := range others {
			if h.alive || h.edges.Alive(edges[j]) || fault.On(fault.DeadWalked) {
				w.visit(other)
			}
		}
		for o := h.adj.Later(node); o.Next() && !fault.On(fault.OverlayNotWalked); {
			if h.alive || h.edges.Alive(o.Edge) {
				w.visit(o.Other)
			}
		}
	}
	return nil
}

// breadthFirst returns the nodes at a distance from the node `from` that is within the bounds of
// the traversal. If the traversal leads back to its start, breadthFirst returns the start too if
// the shortest walk back to it is within the bounds. The list is valid until the next call.
func (m *matcher) breadthFirst(s *traverse, from uint32, w *walk) ([]uint32, error) {
	most := s.Max - fault.Count(fault.HopLost)
	closed := s.From == s.To
	like := m.types[s.From] == m.types[s.To]
	if !like {
		most = min(most, 1) // edges of this type cannot be chained
	}
	hops, n := m.hops(s.edge, s.Undirected || !s.back, s.Undirected || s.back)
	w.begin(m.table(s.to).Ordinals())
	if like && (!closed || fault.On(fault.StartVisited)) {
		w.visit(from) // at the distance 0
	}
	m.source[0] = from
	if err := m.tick(1); err != nil {
		return nil, err
	}
	if err := m.charge(w); err != nil {
		return nil, err
	}
	// w.visited lists the nodes in the order of their distance, so it is also the queue.
	within := -1 // index in w.visited of the first node at the least distance
	if s.Min == 0 {
		within = 0
	}
	for first, d := 0, 1; d <= most; d++ {
		level := len(w.visited)
		nodes := w.visited[first:level]
		if d == 1 {
			nodes = m.source[:]
		}
		for _, h := range hops[:n] {
			var err error
			if h.alive && h.adj.AllInBase() {
				err = m.spread(w, h.adj, nodes)
			} else {
				err = m.trail(w, h, nodes)
			}
			if err != nil {
				return nil, err
			}
		}
		if err := m.charge(w); err != nil {
			return nil, err
		}
		if closed && w.bits.Get(int(from)) {
			if d < s.Min {
				return nil, nil
			}
			return m.source[:], nil
		}
		if d == s.Min {
			within = level
		}
		if first = level; len(w.visited) == level {
			break
		}
	}
	if closed || within < 0 {
		return nil, nil // no walk leads back, or no node is as far away as Min
	}
	return w.visited[within:], nil
}

// reach walks breadth first from a node. If both ends are bound, it keeps the rows in which the
// walk reaches the other node. Otherwise it binds the other variable to each reached node.
type reach struct {
	traverse
	both bool // whether both ends are bound
	set  int  // number of the walk that marks the nodes within the bounds
}

// run implements step.
func (s *reach) run(m *matcher, p *pipe, at int, f *frame) error {
	if s.both {
		return s.check(m, p, at, f)
	}
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.to)
	var reached []uint32
	last := version.NoOrd
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if node := f.cols[s.from][i]; node != last {
			var err error
			if reached, err = m.breadthFirst(&s.traverse, node, &m.walks[s.id]); err != nil {
				return m.inWalk(err, &s.Traverse)
			}
			last = node
		}
		for left := reached; len(left) > 0; {
			k := out.repeat(f, i, s.vars, len(left))
			copy(out.cols[s.to][out.n-k:out.n], left)
			left = left[k:]
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

// count implements [counter].
func (s *reach) count(m *matcher, f *frame) (n int, err error) {
	for i := range f.n {
		reached, err := m.breadthFirst(&s.traverse, f.cols[s.from][i], &m.walks[s.id])
		if err != nil {
			return 0, m.inWalk(err, &s.Traverse)
		}
		n += len(reached)
	}
	return n, nil
}

// check keeps the rows in which a walk from one node reaches the other. It walks from the end that seems to have fewer
// distinct nodes, and remembers what the first of them reach.
func (s *reach) check(m *matcher, p *pipe, at int, f *frame) error {
	known := m.reachedBy(s.set, s.from, s.to, f)
	t := s.traverse
	if known.flip {
		t.back, t.from, t.to = !t.back, t.to, t.from
	}
	var within engine.Bitmap
	last := version.NoOrd
	rows := m.chosen[:0]
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if node := f.cols[t.from][i]; node != last {
			var err error
			if within, err = m.reachable(&t, node, known, &m.walks[s.set]); err != nil {
				return m.inWalk(err, &s.Traverse)
			}
			last = node
		}
		if within.Get(int(f.cols[t.to][i])) {
			rows = append(rows, uint32(i))
		}
	}
	m.chosen = rows
	f.choose(rows, s.vars)
	return m.push(p, at+1, f)
}
