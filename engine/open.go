package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// Engine makes and opens graphs. The server opens every graph through one Engine, so another engine
// replaces the default one by implementing Engine and [Graph].
//
// A place says where one graph is stored, in a form that the engine defines. For the embedded
// engine it is a folder.
type Engine interface {
	// Create makes a graph with a schema in a place that holds none, and opens it. The graph keeps
	// `source`, the text of the schema; Create never parses it. The error is a *Conflict if the
	// place holds a graph, a *SchemaMismatch if the engine cannot represent the schema, and an
	// *Unavailable if the place cannot be used. A call that was interrupted can be repeated.
	Create(ctx context.Context, place, source string, schema *catalog.Schema, opts OpenOptions) (Graph, error)

	// Open opens the graph in a place. If the place holds no graph, the error is a *NotFound. If
	// the graph is open already and the engine serves it to one process only, the error is an
	// *Unavailable. If the stored data is not as it was written, the error is a *Corrupt.
	Open(ctx context.Context, place string, opts OpenOptions) (Graph, error)
}

// OpenOptions configure an open graph. The zero OpenOptions are the engine's defaults. An engine
// honours Now, MaxBranches, MaxBytes, ProposalKeep and the two callbacks. It honours the options about memory if it keeps
// rows in memory while a query runs.
type OpenOptions struct {
	// Now is the clock for dates, commit times and expiries. It must be safe for concurrent use.
	// Nil means the clock of the system.
	Now func() time.Time

	// MaxBranches bounds the live branches. Creating one more fails with a *TooLarge. A graph that
	// has more can still be opened. 0 means the engine's default, a negative value no bound.
	MaxBranches int

	// MaxBytes bounds the stored data of the graph, in bytes: its segments, and the log since the last
	// checkpoint. A write that adds data to a graph with more fails with a *TooLarge; a mutation
	// that only deletes entities, the deletion of a branch, and a cleanup do not. 0 means no bound.
	MaxBytes int64

	// ProposalKeep is how long a cleanup keeps a merged or closed proposal, and its commits readable, after
	// the last event of the proposal. 0 means [ProposalKeep].
	ProposalKeep time.Duration

	// QueryMemory bounds the memory, in bytes, for the rows that one query collects. A query that
	// needs more fails with a *TooLarge. 0 means the engine's default, a negative value no bound.
	QueryMemory int64

	// SharedMemory bounds the total memory for the rows that queries collect. All graphs with the
	// same SharedMemory share this bound. A query that exceeds it fails with a *Busy. Nil means no
	// bound.
	SharedMemory *Memory

	// Embedder computes vectors from texts. Nil means none, and statements that need one are
	// *Unsupported.
	Embedder Embedder

	// BackgroundFailed, if set, is called with the error when work in the background fails, such as
	// a checkpoint, or reading the log of the server that writes the graph. No data is lost, and the engine tries again.
	BackgroundFailed func(error)

	// StorageFailed, if set, is called once when the storage failed. From then on the graph refuses
	// writes; see Graph.Failure. StorageFailed must return at once and must not call the graph.
	StorageFailed func(error)
}

// Embedder computes vectors from texts.
type Embedder interface {
	// Model returns the name of the model, as schemas store it.
	Model() string
	// Embed returns one vector of dim components for each text. If it fails because of a text, the error is a *TextRefused.
	Embed(ctx context.Context, texts []string, dim int) ([][]float32, error)
}

// Memory bounds the total memory of concurrent queries. Several graphs may share one Memory. It is
// safe for concurrent use.
type Memory struct {
	limit int64        // in bytes
	taken atomic.Int64 // bytes reserved by running queries
}

// NewMemory returns a Memory with a limit in bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Limit returns the limit in bytes.
func (m *Memory) Limit() int64 { return m.limit }

// Taken returns the number of bytes that are reserved.
func (m *Memory) Taken() int64 { return m.taken.Load() }

// Take reserves bytes. It reports false, and reserves nothing, if fewer bytes are free. The caller
// must return the bytes with Give.
func (m *Memory) Take(bytes int64) bool {
	if m.taken.Add(bytes) <= m.limit {
		return true
	}
	m.taken.Add(-bytes)
	return false
}

// Give returns bytes that were reserved with Take.
func (m *Memory) Give(bytes int64) { m.taken.Add(-bytes) }
