// Package vectorindex finds the entities whose vectors are nearest to a given one, approximately.
//
// A view of a state of a table consists of a graph that is built at once, from which searches walk to the neighbours of a
// vector, and of the vectors that were added later, which searches compare one by one.
package vectorindex

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// Graph is an approximate index of vectors by direction: a hierarchical navigable small world
// graph (Yu. A. Malkov and D. A. Yashunin, Efficient and robust approximate nearest neighbor search
// using Hierarchical Navigable Small World graphs, 2016, arXiv:1603.09320). Each node is a vector,
// and links join it to nodes nearby. A search walks along the links towards the target.
//
// Unlike the paper, nodes are inserted in batches: the searches of one batch run concurrently and
// do not see its links, and a node is also compared with the other nodes of its batch. The level of
// a node is computed from a hash of the node's ordinal. So the same vectors produce the same graph,
// no matter how many goroutines build it.
//
// A Graph is immutable. It contains the codes of the vectors, not the vectors themselves; see
// column.Codes. The codes and links of a stored graph are read by pieces; see [storedGraph].
type Graph struct {
	dim    int // number of components of a vector
	stride int // codes per node, with padding; see column.Codes
	// Node i is the vector of ordinal ords[i], taken from row rows[i]. The rows ascend.
	ords, rows []uint32
	codes      [][]int8     // chunks of chunkNodes nodes; each node has `stride` codes
	whole      []int8       // the codes of all chunks, if they lie in one array; otherwise nil
	scale      []float32    // by node: the Scale of column.Codes
	lack       []float32    // by node: the bound Error of column.Codes
	maxLack    float32      // the maximum of lack
	links      []uint32     // by node: flatDegree places for linked nodes; unused places contain noNode
	layers     []graphLayer // the links of the layers above the lowest one
	entry      uint32       // first node of every search; noNode in an empty graph
	// Vectors that are not finite have no codes. Every search yields their entities.
	oddOrds, oddRows []uint32

	covered uint32 // the graph was made from the rows with lower numbers
	breadth int    // see Breadth
	tuned   uint32 // number of nodes for which breadth was measured

	place  *index.BlockPlace // nil for a graph that was built in memory; a graph that extends a stored one keeps its place
	stored *storedGraph      // nil for a graph that was built in memory
	// segment is the name of the segment in which the graph is stored; nil if it is not stored. The
	// goroutine that writes manifests sets it while builds and Verify may run, so it is atomic.
	segment atomic.Pointer[string]
	// mapped is the same graph, read from its segment; nil for a graph that was not built in memory, or
	// not stored yet. Once it is set, views use it, so that the memory of this graph is freed.
	mapped atomic.Pointer[Graph]
}

// graphLayer is a layer above the lowest one. It contains only some of the nodes.
type graphLayer struct {
	nodes []uint32 // ascending
	links []uint32 // by position in nodes: degree places for linked nodes; unused places contain noNode
}

const (
	// degree is the number of links that a node gets. The paper calls it M.
	degree = 16
	// flatDegree is the maximum number of links of a node in the lowest layer.
	flatDegree = 2 * degree
	// chunkNodes is the number of nodes per chunk of codes, a power of two.
	chunkNodes = 1 << 12
	noNode     = ^uint32(0) // stands for no node
	// MaxVectorDim is the maximum number of components of the vectors in a graph. Up to it, the
	// inner product of two vectors of codes stays below 2³¹.
	MaxVectorDim = 1 << 16
)

// Nodes returns the number of nodes.
func (g *Graph) Nodes() int { return len(g.ords) }

// Covered returns the number of rows from which the graph was made.
func (g *Graph) Covered() uint32 { return g.covered }

// Breadth returns the number of nearest nodes that a search must keep so that almost always the
// first ten are the right ones. It was measured when the graph was built. Breadth returns 0 if no
// breadth suffices; then a search must compare all nodes.
func (g *Graph) Breadth() int { return g.breadth }

// vector returns the codes of a node.
func (g *Graph) vector(node uint32) []int8 {
	if g.stored != nil && g.byPieces() {
		return g.stored.codes.Range(int(node)*g.stride, int(node+1)*g.stride)
	}
	at := int(node%chunkNodes) * g.stride
	return g.codes[node/chunkNodes][at : at+g.stride : at+g.stride]
}

// linksOf returns the links of a node in a layer, without the unused places.
func (g *Graph) linksOf(layer int, node uint32) []uint32 {
	list := g.places(layer, node)
	for n, to := range list {
		if to == noNode {
			return list[:n]
		}
		if int(to) >= len(g.ords) {
			g.fault("node %d links to node %d, but the index has only %d nodes", node, to, len(g.ords))
		}
	}
	return list
}

