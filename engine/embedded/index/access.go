package index

// Others returns the other ends of a node's edges in the base, sorted.
func (a *Adjacency) Others(node uint32) []uint32 {
	b := a.base
	if b == nil {
		return nil
	}
	b.ready()
	if uint64(node)+1 >= uint64(len(b.off)) {
		return nil
	}
	return b.other[b.off[node]:b.off[node+1]]
}

// Distinct reports whether no two edges of the base join the same pair.
func (a *Adjacency) Distinct() bool { return a.base == nil || !a.base.multi }

// ReadAhead brings a node's edges to the processor's caches. What it returns means
// nothing: it is there for the compiler not to leave the reading out.
func (a *Adjacency) ReadAhead(node uint32) uint32 {
	if others := a.Others(node); len(others) > 0 {
		return others[0]
	}
	return 0
}
