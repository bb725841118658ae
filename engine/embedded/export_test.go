package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// Sparse returns the options, changed so that a table with more than n holes is rewritten.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}

// Indexed returns the options, changed so that indexes are stored for tables of at least n
// ordinals.
func (o Options) Indexed(n uint32) Options {
	o.indexed = n
	return o
}

// Spilling returns the options with a load that keeps at most memory bytes of rows in memory and
// puts at most segment bytes of a type's rows into one segment. It stores all indexes, and builds
// them in temporary files from the given number of entities on.
func (o Options) Spilling(memory, segment int64, entities uint32) Options {
	o.loadMemory, o.loadSegment, o.keepIndexes, o.spillIndexes = memory, segment, 1, entities
	return o
}

// BuildVectors builds the approximate indexes that the graph needs, and waits for them.
func (g *Graph) BuildVectors(ctx context.Context) error { return g.vectors.make(ctx) }

// Checkpoint makes a checkpoint, and waits for it.
func (g *Graph) Checkpoint(ctx context.Context) error { return g.checkpoints.make(ctx) }

// VectorIndex returns the size of the approximate index of a property of the first node type: its
// nodes, the breadth of its searches, and the vectors that it lacks. All are -1 without an index.
func (g *Graph) VectorIndex(branch string, prop int) (nodes, breadth, later int) {
	b, err := g.branches.find(branch)
	if err != nil {
		return -1, -1, -1
	}
	v := b.head.Load().snap.Nodes(0).Vectors(prop)
	if v == nil {
		return -1, -1, -1
	}
	return v.Graph().Nodes(), v.Graph().Breadth(), v.Later()
}

// Quiet returns the options, changed so that nothing runs in the background.
func (o Options) Quiet() Options {
	o.quiet = true
	return o
}

// SegmentSizes lists the sizes of the stored segments, in bytes.
func (g *Graph) SegmentSizes() (sizes []int64) {
	for _, n := range g.store.Sizes() {
		sizes = append(sizes, n)
	}
	return sizes
}

// PreferGraphs makes reads search graphs of vectors even where comparing all vectors is faster, until
// the function that it returns is called.
func PreferGraphs() (undo func()) {
	was := index.ScatterCost
	index.ScatterCost = 0
	return func() { index.ScatterCost = was }
}
