package embedded

import (
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Options configure how a graph is created and opened. The zero Options are the defaults.
type Options struct {
	// Now is the clock for dates and expiries. Nil means clock.Now.
	Now func() time.Time
	// QueryMemory bounds the memory in which one query collects rows, in bytes. A query that
	// needs more fails with a *engine.TooLarge. 0 means DefaultQueryMemory, a negative value no
	// bound.
	QueryMemory int64
	// SharedMemory bounds the memory in which the queries of all graphs that share it collect
	// rows together. A query that exceeds it fails with a *engine.Busy. Nil means no bound.
	SharedMemory *Memory
	// CheckpointBytes is how many bytes of log are written between two checkpoints. 0 means
	// DefaultCheckpointBytes.
	CheckpointBytes int64
	// InlineBytes is the maximum size in bytes of the rows in the log record of a commit. Larger
	// rows go to a segment. 0 means DefaultInlineBytes; with a negative value all rows go to
	// segments.
	InlineBytes int
	// LogSize is the size of log files in bytes. 0 means the store's default.
	LogSize int64
	// MaxBranches bounds the live branches. Creating one more fails with a *engine.TooLarge. A
	// graph that has more can still be opened. 0 means DefaultMaxBranches, a negative value no
	// bound.
	MaxBranches int
	// MaxBytes bounds the stored data of the graph, in bytes; see [engine.OpenOptions]. 0 means no
	// bound.
	MaxBytes int64
	// ProposalKeep is how long a cleanup keeps a merged or closed proposal after its last event. 0 means
	// [engine.ProposalKeep].
	ProposalKeep time.Duration
	// Failed, if set, is called with the error of a checkpoint that failed, in the background
	// or in Close. No data is lost: the log still has everything that the checkpoint would have
	// stored, and the next checkpoint tries again.
	Failed func(error)

	// LogFailed, if set, is called once when a write or a sync of the log fails, or when the
	// folder was moved or replaced. From then on the graph serves reads and refuses writes
	// until it is closed and opened again. A writer calls LogFailed and waits for it, so
	// LogFailed must not call the graph.
	LogFailed func(error)

	// Embedder computes vectors from texts: from the text argument of `nearest`, and for a required
	// property with @embed to which an insert gives no value. If it is nil, such statements are
	// refused.
	Embedder Embedder

	// commitWeight is the number of bytes that each commit counts towards CheckpointBytes, in
	// addition to the bytes of its record. 0 means defaultCommitWeight.
	commitWeight int64
	// quiet disables checkpoints in the background.
	quiet bool
	// visits bounds the entities that the subqueries of a read, or the statements in the blocks of a mutation,
	// examine. 0 means plan.MaxVisited.
	visits int64
	// sparse is the maximum number of holes in a table that does not need a rewrite. 0 means
	// version.DefaultSparse.
	sparse uint32
	// indexed is the least number of ordinals in a table for which its indexes are stored.
	// Indexes over smaller tables are built when the graph is opened. 0 means defaultIndexed.
	indexed uint32
	// closingTexts bounds the time in which Close builds text indexes. 0 means defaultClosingTexts.
	closingTexts time.Duration
	// vectorLimits bound the builds of approximate indexes. The zero value means
	// version.DefaultVectorLimits.
	vectorLimits version.VectorLimits
	// loadMemory and loadSegment are Memory and Segment of load.Options.
	loadMemory, loadSegment int64
	// lateBytes bounds the operations after the parts in the record of a bulk load, up to one operation. More go to segments. 0 means
	// half a record.
	lateBytes int
	// rewriteSegment is Segment of version.Rewriter. 0 means load.DefaultSegment.
	rewriteSegment int64
	// textPart is the value of PartBytes in version.TextFiles. 0 means the default.
	textPart int
	// keepIndexes and spillIndexes are Least and Spill of version.IndexFiles. 0 means the defaults,
	// defaultKeepIndexes and defaultSpillIndexes.
	keepIndexes, spillIndexes uint32
	// walked and examined are the values of Walked and Examined in eval.Options.
	walked, examined int64
	// splitAll is the value of SplitAll in eval.Options.
	splitAll bool
	// examines, if set, returns the state that ApplySchema examines first instead of the tip of a branch. Tests return an earlier
	// one, so that what was written since must be examined under the write lock.
	examines func(branch string, tip *version.Snapshot) *version.Snapshot
}

// Embedder turns texts into vectors.
type Embedder = engine.Embedder

// Memory is a bound on the memory of several queries together.
type Memory = engine.Memory

// NewMemory returns a bound of `limit` bytes.
func NewMemory(limit int64) *Memory { return engine.NewMemory(limit) }

const (
	// DefaultQueryMemory is 1 GiB.
	DefaultQueryMemory = 1 << 30
	// DefaultMaxBranches is a number of branches that occupy about 100 MB of memory if each has one
	// small commit.
	DefaultMaxBranches = 10_000
	// DefaultInlineBytes is 64 KiB. To write this much takes about as long as to write one page.
	DefaultInlineBytes = 64 << 10
	// DefaultCheckpointBytes is 8 MiB, which Open replays in well under a second.
	DefaultCheckpointBytes = 8 << 20

	// defaultIndexed is a number of ordinals. To index them takes less time than to write a file.
	defaultIndexed = 2048
	// defaultClosingTexts indexes some million texts, and is a third of the 30 s after which Kubernetes kills a container.
	defaultClosingTexts = 10 * time.Second
	// defaultKeepIndexes is a number of ordinals at which the indexes of a load have a size of
	// megabytes.
	defaultKeepIndexes = 1 << 16
	// defaultSpillIndexes is a number of ordinals for which one index can be built with at most 40
	// MB of memory.
	defaultSpillIndexes = 2 << 20
)

// Format returns the number of the format in which this program writes graphs.
func Format() int { return format.Current }

// time returns the time of a commit made now.
func (o *Options) time() time.Time { return o.Now().UTC().Truncate(time.Microsecond) }

// now returns the value of now() in a query.
func (o *Options) now() value.Value { return value.OfDateTime(value.DateTimeOf(o.Now())) }

// complete returns the options with the defaults in place of zero values.
func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = clock.Now
	}
	if o.QueryMemory == 0 {
		o.QueryMemory = DefaultQueryMemory
	}
	switch {
	case o.InlineBytes == 0:
		o.InlineBytes = DefaultInlineBytes
	case o.InlineBytes < 0:
		o.InlineBytes = 0
	default:
		// Rows too large for a record go to a segment; the rest of a record is small.
		o.InlineBytes = min(o.InlineBytes, store.MaxPayload/2)
	}
	if o.lateBytes == 0 {
		o.lateBytes = store.MaxPayload / 2
	}
	if o.MaxBranches == 0 {
		o.MaxBranches = DefaultMaxBranches
	}
	if o.CheckpointBytes <= 0 {
		o.CheckpointBytes = DefaultCheckpointBytes
	}
	if o.ProposalKeep == 0 {
		o.ProposalKeep = engine.ProposalKeep
	}
	if o.commitWeight == 0 {
		o.commitWeight = defaultCommitWeight
	}
	if o.indexed == 0 {
		o.indexed = defaultIndexed
	}
	if o.closingTexts == 0 {
		o.closingTexts = defaultClosingTexts
	}
	if o.vectorLimits == (version.VectorLimits{}) {
		o.vectorLimits = version.DefaultVectorLimits()
	}
	if o.keepIndexes == 0 {
		o.keepIndexes = defaultKeepIndexes
	}
	if o.spillIndexes == 0 {
		o.spillIndexes = defaultSpillIndexes
	}
	if o.sparse == 0 {
		o.sparse = version.DefaultSparse
	}
	return o
}

// with returns the options, overridden by the options that are set in opts.
func (o Options) with(opts engine.OpenOptions) Options {
	if opts.Now != nil {
		o.Now = opts.Now
	}
	if opts.MaxBranches != 0 {
		o.MaxBranches = opts.MaxBranches
	}
	if opts.MaxBytes != 0 {
		o.MaxBytes = opts.MaxBytes
	}
	if opts.ProposalKeep != 0 {
		o.ProposalKeep = opts.ProposalKeep
	}
	if opts.QueryMemory != 0 {
		o.QueryMemory = opts.QueryMemory
	}
	if opts.SharedMemory != nil {
		o.SharedMemory = opts.SharedMemory
	}
	if opts.Embedder != nil {
		o.Embedder = opts.Embedder
	}
	if opts.BackgroundFailed != nil {
		o.Failed = opts.BackgroundFailed
	}
	if opts.StorageFailed != nil {
		o.LogFailed = opts.StorageFailed
	}
	return o
}
