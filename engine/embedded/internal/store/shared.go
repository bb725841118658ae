package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// SharedOptions say where a graph in shared storage is, and who uses it. Bucket, FS, Cache and
// Applier are required.
type SharedOptions struct {
	Bucket object.Bucket // the shared storage
	Prefix string        // of the names of this graph's objects; ends with "/", or is empty
	FS     fs.FS         // file system of the cache
	Cache  string        // folder for copies of segments; no other graph may use it
	Bound  *CacheBound   // of the cache; nil for no bound

	// Node, Incarnation and Address identify this server in takeover objects, for operators.
	Node, Incarnation, Address string

	// Patience is how long a call repeats requests that the storage does not answer. 0 means the
	// default of package sharedlog.
	Patience time.Duration

	// Reload is the number of records after which a server that follows the log loads the next
	// checkpoint, to free the memory of the records. 0 means 8192. If the log is longer than 64 times
	// that number, the server loads it after a 64th of the log, because the time of a load grows with
	// the length of the history.
	Reload uint64

	// Whole is the maximum size in bytes of a segment that is fetched whole. Pieces of a larger one are fetched when they
	// are read. 0 means 2 MiB.
	Whole int64

	// Retention is how long condemned objects stay; see Retention of sharedlog.Options.
	Retention time.Duration

	// Needed asks all servers for the oldest checkpoint of this graph that one of them needs; see Delete
	// of sharedlog.Garbage. Nil means that no other server uses the graph.
	Needed func(context.Context) (uint64, error)

	Applier Applier // receives the state of the graph and its changes

	// Failed, if set, is called once when a write of the log fails or another server takes over.
	// From then on the storage accepts no writes until it is opened again. Failed must not call the
	// storage.
	Failed func(error)

	// Closed, if set, is called at the end of Close.
	Closed func()

	leastEpoch uint64 // LeastEpoch of sharedlog.Options
}

// Applier builds a graph in memory from the log that its server reads. [Shared] calls the methods one at a
// time, and none of them once the server is the writer.
type Applier interface {
	// Load begins anew with the state of a checkpoint in `s`. Readers must not see it before Publish.
	Load(ctx context.Context, s *Shared, found *Recovered) error

	// Apply applies the next record.
	Apply(ctx context.Context, r Record) error

	// Publish lets readers see the state. It is at least as new as at the last call of Publish.
	Publish()
}

// Shared is the storage of one graph in a bucket that several servers use. At first its server only
// reads: it follows the log, and passes each checkpoint and record to the Applier. After TakeOver its
// server is the writer. The package's documentation draws the objects.
type Shared struct {
	opts  SharedOptions
	cache fs.Dir       // the locked folder of the cache
	files *cacheFolder // the segments in it

	// following holds an element while a goroutine uses `follower` and calls the Applier. Only its
	// holder sets `queue` and `ctx`.
	following chan struct{}
	follower  *sharedlog.Follower             // nil if the log must be opened again
	broken    bool                            // the state or the follower cannot be used after an error
	ctx       context.Context                 // of the call that follows the log
	reloading atomic.Bool                     // the Applier loads a checkpoint, while readers see an earlier state
	missed    atomic.Bool                     // an object that the state needs was not there
	holds     *holds                          // the checkpoints whose states are in use
	queue     atomic.Pointer[sharedlog.Queue] // the log of the writer; nil while the server only reads
	durable   atomic.Uint64                   // LSN of the last record that was read or written
	current   atomic.Pointer[time.Time]       // see Current; nil before the log was read

	life       context.Context    // of the work in the background; Close ends it
	end        context.CancelFunc // ends `life`
	background sync.WaitGroup     // the goroutines that store roll-ups; started only while `closed` is false

	checkpointing sync.Mutex // held by Checkpoint and Rewrite

	mu          sync.Mutex
	loaded      bool                         // the log has a checkpoint in force
	tail        []Record                     // the records after the state that was last loaded or stored
	applied     uint64                       // number of records that were applied since the last load
	round       uint64                       // number of checkpoints that this server loaded or made
	covered     uint64                       // LSN of the last record before the tail
	recovered   uint64                       // LSN of the last record at the takeover
	epoch       uint64                       // epoch of this server's takeover; 0 before the takeover
	outdated    bool                         // the state needs segments that the checkpoint in force does not need
	orphans     []uint64                     // segments to condemn with the next checkpoint
	complete    bool                         // a checkpoint of this writer lists all earlier segments that the graph needs
	swept       bool                         // the writer has looked for orphans
	nextLSN     uint64                       // of the next record that is enqueued
	nextSegment SegmentID                    // id of the next segment
	segments    map[SegmentID]*sharedSegment // the segments that this server knows
	failed      error                        // if set, why the storage accepts no writes
	closed      bool                         // Close was called
}

