package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Options say how a graph is made and opened. The zero Options are the defaults.
type Options struct {
	// Now is the clock for dates and expiries; nil for clock.Now.
	Now func() time.Time
	// QueryMemory bounds the memory in which one query collects rows, in bytes; past
	// it the query fails with a *engine.TooLarge. 0 for DefaultQueryMemory, negative
	// for no bound.
	QueryMemory int64
	// SharedMemory bounds what the queries of all graphs that have it collect rows in,
	// together; past it a query fails with a *engine.Busy. Nil for no bound.
	SharedMemory *Memory
	// CheckpointBytes is how much log is written between two checkpoints; 0 for
	// DefaultCheckpointBytes.
	CheckpointBytes int64
	// InlineBytes is the most that the rows of a commit may take in its log record;
	// larger ones go to a segment. 0 for DefaultInlineBytes, negative for none.
	InlineBytes int
	// LogSize is the size of log files in bytes; 0 for the store's default.
	LogSize int64
	// MaxBranches bounds the live branches: to make one more is a *engine.TooLarge. A graph
	// that has more still opens. 0 for DefaultMaxBranches, negative for no bound.
	MaxBranches int
	// Failed, if set, is told of a checkpoint in the background that failed. Nothing
	// is lost: the log keeps what the checkpoint would have, and the next one tries
	// again.
	Failed func(error)

	// LogFailed, if set, is called once when a write or sync of the log fails, or the
	// folder was moved or replaced: the graph answers reads, and refuses writes until it is
	// closed and opened again. It is called by the goroutine of a writer, which waits for
	// it, and must not call the graph.
	LogFailed func(error)

	// Embedder computes vectors from texts: of a text that nearest is given, and of a
	// required vector with @embed that an insert leaves out. Nil for none: such
	// statements are refused.
	Embedder Embedder

	// quiet makes no checkpoints in the background.
	quiet bool
	// sparse is the number of holes in a table that are not worth a rewrite; 0 for
	// version.DefaultSparse.
	sparse uint32
	// indexed is the least number of ordinals of a table over which indexes are stored:
	// those over fewer are built when the graph is opened. 0 for defaultIndexed.
	indexed uint32
}

// Embedder turns texts into vectors.
type Embedder = exec.Embedder

// Memory bounds what queries take together.
type Memory = exec.Memory

// NewMemory returns a bound of so many bytes.
func NewMemory(limit int64) *Memory { return exec.NewMemory(limit) }

const (
	// DefaultQueryMemory is 1 GiB.
	DefaultQueryMemory = 1 << 30
	// DefaultMaxBranches is how many take about 100 MB of memory with a small commit each.
	DefaultMaxBranches = 10_000
	// DefaultInlineBytes is 64 KiB, which are written about as fast as a page.
	DefaultInlineBytes = 64 << 10
	// DefaultCheckpointBytes is 8 MiB, which are replayed in well under a second.
	DefaultCheckpointBytes = 8 << 20

	// defaultIndexed ordinals are indexed in less time than a file takes to make.
	defaultIndexed = 2048
)

// Graph is an open graph. It implements [engine.Graph].
type Graph struct {
	opts     Options
	store    *store.Store
	main     *branch
	lines    lines
	history  version.History
	past     past
	programs programs

	// shape is held for writing by checkpoints, for reading by what carries the state
	// of one branch to another: a checkpoint lays out each branch's rows anew.
	shape   sync.RWMutex
	merging sync.Mutex // held by merges and deletes of branches, within shape

	calls    turnstile // shut by Close
	closing  sync.Once
	closeErr error

	ids struct {
		sync.Mutex
		entropy *ulid.MonotonicEntropy
		last    uint64 // the last one's time: ids ascend even if the clock does not
	}

	counts    counters
	logged    atomic.Int64 // bytes since the last checkpoint
	kick      chan struct{}
	stop      context.CancelFunc
	stopped   chan struct{}
	unwatched chan struct{} // closed when watchRoom has ended
	checkMu   sync.Mutex
	checkedTo uint64                   // LSN of the last checkpoint
	stored    []version.HistorySegment // by the last checkpoint; guarded by checkMu
}

var _ engine.Graph = (*Graph)(nil)

