package index

import (
	"encoding/binary"
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// spilledAdjacency is the base of an adjacency in temporary files.
type spilledAdjacency struct {
	descriptor       Adjacency     // only the base is set, with its field `multi`
	off, edge, other *pile         // each pile has one part
	src              column.Source // the temporary files with the piles
}

// sortedEdges sorts edges by their end nodes in bounded memory and writes them to temporary files.
type sortedEdges struct {
	*spilledAdjacency
	scratch   Scratch      // makes temporary files
	otherBits int          // number of low bits of a key that hold the node at the other end
	node      uint32       // the first node whose offset is not written yet
	listed    uint32       // number of edges written
	last      uint64       // key of the last edge
	recs, tmp []edgeRecord // memory to sort records in
}

// edgeRecord is an edge with its sort key: the node at this end, then the node at the other end.
type edgeRecord struct {
	key  uint64 // node at this end, then node at the other end
	edge uint32 // ordinal of the edge
}

// edgeParts is the number of parts into which edges are divided at a time.
const edgeParts = 128

// SpillAdjacency builds the base that [BuildAdjacency] would build, in bounded memory. It returns
// only errors of the function `scratch`.
func SpillAdjacency(n uint32, scratch Scratch, ends func(edge uint32) (here, other uint32, ok bool)) (Spilled, error) {
	var listed, maxHere, maxOther, maxEdge uint32
	for e := range n {
		if h, o, ok := ends(e); ok {
			listed++
			maxHere, maxOther = max(maxHere, h), max(maxOther, o)
			maxEdge = e
		}
	}
	a := &spilledAdjacency{}
	if listed == 0 {
		return a, nil
	}
	base := &adjacencyBase{nOff: int(maxHere) + 2, nEdge: int(listed), edges: maxEdge + 1, others: maxOther + 1}
	a.descriptor.base = base
	s := &sortedEdges{spilledAdjacency: a, scratch: scratch, otherBits: bits.Len32(maxOther)}
	var err error
	a.src, err = scratch(func(add func(string, []byte) error) error {
		a.off, a.edge, a.other = newPile("f", 1, add), newPile("e", 1, add), newPile("o", 1, add)
		all := func(yield func(key uint64, edge uint32) error) error {
			for e := range n {
				if h, o, ok := ends(e); ok {
					if err := yield(uint64(h)<<s.otherBits|uint64(o), e); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := s.sort(all, int(listed), 0, (uint64(maxHere)+1)<<s.otherBits); err != nil {
			return err
		}
		for ; s.node <= maxHere+1; s.node++ {
			if err := a.off.put(0, listed); err != nil {
				return err
			}
		}
		for _, p := range []*pile{a.off, a.edge, a.other} {
			if err := p.finish(); err != nil {
				return err
			}
		}
		return nil
	})
	return a, err
}

// sort writes edges in the order of their keys. Each key is at least `least` and less than `end`.
// The function `all` yields the edges in the order of their ordinals.
func (s *sortedEdges) sort(all func(yield func(key uint64, edge uint32) error) error, n int, least, end uint64) error {
	if n <= 1<<partBits || end-least == 1 {
		return s.sortInMemory(all, n, least, end)
	}
	width := (end - least + edgeParts - 1) / edgeParts
	counts := make([]int, edgeParts)
	var parts *pile
	src, err := s.scratch(func(add func(string, []byte) error) error {
		parts = newPile("p", edgeParts, add)
		err := all(func(key uint64, edge uint32) error {
			part := int((key - least) / width)
			counts[part]++
			return parts.put(part, uint32(key), uint32(key>>32), edge)
		})
		if err != nil {
			return err
		}
		return parts.finish()
	})
	for part, n := range counts {
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		from := least + uint64(part)*width
		err = s.sort(func(yield func(key uint64, edge uint32) error) error {
			return parts.each(src, part, func(numbers []uint32) error {
				for i := 0; i < len(numbers); i += 3 {
					if err := yield(uint64(numbers[i])|uint64(numbers[i+1])<<32, numbers[i+2]); err != nil {
						return err
					}
				}
				return nil
			})
		}, n, from, min(end, from+width))
	}
	return err
}

// sortInMemory is sort for few edges, or for edges with equal keys.
func (s *sortedEdges) sortInMemory(all func(yield func(key uint64, edge uint32) error) error, n int, least, end uint64) error {
	if end-least == 1 {
		return all(s.write)
	}
	s.recs = s.recs[:0]
	err := all(func(key uint64, edge uint32) error {
		s.recs = append(s.recs, edgeRecord{key - least, edge})
		return nil
	})
	if err != nil {
		return err
	}
	for shift := 0; shift < bits.Len64(end-least-1); shift += 11 {
		s.pass(shift)
	}
	for _, r := range s.recs {
		if err := s.write(r.key+least, r.edge); err != nil {
			return err
		}
	}
	return nil
}

// pass is one pass of a stable radix sort. It sorts by 11 bits of the keys: bit number `shift` and
// the 10 bits above it.
func (s *sortedEdges) pass(shift int) {
	var at [1 << 11]int
	for i := range s.recs {
		at[s.recs[i].key>>shift&(1<<11-1)]++
	}
	start := 0
	for d, n := range at {
		at[d] = start
		start += n
	}
	if cap(s.tmp) < len(s.recs) {
		s.tmp = make([]edgeRecord, cap(s.recs))
	}
	out := s.tmp[:len(s.recs)]
	for _, r := range s.recs {
		d := r.key >> shift & (1<<11 - 1)
		out[at[d]] = r
		at[d]++
	}
	s.recs, s.tmp = out, s.recs
}

// write writes one edge. The edges must come in the order of their keys.
func (s *sortedEdges) write(key uint64, edge uint32) error {
	here, other := uint32(key>>s.otherBits), uint32(key&(1<<s.otherBits-1))
	for ; s.node <= here; s.node++ {
		if err := s.off.put(0, s.listed); err != nil {
			return err
		}
	}
	if s.listed > 0 && key == s.last {
		s.descriptor.base.multi = true
	}
	s.last = key
	s.listed++
	if err := s.edge.put(0, edge); err != nil {
		return err
	}
	return s.other.put(0, other)
}

// AppendDescriptor implements [Spilled].
func (a *spilledAdjacency) AppendDescriptor(dst []byte) []byte {
	b := a.descriptor.base
	if b == nil {
		return a.descriptor.AppendDescriptor(dst, 0)
	}
	for _, n := range []int{b.nOff, b.nEdge, int(b.edges), int(b.others)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if b.multi {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Blocks implements [Spilled].
func (a *spilledAdjacency) Blocks(name string, add func(name string, pieces func(put func([]byte) error) error) error) error {
	if a.descriptor.base == nil {
		return nil
	}
	for _, x := range []struct {
		suffix string
		*pile
	}{{".f", a.off}, {".e", a.edge}, {".o", a.other}} {
		err := add(name+x.suffix, func(put func([]byte) error) error { return x.copy(a.src, 0, put) })
		if err != nil {
			return err
		}
	}
	return nil
}
