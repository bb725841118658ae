package index

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"

// Adjacency lists the edges of one type by the node at one end. It is a compressed sparse
// row matrix over node ordinals, with levels and a copy-on-write overlay for later edges.
type Adjacency struct {
	base  *adjacencyBase // nil for none
	later []*level       // the levels after the base, the oldest first
	over  heads[Hop]     // the overlay, by node
	overs int            // number of edges in the overlay
}

// adjacencyBase is a compressed sparse row matrix.
type adjacencyBase struct {
	off   []uint32 // by node; a node beyond its end has no edges in the base
	edge  []uint32 // edge ordinals, by node, then other end, then ordinal
	other []uint32 // node ordinals of the other end
	multi bool     // some edges join the same pair of nodes

	edges, others uint32 // the greatest elements of `edge` and `other`, plus one

	pending     column.Pending // whether the arrays must still be read from the segment
	stored      BlockPlace     // the blocks of a stored base
	nOff, nEdge int            // lengths of `off` and `edge`; set only for a stored base
	near        nearEdges      // the neighbours by node, if they were copied
	memory      *column.Memory // contains `near` and `other`, if they were copied
}

// Hop is an edge of the overlay. Each node has a linked list of hops, the latest first.
type Hop struct {
	Edge, Other uint32 // ordinals of the edge and of the node at the other end of the edge
	Next        *Hop   // the next older hop of the same node
}

// BuildAdjacency lists the edges [0, n). The function `ends` returns the node at this end of an
// edge, the node at the other end, and whether to list the edge.
func BuildAdjacency(n uint32, ends func(edge uint32) (here, other uint32, ok bool)) Adjacency {
	// The function `ends` is called several times for each edge, and its results are not kept. It
	// is fast, and lists of the results would be as large as the index.
	var listed, maxHere, maxOther, maxEdge uint32
	for e := range n {
		if h, o, ok := ends(e); ok {
			listed++
			maxHere, maxOther = max(maxHere, h), max(maxOther, o)
			maxEdge = e
		}
	}
	if listed == 0 {
		return Adjacency{}
	}
	// Two stable counting sorts: by the other end, then by this one.
	byOther := make([]uint32, listed)
	at := startPositions(maxOther, n, func(e uint32) (uint32, bool) { _, o, ok := ends(e); return o, ok })
	for e := range n {
		if _, o, ok := ends(e); ok {
			byOther[at[o]] = e
			at[o]++
		}
	}
	a := &adjacencyBase{edge: make([]uint32, listed), other: make([]uint32, listed), edges: maxEdge + 1, others: maxOther + 1}
	at = startPositions(maxHere, n, func(e uint32) (uint32, bool) { h, _, ok := ends(e); return h, ok })
	a.off = append(make([]uint32, 0, len(at)), at...)
	for _, e := range byOther {
		h, o, _ := ends(e)
		p := at[h]
		at[h]++
		a.edge[p], a.other[p] = e, o
		a.multi = a.multi || p > a.off[h] && a.other[p-1] == o
	}
	return Adjacency{base: a}
}

// load reads a stored base whole, unless that has been done.
func (b *adjacencyBase) load() { b.pending.Resolve(b.read) }

// byPieces reports whether a lookup must read only the edges of its node from the segment. If it
// returns false, the whole base has been read.
//
//go:noinline
func (b *adjacencyBase) byPieces() bool {
	return b.pending.ByPieces(1, func() int { return 4 * (b.nOff + 2*b.nEdge) }, nil, b.readForLookups)
}

// storedSpan returns the positions at which a node's edges start and end, in a base that has not
// been read whole.
//
//go:noinline
func (b *adjacencyBase) storedSpan(node uint32) (from, to int) {
	if uint64(node)+1 >= uint64(b.nOff) {
		return 0, 0
	}
	return column.Span(b.block(".f", b.nOff), int(node), b.nEdge)
}

// storedEdges does the work of Base for a base that has not been read whole. It makes the same
// checks as the method `read`, but for one node only.
//
//go:noinline
func (b *adjacencyBase) storedEdges(node uint32) (edges, others []uint32) {
	from, to := b.storedSpan(node)
	if from == to {
		return nil, nil
	}
	edges, others = b.block(".e", b.nEdge).Range(from, to), b.block(".o", b.nEdge).Range(from, to)
	b.check(edges, others)
	return edges, others
}

// block opens a block of n numbers of a stored base; `suffix` ends the name of the block.
func (b *adjacencyBase) block(suffix string, n int) column.Block[uint32] {
	return column.OpenBlockOf[uint32](b.stored.Source, b.stored.Name+suffix, n)
}

// check throws a fault unless the ordinals are within the bounds of the base. Callers use the
// ordinals as array indexes.
func (b *adjacencyBase) check(edges, others []uint32) {
	for i, e := range edges {
		if e >= b.edges || others[i] >= b.others {
			b.stored.Fail("edge %d leads to node %d, but the index covers only %d edges and %d nodes", e, others[i], b.edges, b.others)
		}
	}
}

// read reads and checks a stored base.
func (b *adjacencyBase) read() {
	src, name := b.stored.Source, b.stored.Name
	b.off = column.Read[uint32](src, name+".f", b.nOff)
	column.CheckOffsets(src, name+".f", b.off, b.nEdge)
	b.edge = column.Read[uint32](src, name+".e", b.nEdge)
	b.other = column.Read[uint32](src, name+".o", b.nEdge)
	b.check(b.edge, b.other)
}

