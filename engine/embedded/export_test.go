package embedded

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Sparse returns the options, changed so that a table with more than n holes is rewritten.
func (o Options) Sparse(n uint32) Options {
	o.sparse = n
	return o
}

// Lagging is a Graph whose ApplySchema first examines an earlier state of a branch, as if the statements since then had run
// meanwhile.
type Lagging struct {
	*Graph
	earlier map[string]*version.Snapshot // by branch, the state before its first mutation with the present schema
}

// Follow returns the options, changed for the Graph of l. Set it before the first call.
func (l *Lagging) Follow(o Options) Options {
	l.earlier = map[string]*version.Snapshot{}
	o.examines = func(branch string, tip *version.Snapshot) *version.Snapshot {
		if at := l.earlier[branch]; at != nil && at.Schema == tip.Schema {
			return at
		}
		return tip
	}
	return o
}

// Mutate notes the state before the first mutation with a schema.
func (l *Lagging) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if b, err := l.branches.findToWrite(opts.Branch, ""); err == nil {
		head := b.head.Load().snap
		if at := l.earlier[b.name]; at == nil || at.Schema != head.Schema {
			l.earlier[b.name] = head
		}
	}
	return l.Graph.Mutate(ctx, q, args, opts)
}

// Reloading returns the place, changed so that a follower loads a checkpoint after n records.
func (at SharedPlace) Reloading(n uint64) SharedPlace {
	at.reload = n
	return at
}

// Pieces returns the place, changed so that the cache fetches the pieces of segments when they are read, however small
// the segments are.
func (at SharedPlace) Pieces() SharedPlace {
	at.whole = 1
	return at
}

// Indexed returns the options, changed so that indexes are stored for tables of at least n
// ordinals.
func (o Options) Indexed(n uint32) Options {
	o.indexed = n
	return o
}

// Spilling returns the options, changed for loads: a load keeps at most `memory` bytes of rows in
// memory and puts at most `segment` bytes of a type's rows into one segment. It stores all indexes, and all
// operations after the parts of a load.
// It builds an index in temporary files if there are at least the given number of entities.
func (o Options) Spilling(memory, segment int64, entities uint32) Options {
	o.loadMemory, o.loadSegment, o.keepIndexes, o.spillIndexes, o.lateBytes = memory, segment, 1, entities, 1
	return o
}

// SplitAll returns the options, changed so that small counts run on several processors, too.
func (o Options) SplitAll() Options {
	o.splitAll = true
	return o
}

// BuildVectors builds the approximate indexes that the graph needs. It returns when they are built.
func (g *Graph) BuildVectors(ctx context.Context) error { return g.vectors.make(ctx) }

// Checkpoint makes a checkpoint. It returns when the checkpoint is complete.
func (g *Graph) Checkpoint(ctx context.Context) error { return g.checkpoints.make(ctx) }

// VectorIndex describes the approximate index of a property of the first node type. It returns the
// number of nodes in the graph of vectors, the breadth of searches, and the number of vectors that
// are not in the graph. All three are -1 if there is no index.
func (g *Graph) VectorIndex(branch string, prop int) (nodes, breadth, later int) {
	b, err := g.branches.find(branch)
	if err != nil {
		return -1, -1, -1
	}
	v, err := b.head.Load().snap.Nodes(0).Vectors(index.Work{Ctx: context.Background()}, prop)
	if v == nil || err != nil {
		return -1, -1, -1
	}
	return v.Graph().Nodes(), v.Graph().Breadth(), v.Later()
}

// VectorsFreed finds the current graph of vectors for a property of the first node type. It returns
// a function that reports whether the memory of this graph was freed.
func (g *Graph) VectorsFreed(branch string, prop int) func() bool {
	b, err := g.branches.find(branch)
	if err != nil {
		return func() bool { return false }
	}
	view, err := b.head.Load().snap.Nodes(0).Vectors(index.Work{Ctx: context.Background()}, prop)
	if view == nil || err != nil {
		return func() bool { return false }
	}
	freed := new(atomic.Bool)
	runtime.AddCleanup(view.Graph(), func(freed *atomic.Bool) { freed.Store(true) }, freed)
	return freed.Load
}

// SetQueryMemory sets Options.QueryMemory.
func (g *Graph) SetQueryMemory(bytes int64) { g.opts.QueryMemory = bytes }

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

// PreferGraphs makes reads search graphs of vectors even if it would be faster to compare all
// vectors. The returned function ends this.
func PreferGraphs() (undo func()) {
	was := vectorindex.ScatterCost
	vectorindex.ScatterCost = 0
	return func() { vectorindex.ScatterCost = was }
}