// Create makes a graph with a schema in a directory that holds none, and opens it. The
// source is kept beside the schema and never parsed. The error is a *engine.Conflict
// when there is a graph, a *engine.Unavailable when the directory cannot be used.
func Create(ctx context.Context, fsys fs.FS, dir, source string, schema *catalog.Schema, opts Options) (*Graph, error) {
	s, err := version.NewSchema(source, catalog.Digest(schema), schema)
	if err != nil {
		return nil, &engine.SchemaMismatch{Detail: err.Error()}
	}
	g := newGraph(opts)
	first := version.NewSnapshot(s, engine.Commit{ID: g.newID(), Seq: 1, Branch: engine.MainBranch, Time: g.time(), Schema: s.Digest})
	initial := version.Manifest{Branches: []version.ManifestBranch{{Name: engine.MainBranch, Head: first}}}
	manifest := initial.Append(nil, encode)
	g.store, err = store.Create(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Manifest: manifest, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.history.Add(first.Commit, 0)
	g.past.archived = 1
	b := recovered(engine.MainBranch, first, 0)
	g.lines.add(b)
	g.anchor(b, b.tip)
	g.start()
	return g, nil
}

// Open opens the graph in a directory. The error is a *engine.NotFound when there is
// none, a *engine.Unavailable when another has it open, a *engine.Corrupt when what
// is stored is not what was written.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Graph, error) {
	g := newGraph(opts)
	st, found, err := store.Open(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.store = st
	if err := g.recovery(ctx, found); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	g.checkedTo = found.ManifestLSN
	g.start()
	return g, nil
}

// Schema returns the schema in force at the target.
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	snap, done, err := g.read(ctx, at)
	if err != nil {
		return nil, err
	}
	defer done()
	return &engine.Schema{Source: snap.Schema.Source, Catalog: snap.Schema.Catalog, Digest: snap.Schema.Digest}, nil
}

// Snapshot says which commit a target is and how many entities it has.
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	snap, done, err := g.read(ctx, at)
	if err != nil {
		return nil, err
	}
	defer done()
	return snap.Counts(), nil
}

