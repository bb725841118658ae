package index

import (
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// nearEdges holds, for each node, a block with the node's first neighbours, so that a walk to the
// neighbours waits for memory once. Through the arrays of an adjacencyBase it would wait twice: for
// the node's offset, and for the neighbours.
//
// A block has 4, 8 or 16 numbers: the number of the node's edges, the position of the first edge in
// adjacencyBase.other, and then as many of the neighbours as fit.
type nearEdges struct {
	blocks []uint32
	shift  uint32 // binary logarithm of the numbers in a block
}

const (
	nearHead                = 2    // numbers of a block before the neighbours
	leastNearBits, nearBits = 2, 4 // least and greatest nearEdges.shift
	// The neighbours of at least nearNumerator / nearShare of the nodes fit into their blocks, if
	// the largest blocks are enough for that.
	nearNumerator, nearShare = 7, 8
)

// readForLookups reads a stored base. It copies what walks read to large pages, as far as there is
// memory for the copies.
func (b *adjacencyBase) readForLookups() {
	b.read()
	shift := b.nearShift()
	nodes := len(b.off) - 1
	size := 4 * nodes << shift
	if b.memory = column.NewMemory(size + column.Room(b.other)); b.memory == nil {
		return
	}
	blocks, _ := column.Array[uint32](b.memory.Bytes()[:size], nodes<<shift)
	for node := range nodes {
		from, to := b.off[node], b.off[node+1]
		block := blocks[node<<shift:][:1<<shift]
		block[0], block[1] = to-from, from
		if to-from <= uint32(len(block)-nearHead) {
			copy(block[nearHead:], b.other[from:to])
		}
	}
	b.other, _ = column.Copy(b.memory.Bytes()[size:], b.other)
	b.near = nearEdges{blocks, shift}
}

// nearShift returns the binary logarithm of the least size of a block such that the neighbours of
// most nodes fit.
func (b *adjacencyBase) nearShift() uint32 {
	var nodes [nearBits + 1]int // by the least shift that fits
	for i, from := range b.off[:len(b.off)-1] {
		n := nearHead + b.off[i+1] - from
		nodes[min(max(bits.Len32(n-1), leastNearBits), nearBits)]++
	}
	shift, fit := leastNearBits, nodes[leastNearBits]
	for shift < nearBits && fit < len(b.off)/nearShare*nearNumerator {
		shift++
		fit += nodes[shift]
	}
	return uint32(shift)
}

// others returns the neighbours of a node. The base is the one that has the blocks.
func (e *nearEdges) others(b *adjacencyBase, node uint32) []uint32 {
	at := uint64(node) << e.shift
	if at >= uint64(len(e.blocks)) {
		return nil
	}
	block := e.blocks[at:][:1<<e.shift]
	n := block[0]
	if n <= uint32(len(block)-nearHead) {
		return block[nearHead:][:n]
	}
	from := block[1]
	return b.other[from:][:n]
}
