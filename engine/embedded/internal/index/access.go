package index

// Others returns the other ends of a node's edges in the base, in ascending order.
func (a *Adjacency) Others(node uint32) []uint32 {
	b := a.base
	if b == nil {
		return nil
	}
	if b.pending.Left() && b.byPieces() {
		_, others := b.storedEdges(node)
		return others
	}
	if b.near.blocks != nil {
		return b.near.others(b, node)
	}
	if uint64(node)+1 >= uint64(len(b.off)) {
		return nil
	}
	return b.other[b.off[node]:b.off[node+1]]
}

// DegreeInOrder returns the result of BaseDegree. It is faster if the calls are for nodes in ascending order, because it reads an
// array without the neighbours.
func (a *Adjacency) DegreeInOrder(node uint32) uint32 {
	b := a.base
	if b == nil || b.pending.Left() {
		return a.BaseDegree(node)
	}
	if uint64(node)+1 >= uint64(len(b.off)) {
		return 0
	}
	return b.off[node+1] - b.off[node]
}

// Distinct reports whether the edges of the base join distinct pairs of nodes.
func (a *Adjacency) Distinct() bool { return a.base == nil || !a.base.multi }

// ReadAhead loads the head of the chain of a hash into the processor's caches. The result has no
// meaning.
func (x *Hash) ReadAhead(hash uint64) uint32 {
	b := x.base
	if b == nil || b.pending.Left() {
		return 0
	}
	return b.heads[uint32(hash)&uint32(len(b.heads)-1)]
}

// ReadAhead loads a node's edges into the processor's caches. The result has no meaning: it
// only keeps the compiler from removing the reads.
func (a *Adjacency) ReadAhead(node uint32) uint32 {
	b := a.base
	if b == nil || b.pending.Left() || uint64(node)+1 >= uint64(len(b.off)) {
		return 0 // stored edges are verified only when they are needed
	}
	if b.near.blocks != nil {
		return b.near.blocks[uint64(node)<<b.near.shift]
	}
	if from := b.off[node]; from < b.off[node+1] {
		return b.other[from]
	}
	return 0
}