// startPositions counts the keys of the entries [0, n). It returns, for each key, the position at
// which its entries start in sorted order.
func startPositions(largest, n uint32, key func(uint32) (uint32, bool)) []uint32 {
	off := make([]uint32, largest+2)
	for i := range n {
		if k, ok := key(i); ok {
			off[k+1]++
		}
	}
	for i := 1; i < len(off); i++ {
		off[i] += off[i-1]
	}
	return off
}

// Add adds an edge to the overlay.
func (a *Adjacency) Add(owner *Owner, here, other, edge uint32) {
	p := a.over.edit(owner, here)
	*p = &Hop{edge, other, *p}
	a.overs++
}

// Remove removes an edge from the overlay if it is among the removeWithin latest of its
// node; see [Hash.Remove].
func (a *Adjacency) Remove(owner *Owner, here, edge uint32) {
	if a.overs == 0 {
		return
	}
	n := 0
	h := a.over.get(here)
	for ; h != nil && h.Edge != edge; h = h.Next {
		if n++; n == removeWithin {
			return
		}
	}
	if h == nil {
		return
	}
	p := a.over.edit(owner, here)
	rest, from := h.Next, *p
	*p = nil
	for last := p; ; last = &(*last).Next {
		if from == h {
			*last = rest
			break
		}
		*last = &Hop{from.Edge, from.Other, nil}
		from = from.Next
	}
	a.overs--
}

// Base returns a node's edges in the base and their other ends, in ascending order of the
// other end.
func (a *Adjacency) Base(node uint32) (edges, others []uint32) {
	b := a.base
	if b == nil {
		return nil, nil
	}
	if b.pending.Left() && b.byPieces() {
		return b.storedEdges(node)
	}
	if uint64(node)+1 >= uint64(len(b.off)) {
		return nil, nil
	}
	i, j := b.off[node], b.off[node+1]
	return b.edge[i:j], b.other[i:j]
}

// BaseDegree returns the number of a node's edges in the base.
func (a *Adjacency) BaseDegree(node uint32) uint32 {
	b := a.base
	if b == nil {
		return 0
	}
	if b.pending.Left() && b.byPieces() {
		from, to := b.storedSpan(node)
		return uint32(to - from)
	}
	if uint64(node)+1 >= uint64(len(b.off)) {
		return 0
	}
	if b.near.blocks != nil {
		return b.near.blocks[uint64(node)<<b.near.shift]
	}
	return b.off[node+1] - b.off[node]
}

// AddLevel replaces the overlay and the levels from number `from` on, which must be at least 1, by
// one level. The level lacks the edges that are dead in `rows`.
func (a *Adjacency) AddLevel(from int, rows *Rows) {
	merged := a.later[from-1:]
	recs := make([]uint32, 0, recordSize*(countRecords(merged)+a.overs))
	recs = records(recs, merged)
	for node, h := range a.over.all {
		for ; h != nil; h = h.Next {
			recs = append(recs, node, h.Other, h.Edge)
		}
	}
	*a = Adjacency{base: a.base, later: append(a.later[:from-1:from-1], newLevel(alive(recs, rows)))}
}

// Later iterates over the edges of a node that are not in the base: those of the overlay, the latest
// first, then those of the levels after the base.
type Later struct {
	Edge, Other uint32   // the current edge and the node at its other end
	node        uint32   // the node with the edges
	hop         *Hop     // the next edge of the overlay
	levels      []*level // the levels to search after `run`
	run         []uint32 // the records of a level to test
}

// Later returns an iterator before the first edge of a node that is not in the base.
func (a *Adjacency) Later(node uint32) Later {
	l := Later{node: node, levels: a.later}
	if a.overs > 0 {
		l.hop = a.over.get(node)
	}
	return l
}

// Next moves to the next edge and reports whether there is one.
func (l *Later) Next() bool {
	if h := l.hop; h != nil {
		l.Edge, l.Other, l.hop = h.Edge, h.Other, h.Next
		return true
	}
	return len(l.levels)+len(l.run) > 0 && l.nextInLevels()
}

// nextInLevels does the work of Next for the levels.
func (l *Later) nextInLevels() bool {
	for {
		for run := l.run; len(run) > 0; {
			rec := run[:recordSize]
			if run = run[recordSize:]; rec[0] == l.node {
				l.Edge, l.Other, l.run = rec[2], rec[1], run
				return true
			}
		}
		l.run = nil
		if len(l.levels) == 0 {
			return false
		}
		l.run, l.levels = l.levels[0].list(l.node), l.levels[1:]
	}
}

// InBase reports whether all edges of a node are in the base.
func (a *Adjacency) InBase(node uint32) bool {
	if a.AllInBase() {
		return true
	}
	l := a.Later(node)
	return !l.Next()
}

// AllInBase reports whether all listed edges are in the base.
func (a *Adjacency) AllInBase() bool { return a.overs == 0 && len(a.later) == 0 }

// Overlay returns the number of edges in the overlay.
func (a *Adjacency) Overlay() int { return a.overs }

// Simple reports whether it is certain that no two listed edges join the same pair of
// nodes.
func (a *Adjacency) Simple() bool { return a.AllInBase() && (a.base == nil || !a.base.multi) }