// Verify reads everything that is stored, and checks every state that a branch or a merge
// needs, and every anchor of the past: rows, edges and indexes. The error joins a *engine.Corrupt for each fault.
func (g *Graph) Verify(ctx context.Context) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.leave()
	faults := []error{g.store.Verify(ctx)}
	var v version.Verifier
	for _, s := range g.states() {
		faults = append(faults, v.Verify(ctx, s))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, a := range g.storedAnchors() {
		faults = append(faults, g.verifyAnchor(ctx, &v, a))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// states lists the states at the heads of branches, and the merge bases in memory.
func (g *Graph) states() []*version.Snapshot {
	g.lines.Lock()
	defer g.lines.Unlock()
	var all []*version.Snapshot
	for _, b := range g.lines.sorted {
		all = append(all, b.head.Load().snap)
	}
	return append(all, g.lines.bases.states()...)
}

// Close waits for the calls under way, makes a checkpoint if there is much to replay,
// and unlocks the directory. Results that are open stay readable. A checkpoint that fails
// is reported to [Options.Failed] and is no error of Close: the log holds the commits.
//
// Calls that begin while Close waits fail at once: one that is under way may depend on
// another, as a load does that reads from a query.
func (g *Graph) Close() error {
	g.closing.Do(func() {
		g.calls.close()
		g.stop()
		<-g.stopped
		<-g.unwatched
		g.past.building.Wait()
		if g.Failure() == nil && (g.logged.Load() > closeBytes || g.textsToStore()) {
			if err := g.closeFlush(); err != nil {
				g.counts.failures.Add(1)
				if g.opts.Failed != nil {
					g.opts.Failed(err)
				}
			}
		}
		g.closeErr = g.store.Close()
	})
	return g.closeErr
}

// recovery is recover, and catches what is thrown.
func (g *Graph) recovery(ctx context.Context, found *store.Recovered) (err error) {
	defer damage.Catch(damage.Watch(), &err)
	return g.recover(ctx, found)
}

func newGraph(opts Options) *Graph {
	if opts.Now == nil {
		opts.Now = clock.Now
	}
	if opts.QueryMemory == 0 {
		opts.QueryMemory = DefaultQueryMemory
	}
	switch {
	case opts.InlineBytes == 0:
		opts.InlineBytes = DefaultInlineBytes
	case opts.InlineBytes < 0:
		opts.InlineBytes = 0
	default:
		// What no record holds goes to a segment; the rest of the record is small.
		opts.InlineBytes = min(opts.InlineBytes, store.MaxPayload/2)
	}
	if opts.MaxBranches == 0 {
		opts.MaxBranches = DefaultMaxBranches
	}
	if opts.CheckpointBytes <= 0 {
		opts.CheckpointBytes = DefaultCheckpointBytes
	}
	if opts.indexed == 0 {
		opts.indexed = defaultIndexed
	}
	if opts.sparse == 0 {
		opts.sparse = version.DefaultSparse
	}
	g := &Graph{opts: opts, calls: newTurnstile(), kick: make(chan struct{}, 1), stopped: make(chan struct{}), unwatched: make(chan struct{})}
	g.lines.branches, g.lines.tips = map[string]*branch{}, map[string][]*branch{}
	g.lines.bases.at = map[string]*mergeBase{}
	g.past.anchors, g.past.flights = map[string]*anchor{}, map[string]*flight{}
	g.ids.entropy = ulid.Monotonic(rand.Reader, 0)
	return g
}

func (g *Graph) start() {
	g.main = g.lines.branches[engine.MainBranch]
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	go g.checkpoints(ctx)
	go func() {
		defer close(g.unwatched)
		g.watchRoom(ctx)
	}()
}

// enter begins a call; g.calls.leave ends it.
func (g *Graph) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.calls.enter() {
		return &engine.Unavailable{Reason: "it is closed"}
	}
	return nil
}

// read begins a call that reads a target.
func (g *Graph) read(ctx context.Context, at engine.Target) (snap *version.Snapshot, done func(), err error) {
	if err := g.enter(ctx); err != nil {
		return nil, nil, err
	}
	snap, err = g.snapshot(ctx, at)
	if err != nil {
		g.calls.leave()
		return nil, nil, err
	}
	return snap, g.calls.leave, nil
}

func (g *Graph) snapshot(ctx context.Context, at engine.Target) (*version.Snapshot, error) {
	b, err := g.branch(at.Branch)
	if err != nil {
		return nil, err
	}
	snap := b.head.Load().snap
	if at.Commit != "" && at.Commit != snap.Commit.ID {
		return g.state(ctx, at.Commit)
	}
	if at.AtLeast != "" && at.AtLeast != snap.Commit.ID && !g.history.InLine(at.AtLeast, snap.Commit.ID) {
		return nil, &engine.NotFound{What: "commit", Name: at.AtLeast}
	}
	return snap, nil
}

func (g *Graph) branch(name string) (*branch, error) {
	if name == "" || name == engine.MainBranch {
		return g.main, nil
	}
	g.lines.Lock()
	defer g.lines.Unlock()
	if b := g.lines.branches[name]; b != nil && b.live.Load() {
		return b, nil
	}
	return nil, &engine.NotFound{What: "branch", Name: name}
}

func (g *Graph) newID() string {
	g.ids.Lock()
	defer g.ids.Unlock()
	g.ids.last = max(g.ids.last, ulid.Timestamp(g.opts.Now()))
	id, err := ulid.New(g.ids.last, g.ids.entropy)
	if err != nil { // this millisecond's are used up
		g.ids.last++
		id = ulid.MustNew(g.ids.last, g.ids.entropy)
	}
	return id.String()
}

// manyIDs is how many ids are worth a millisecond of their own.
const manyIDs = 1 << 10

// newIDs begins a run of n ids; what it returns appends the next one. Those of a long run
// are consecutive numbers from a random one on, which no other id of this graph falls
// between: they ascend, and differ in the last characters only.
func (g *Graph) newIDs(n int) func(dst []byte) []byte {
	if n < manyIDs {
		return func(dst []byte) []byte { return append(dst, g.newID()...) }
	}
	g.ids.Lock()
	g.ids.last = max(g.ids.last+1, ulid.Timestamp(g.opts.Now()))
	id := ulid.MustNew(g.ids.last, rand.Reader)
	g.ids.last++
	g.ids.Unlock()
	id[6] &= 0x7f // so that counting up does not overflow
	return func(dst []byte) []byte {
		at := len(dst)
		dst = append(dst, make([]byte, ulid.EncodedSize)...)
		_ = id.MarshalTextTo(dst[at:]) // the size is right
		for i := len(id) - 1; ; i-- {
			if id[i]++; id[i] != 0 {
				return dst
			}
		}
	}
}

func (g *Graph) time() time.Time { return g.opts.Now().UTC().Truncate(time.Microsecond) }

func (g *Graph) now() value.Value { return value.OfDateTime(value.DateTimeOf(g.opts.Now())) }

func encode(s *version.Schema) []byte { return catalog.Encode(s.Catalog) }

func segmentName(id store.SegmentID) string { return strconv.FormatUint(uint64(id), 10) }

// segmentID returns the file of a segment.
func segmentID(name string) (store.SegmentID, error) {
	id, err := strconv.ParseUint(fileOf(name), 10, 64)
	if err != nil {
		return 0, &engine.Corrupt{Object: "log record or manifest", Detail: fmt.Sprintf("%q is no segment", name)}
	}
	return store.SegmentID(id), nil
}
