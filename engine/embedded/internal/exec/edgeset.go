package exec

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// edgeSet is a hash set of the pairs of nodes that the live edges of a type join. A search in it takes less time than a
// search in the list of a node's neighbours.
type edgeSet struct {
	slots      []uint64 // complements of keys, by open addressing; 0 for an empty slot. nil if the set was not made
	shift      int      // the hash of a key has 64-shift bits
	undirected bool     // the direction of the edges does not matter
	searches   int      // searches without the set
	refused    bool     // the set would take too much memory
}

// A run makes an edgeSet when it has made more searches than one for each setShare edges. A search costs about as much as
// setShare insertions.
const setShare = 8

// maxEdgeSet is the maximum size of an edgeSet in bytes.
const maxEdgeSet = 32 << 20

// searched counts searches of a step in the lists of neighbours.
func (m *matcher) searched(s *Check, n int) {
	if m.edgeSets == nil {
		m.edgeSets = make([]edgeSet, m.Arrangement.Frames)
	}
	m.edgeSets[s.ID].searches += n
}

// edgeSet returns the set of the edges that a step tests. It returns nil as long as the step has not searched often enough
// for the set to be worth its time, or if there is too little memory for it.
func (m *matcher) edgeSet(s *Check) (*edgeSet, error) {
	if m.edgeSets == nil {
		return nil, nil
	}
	set := &m.edgeSets[s.ID]
	if set.slots != nil {
		return set, nil
	}
	edges := int(m.Snap.Edges(s.EdgeType).Live())
	if set.refused || set.searches <= edges/setShare {
		return nil, nil
	}
	size := 8 * edgeSlots(edges)
	if size > maxEdgeSet {
		set.refused = true
		return nil, nil
	}
	if m.Spend(size) != nil {
		m.Spent -= int64(size)
		set.refused = true
		return nil, nil
	}
	*set = newEdgeSet(edges)
	set.undirected = s.Undirected
	return set, m.fill(set, s.Link)
}

// edgeSlots returns the number of slots of a set for a number of edges. It is a power of two, and more than half of the slots
// stay empty.
func edgeSlots(edges int) int { return 1 << bits.Len(uint(2*edges)) }

// newEdgeSet returns an empty set for a number of edges.
func newEdgeSet(edges int) edgeSet {
	n := edgeSlots(edges)
	return edgeSet{slots: make([]uint64, n), shift: 64 - bits.Len(uint(n-1))}
}

// fill adds the live edges of a type to a set.
func (m *matcher) fill(set *edgeSet, l *ir.Link) error {
	table := m.Snap.Edges(l.EdgeType)
	var ords [eval.FrameSize]uint32
	for next := uint32(0); next < table.Ordinals(); {
		if err := m.Tick(eval.FrameSize); err != nil {
			return err
		}
		var n int
		n, next = table.Scan(next, ords[:])
		for _, ord := range ords[:n] {
			set.add(m.Snap.Ends(table, ord))
		}
	}
	return nil
}

// key returns the complement of the key of an edge.
func (s *edgeSet) key(from, to uint32) uint64 {
	if s.undirected && from > to {
		from, to = to, from
	}
	return ^(uint64(from)<<32 | uint64(to))
}

// slot returns the first slot for a key.
func (s *edgeSet) slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> s.shift }

// add adds an edge. At least one slot must stay empty.
func (s *edgeSet) add(from, to uint32) {
	key := s.key(from, to)
	at := s.slot(key)
	for s.slots[at] != 0 && s.slots[at] != key {
		at = (at + 1) & uint64(len(s.slots)-1)
	}
	s.slots[at] = key
}

// has reports whether an edge is in the set.
func (s *edgeSet) has(from, to uint32) bool {
	key := s.key(from, to)
	for at := s.slot(key); s.slots[at] != 0; at = (at + 1) & uint64(len(s.slots)-1) {
		if s.slots[at] == key {
			return true
		}
	}
	return false
}
