package vectorindex

import "slices"

// graphSearch is memory that searches in a graph reuse. Only one search at a time may use it.
type graphSearch struct {
	visited []uint64    // a bit for each node
	words   []uint32    // the words of visited that are not zero
	open    []closeness // a heap of nodes whose links are not followed yet, the closest on top
	best    []closeness // a heap of the closest nodes found, the farthest on top
	fresh   []uint32    // unvisited nodes that the current node links to
	near    []closeness // nodes at which the search begins

	candidates []closeness // used by builds only: candidates for the links of a node
}

// begin prepares the memory for a search in a graph with the given number of nodes.
func (s *graphSearch) begin(nodes int) {
	for _, w := range s.words {
		s.visited[w] = 0
	}
	s.words = s.words[:0]
	if n := (nodes + 63) / 64; len(s.visited) < n {
		s.visited = make([]uint64, n)
	}
}

// visit marks a node as visited. It returns false if the node was marked already.
func (s *graphSearch) visit(node uint32) bool {
	w := &s.visited[node/64]
	bit := uint64(1) << (node % 64)
	if *w&bit != 0 {
		return false
	}
	if *w == 0 {
		s.words = append(s.words, node/64)
	}
	*w |= bit
	return true
}

// descend walks greedily towards t through the layers above the layer `down`. It returns the
// closeness of the node that it reaches.
func (g *Graph) descend(t *graphTarget, down int) closeness {
	at := closenessOf(g.measure(t, g.entry, g.entry), g.entry)
	for layer := len(g.layers); layer > down; layer-- {
		for moved := true; moved; {
			moved = false
			list := g.linksOf(layer, at.node())
			for i, to := range list {
				if c := closenessOf(g.measure(t, to, list[min(i+1, len(list)-1)]), to); c < at {
					at, moved = c, true
				}
			}
		}
	}
	return at
}

// measure returns the similarity of a node and the target. It prefetches the codes of the node
// `ahead`, which the caller will probably measure next.
func (g *Graph) measure(t *graphTarget, node, ahead uint32) float32 {
	return float32(t.sum(g.vector(node), g.vector(ahead))) * g.scale[node]
}

// explore searches one layer, beginning at the nodes in s.near. It puts the closest nodes that it
// finds into s.best, which is a heap with the farthest node on top. The heap contains at most
// `breadth` nodes, and only nodes for which the function `accept` returns true; if `accept` is nil,
// any nodes. The search calls `tick` with the number of nodes compared since the last call, and
// stops if `tick` returns an error. The result `complete` is false if the search gave up because it
// had compared more than `most` nodes.
func (g *Graph) explore(s *graphSearch, t *graphTarget, layer, breadth, most int, accept func(node uint32) bool, tick func(n int) error) (complete bool, err error) {
	s.open, s.best = s.open[:0], s.best[:0]
	add := func(c closeness) {
		if len(s.best) == breadth && c > s.best[0] {
			return
		}
		s.open = push(s.open, c)
		if accept != nil && !accept(c.node()) {
			return
		}
		if len(s.best) == breadth {
			replaceFarthest(s.best, c)
			return
		}
		s.best = pushFarthest(s.best, c)
	}
	for _, c := range s.near {
		if s.visit(c.node()) {
			add(c)
		}
	}
	seen := 0
	for len(s.open) > 0 {
		var c closeness
		if c, s.open = pop(s.open); len(s.best) == breadth && c > s.best[0] {
			return true, nil
		}
		s.fresh = s.fresh[:0]
		for _, to := range g.linksOf(layer, c.node()) {
			if s.visit(to) {
				s.fresh = append(s.fresh, to)
			}
		}
		for i, to := range s.fresh {
			add(closenessOf(g.measure(t, to, s.fresh[min(i+1, len(s.fresh)-1)]), to))
		}
		if seen += len(s.fresh); seen > most {
			return false, nil
		}
		if tick != nil {
			if err := tick(len(s.fresh) + 1); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// choose chooses links for a node: at most `most` of the candidates. It first sorts the candidates,
// the closest first. It prefers candidates that are closer to the node than to any candidate chosen
// before (Algorithm 4 of the paper), so that the links lead in different directions. If it has
// chosen fewer than `degree` such candidates, it adds the closest of the others.
func (g *Graph) choose(candidates []closeness, most int, dst []closeness) []closeness {
	slices.Sort(candidates)
	dst = dst[:0]
	left := candidates[:0]
next:
	for _, c := range candidates {
		if len(dst) == most {
			break
		}
		for i, k := range dst {
			if g.similar(c.node(), k.node(), dst[min(i+1, len(dst)-1)].node()) >= c.similarity() {
				left = append(left, c)
				continue next
			}
		}
		dst = append(dst, c)
	}
	for _, c := range left {
		if len(dst) >= min(most, degree) {
			break
		}
		dst = append(dst, c)
	}
	return dst
}

// push adds c to a heap that has the closest node on top.
func push(h []closeness, c closeness) []closeness {
	h = append(h, c)
	i := len(h) - 1
	for ; i > 0 && h[(i-1)/2] > c; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = c
	return h
}

// pop removes the top of a heap that has the closest node on top.
func pop(h []closeness) (closeness, []closeness) {
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) == 0 {
		return top, h
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if last <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = last
	return top, h
}

// pushFarthest adds c to a heap that has the farthest node on top.
func pushFarthest(h []closeness, c closeness) []closeness {
	h = append(h, c)
	i := len(h) - 1
	for ; i > 0 && h[(i-1)/2] < c; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = c
	return h
}

// replaceFarthest replaces the top of a heap that has the farthest node on top.
func replaceFarthest(h []closeness, with closeness) {
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] > h[c] {
			c++
		}
		if with >= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = with
}