// ErrReader is the error of writes on a server that only reads the graph.
var ErrReader error = &engine.Unavailable{Reason: "this server only reads the graph; send the write to the server that writes it", RetryAfter: retryWait}

// OpenShared opens the shared storage of a graph for reading, and passes its state to the Applier.
// If the storage contains no graph, Exists reports false afterwards, and the Applier has received
// nothing.
func OpenShared(ctx context.Context, opts SharedOptions) (*Shared, error) {
	if err := opts.FS.MkdirAll(opts.Cache); err != nil {
		return nil, unavailable("making the folder of the cache", err)
	}
	files, err := openCacheFolder(opts.FS, opts.Bound, opts.Cache)
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return nil, &engine.Unavailable{Reason: held.Error() + "; give each graph of each process a cache folder of its own"}
	case err != nil:
		return nil, unavailable("locking the folder of the cache", err)
	}
	s := &Shared{
		opts: opts, cache: files.dir, files: files, following: make(chan struct{}, 1), nextSegment: 1,
		segments: map[SegmentID]*sharedSegment{}, holds: newHolds(),
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	err = s.listCache()
	if err == nil {
		err = s.CatchUp(ctx)
	}
	if err != nil {
		s.end()
		s.files.close()
		return nil, errors.Join(err, s.cache.Close())
	}
	return s, nil
}

// listCache notes the files that an earlier process left in the cache.
func (s *Shared) listCache() error {
	names, err := s.cache.List(s.opts.Cache)
	if err != nil {
		return unavailable("listing the cache", err)
	}
	found := classify(names)
	if len(found.logs)+len(found.manifests) > 0 {
		return &engine.Conflict{Reason: fmt.Sprintf("the folder %s contains a graph; choose an empty folder for the cache", s.opts.Cache)}
	}
	return s.files.scan(found)
}

// Exists reports whether the storage contains a graph: whether a checkpoint is in force.
func (s *Shared) Exists() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

// Failure implements [Storage].
func (s *Shared) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil && s.queue.Load() == nil {
		return ErrReader
	}
	return s.failed
}

// MustReopen implements [Storage].
func (s *Shared) MustReopen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil
}

// Full implements [Storage]. A full disk of the cache fails single calls, and nothing else.
func (s *Shared) Full() bool { return false }

// FullSignal implements [Storage]. The channel never receives a value.
func (s *Shared) FullSignal() <-chan struct{} { return nil }

// Retry implements [Storage].
func (s *Shared) Retry() error { return nil }

// Close implements [Storage]. Another server can take over at any time, also without Close.
func (s *Shared) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	failed := s.failed
	s.mu.Unlock()
	s.end()
	s.background.Wait()
	s.following <- struct{}{} // waits for a call that follows the log
	<-s.following
	s.files.close()
	err := errors.Join(failed, s.cache.Close())
	if s.opts.Closed != nil {
		s.opts.Closed()
	}
	return err
}

// usable returns an error if the storage is closed.
func (s *Shared) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &engine.Unavailable{Reason: "it is closed"}
	}
	return nil
}

// fail records that the storage accepts no more writes, and returns the error of the call that
// noticed it.
func (s *Shared) fail(err error) error {
	if err = s.mapped(err); err == nil {
		return nil
	}
	s.mu.Lock()
	first := s.failed == nil
	if first {
		cause := err
		var unsure *engine.Indeterminate
		if errors.As(err, &unsure) {
			cause = unsure.Err // only the outcome of this write is unknown; later ones are certainly not made
		}
		s.failed = unavailable("the log of the graph failed; open the graph again", cause)
	}
	s.mu.Unlock()
	if first && s.opts.Failed != nil {
		s.opts.Failed(err)
	}
	return err
}

// mapped turns an error of the shared log or of the bucket into one of package engine.
func (s *Shared) mapped(err error) error {
	var corrupt *sharedlog.CorruptError
	var newer *sharedlog.NewerError
	switch {
	case errors.As(err, &corrupt):
		return &engine.Corrupt{Object: s.opts.Prefix + corrupt.Name, Detail: corrupt.Fault}
	case errors.As(err, &newer):
		return &engine.NewerFormat{Object: s.opts.Prefix + newer.Name, Kind: "shared log", Format: newer.Format, Newest: newer.Newest}
	case errors.Is(err, sharedlog.ErrIndeterminate):
		return &engine.Indeterminate{Err: err}
	case errors.Is(err, sharedlog.ErrLost):
		return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: "another server writes the graph now; send the write there", RetryAfter: retryWait}, err)
	case errors.Is(err, sharedlog.ErrUnavailable), errors.Is(err, sharedlog.ErrBehind):
		return unavailable("using the shared storage", err)
	}
	return err
}