// places returns the links of a node in a layer, including the unused places.
func (g *Graph) places(layer int, node uint32) []uint32 {
	if layer == 0 {
		at := int(node) * flatDegree
		if g.stored != nil && g.byPieces() {
			return g.stored.links.Range(at, at+flatDegree)
		}
		return g.links[at : at+flatDegree : at+flatDegree]
	}
	l := &g.layers[layer-1]
	low, high := 0, len(l.nodes)
	for low < high {
		if mid := (low + high) / 2; l.nodes[mid] < node {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(l.nodes) || l.nodes[low] != node {
		g.fault("node %d is not in layer %d", node, layer)
	}
	return l.links[low*degree : (low+1)*degree : (low+1)*degree]
}

// fault throws a fault of a stored graph; see package corruption.
func (g *Graph) fault(format string, args ...any) {
	if g.place == nil {
		panic("vectorindex: a graph of vectors is inconsistent")
	}
	corruption.Corrupt(g.place.Source.Name(), "index "+g.place.Name+": "+format, args...)
}

// levelOf returns the highest layer that contains the node of an ordinal. On average, one of 16
// nodes of a layer is also in the next higher layer: the paper's factor 1/ln(degree).
func levelOf(ord uint32) int {
	h := index.MixInt(0, uint64(ord)+1)
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	return bits.TrailingZeros64(h|1<<60) / 4
}

// similar returns the cosine of the angle between two nodes, computed from their codes. The
// parameter `ahead` is the node that the caller will probably compare next; its codes are
// prefetched.
func (g *Graph) similar(a, b, ahead uint32) float32 {
	return float32(dot8(g.vector(a), g.vector(b), g.vector(ahead))) * g.scale[a] * g.scale[b]
}

// closeness is one number that combines a node and its similarity to a target. The closer of two
// nodes has the lower closeness. If two nodes are equally close, the node with the lower node
// number has the lower closeness.
type closeness uint64

// closenessOf combines a node and its similarity to a target.
func closenessOf(similarity float32, node uint32) closeness {
	b := math.Float32bits(similarity)
	if b>>31 != 0 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return closeness(uint64(^b)<<32 | uint64(node))
}

// node returns the node of a closeness.
func (c closeness) node() uint32 { return uint32(c) }

// similarity is the inverse of closenessOf.
func (c closeness) similarity() float32 {
	b := ^uint32(c >> 32)
	if b>>31 != 0 {
		return math.Float32frombits(b &^ (1 << 31))
	}
	return math.Float32frombits(^b)
}

// graphTarget is a vector with which nodes are compared: the codes of a node, or a query. One of
// the two fields is nil.
type graphTarget struct {
	narrow []int8  // the codes of a node, 8 bits each
	wide   []int16 // the components of a query, 16 bits each
}

// sum returns the inner product of the target and the codes x. It prefetches the codes `ahead`,
// which the caller will probably compare next.
func (t *graphTarget) sum(x, ahead []int8) int32 {
	if t.narrow != nil {
		return dot8(x, t.narrow, ahead)
	}
	return dot16(x, t.wide, ahead)
}

// coded appends nodes with the given codes to the graph. An empty graph keeps the arrays of x, which
// must not change afterwards. REQUIRES: the graph is under construction.
func (g *Graph) coded(x *column.Codes, ord func(row uint32) uint32) {
	alone := len(g.ords) == 0
	if alone {
		g.setCodes(x.Bytes)
	}
	for i, row := range x.Rows {
		n := len(g.ords)
		if !alone {
			if n%chunkNodes == 0 {
				g.codes = append(g.codes, make([]int8, 0, chunkNodes*g.stride))
			}
			last := &g.codes[len(g.codes)-1]
			*last = append(*last, x.Bytes[i*g.stride:(i+1)*g.stride]...)
		}
		g.ords, g.rows = append(g.ords, ord(row)), append(g.rows, row)
		g.scale, g.lack = append(g.scale, x.Scale[i]), append(g.lack, x.Error[i])
	}
	g.maxLack = max(g.maxLack, x.MaxError)
	for _, row := range x.NotFinite {
		g.oddOrds, g.oddRows = append(g.oddOrds, ord(row)), append(g.oddRows, row)
	}
}

// setCodes sets the codes of all nodes. The graph keeps the array.
func (g *Graph) setCodes(whole []int8) {
	g.whole, g.codes = whole, slices.Collect(slices.Chunk(whole, chunkNodes*g.stride))
}
