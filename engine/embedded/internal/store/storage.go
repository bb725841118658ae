package store

import "context"

// Storage is the storage of one open graph. [Store] keeps the graph in one folder, [Shared] in a
// bucket that several servers use. The methods may be called concurrently, but Close only after all
// other calls have returned. The documentation of Store's methods applies to both.
type Storage interface {
	Log
	Segments
	Checkpoints

	// Verify reads the stored data. The error joins an *engine.Corrupt for each fault.
	Verify(ctx context.Context) error

	// Failure returns nil while the storage accepts writes, and otherwise the *engine.Unavailable
	// that writes get.
	Failure() error

	// MustReopen reports whether the storage accepts no more writes until it is closed and opened
	// again.
	MustReopen() bool

	// Full reports whether the disk was full at the last attempt to write. FullSignal receives a
	// value when that happens, and Retry checks for free space.
	Full() bool
	FullSignal() <-chan struct{}
	Retry() error

	// Close writes the queued records and releases the storage. Open segments stay readable.
	Close() error
}

// Log is the log of a graph.
type Log interface {
	// Reserve makes room for a record with a payload of n bytes, so that the next Enqueue is fast.
	Reserve(n int) error

	// Enqueue assigns a record its place in the log and returns without waiting. The argument
	// `segments` lists the segments to which this record is the first to refer.
	Enqueue(kind uint8, payload []byte, segments ...SegmentID) (*Ticket, error)

	// Wait returns when a record is durable or has failed. The caller must call it exactly once for
	// each record.
	Wait(t *Ticket) error

	// Durable returns the LSN of the last durable record, 0 if there is none.
	Durable() uint64
}

// Segments are the immutable files of a graph.
type Segments interface {
	// WriteSegment creates a segment from the blocks that the function `write` adds. The segment is
	// durable on return.
	WriteSegment(ctx context.Context, write func(w *SegmentWriter) error) (SegmentID, error)

	// OpenSegment opens a segment for reading.
	OpenSegment(ctx context.Context, id SegmentID) (*Segment, error)

	// RemoveSegment removes a segment that no record and no checkpoint lists or will list.
	RemoveSegment(id SegmentID) error

	// WriteScratch creates a temporary segment, which is not durable.
	WriteScratch(ctx context.Context, write func(w *SegmentWriter) error) (*Segment, error)

	// Sizes returns the sizes in bytes of the segments, by id. An unknown size is 0.
	Sizes() map[SegmentID]int64
}

// Checkpoints are the states of a graph from which an Open begins.
type Checkpoints interface {
	// Checkpoint stores the effect of all records up to `upTo` and puts it into force.
	Checkpoint(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error

	// Rewrite is a Checkpoint of a state that differs from the one that an earlier checkpoint and
	// the records make: rows have other numbers, or the past was removed. The records after it can
	// only be applied to this state.
	Rewrite(ctx context.Context, payload []byte, upTo uint64, segments []SegmentID) error
}

var (
	_ Storage = (*Store)(nil)
	_ Storage = (*Shared)(nil)
)
