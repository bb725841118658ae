package embedded

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
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
	// InlineBytes is the most bytes that the rows of a commit may take in its log record.
	// Larger rows go to a segment. 0 means DefaultInlineBytes; with a negative value all rows
	// go to segments.
	InlineBytes int
	// LogSize is the size of log files in bytes. 0 means the store's default.
	LogSize int64
	// MaxBranches bounds the live branches. Creating one more fails with a *engine.TooLarge. A
	// graph that has more can still be opened. 0 means DefaultMaxBranches, a negative value no
	// bound.
	MaxBranches int
	// Failed, if set, is called with the error of a checkpoint that failed, in the background
	// or in Close. No data is lost: the log still has everything that the checkpoint would have
	// stored, and the next checkpoint tries again.
	Failed func(error)

	// LogFailed, if set, is called once when a write or a sync of the log fails, or when the
	// folder was moved or replaced. From then on the graph serves reads and refuses writes
	// until it is closed and opened again. A writer calls LogFailed and waits for it, so
	// LogFailed must not call the graph.
	LogFailed func(error)

	// Embedder computes vectors from texts: from the text argument of nearest, and for a
	// required property with @embed that an insert leaves out. Nil means none, and such
	// statements are refused.
	Embedder Embedder

	// quiet disables checkpoints in the background.
	quiet bool
	// sparse is the number of holes in a table up to which a rewrite does not pay. 0 means
	// version.DefaultSparse.
	sparse uint32
	// indexed is the least number of ordinals in a table for which its indexes are stored.
	// Indexes over smaller tables are built when the graph is opened. 0 means defaultIndexed.
	indexed uint32
}

// Embedder turns texts into vectors.
type Embedder = exec.Embedder

// Memory is a bound on the memory of several queries together.
type Memory = exec.Memory

// NewMemory returns a bound of limit bytes.
func NewMemory(limit int64) *Memory { return exec.NewMemory(limit) }

const (
	// DefaultQueryMemory is 1 GiB.
	DefaultQueryMemory = 1 << 30
	// DefaultMaxBranches is the number of branches that take about 100 MB of memory if each has
	// one small commit.
	DefaultMaxBranches = 10_000
	// DefaultInlineBytes is 64 KiB, which take about as long to write as one page.
	DefaultInlineBytes = 64 << 10
	// DefaultCheckpointBytes is 8 MiB, which Open replays in well under a second.
	DefaultCheckpointBytes = 8 << 20

	// defaultIndexed is the number of ordinals that take less time to index than a file takes
	// to write.
	defaultIndexed = 2048
)

// Graph is an open graph. It implements [engine.Graph]. It hands each call to the part of the
// graph that owns the state; the package's documentation lists the owners, their locks and the
// lock order.
type Graph struct {
	opts  Options
	store *store.Store
	calls inflight // closed by Close

	ids         ids
	history     version.History
	programs    programs
	files       segmentFiles
	layout      layout
	branches    branches
	retention   retention
	restorer    restorer
	checkpoints checkpoints
	writer      writer

	stop       context.CancelFunc
	background sync.WaitGroup // the goroutines that end after stop
	closing    sync.Once
	closeErr   error
}

var _ engine.Graph = (*Graph)(nil)

// Create makes a graph with a schema in a directory that holds none, and opens it. It keeps the
// source together with the schema and never parses it. The error is a *engine.Conflict if the
// directory holds a graph, a *engine.SchemaMismatch if the engine cannot represent the schema,
// and a *engine.Unavailable if the directory cannot be used.
func Create(ctx context.Context, fsys fs.FS, dir, source string, schema *catalog.Schema, opts Options) (*Graph, error) {
	s, err := version.NewSchema(source, catalog.Digest(schema), schema)
	if err != nil {
		return nil, &engine.SchemaMismatch{Detail: err.Error()}
	}
	g := newGraph(opts)
	first := version.NewSnapshot(s, engine.Commit{ID: g.ids.next(), Seq: 1, Branch: engine.MainBranch, Time: g.opts.time(), Schema: s.Digest})
	initial := version.Manifest{Branches: []version.ManifestBranch{{Name: engine.MainBranch, Head: first}}}
	manifest := initial.Append(nil, encode)
	st, err := store.Create(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Manifest: manifest, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.use(st)
	g.history.Add(first.Commit, 0)
	b := recovered(engine.MainBranch, first, 0)
	g.branches.addLocked(b)
	g.retention.begin(b)
	g.start()
	return g, nil
}

// Open opens the graph in a directory. The error is a *engine.NotFound if the directory holds
// no graph, a *engine.Unavailable if another process has it open, and a *engine.Corrupt if the
// stored data is not as it was written.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Graph, error) {
	g := newGraph(opts)
	st, found, err := store.Open(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.use(st)
	if err := g.recovery(ctx, found); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	g.checkpoints.lsn = found.ManifestLSN
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

// Snapshot returns the commit of a target and the numbers of its entities.
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	snap, done, err := g.read(ctx, at)
	if err != nil {
		return nil, err
	}
	defer done()
	return snap.Counts(), nil
}

// Verify reads all stored data. It checks every state that a branch or a merge needs, and every
// anchor of the past: rows, edges and indexes. The error joins a *engine.Corrupt for each
// fault.
func (g *Graph) Verify(ctx context.Context) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.leave()
	faults := []error{g.store.Verify(ctx)}
	var v version.Verifier
	for _, s := range g.branches.states() {
		faults = append(faults, v.Verify(ctx, s))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	anchors := g.restorer.verify(ctx, &v)
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(append(faults, anchors)...)
}

// Close waits for the running calls, makes a checkpoint if the log is long or text indexes are
// not stored, and unlocks the directory. Open results stay readable. Close reports a checkpoint
// that fails to [Options.Failed] and does not return its error, because the log still holds the
// commits.
//
// Calls that begin while Close waits fail at once. They cannot wait for the running calls,
// because a running call may depend on a new one, such as a load that reads from a query.
func (g *Graph) Close() error {
	g.closing.Do(func() {
		g.calls.close()
		g.stop()
		g.background.Wait()
		g.restorer.running.Wait()
		if g.Failure() == nil {
			g.checkpoints.close()
		}
		g.closeErr = g.store.Close()
	})
	return g.closeErr
}

// recovery calls recover and turns a thrown corruption into an error.
func (g *Graph) recovery(ctx context.Context, found *store.Recovered) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
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
		// Rows too large for a record go to a segment; the rest of a record is small.
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
	g := &Graph{opts: opts, calls: newInflight()}
	g.ids.init(opts.Now)
	g.retention = retention{history: &g.history, files: &g.files, anchors: map[string]*anchor{}}
	g.branches = branches{history: &g.history, retention: &g.retention, byName: map[string]*branch{}, tips: map[string][]*branch{}}
	g.branches.bases.at = map[string]*mergeBase{}
	g.restorer = restorer{history: &g.history, files: &g.files, branches: &g.branches, retention: &g.retention, pending: map[string]*pending{}}
	g.checkpoints = checkpoints{
		opts: &g.opts, files: &g.files, history: &g.history, layout: &g.layout, branches: &g.branches, retention: &g.retention,
		restorer: &g.restorer, requested: make(chan struct{}, 1),
	}
	g.writer = writer{
		opts: &g.opts, files: &g.files, ids: &g.ids, history: &g.history, layout: &g.layout, branches: &g.branches,
		restorer: &g.restorer, checkpoints: &g.checkpoints,
	}
	return g
}

// use gives the store to the parts of the graph that need it.
func (g *Graph) use(st *store.Store) {
	g.store, g.files.store, g.branches.store, g.checkpoints.store, g.writer.store = st, st, st, st, st
}

// start begins the work in the background. The graph may be shared afterwards.
func (g *Graph) start() {
	g.branches.main = g.branches.byName[engine.MainBranch]
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	g.background.Go(func() { g.checkpoints.loop(ctx) })
	g.background.Go(func() { watchRoom(ctx, g.store, &g.checkpoints) })
}

// enter begins a call. The caller must end it with g.calls.leave. The error is a
// *engine.Unavailable if the graph is closed.
func (g *Graph) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.calls.enter() {
		return &engine.Unavailable{Reason: "it is closed"}
	}
	return nil
}

// read begins a call that reads a target. The caller must call done to end it.
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
	b, err := g.branches.find(at.Branch)
	if err != nil {
		return nil, err
	}
	snap := b.head.Load().snap
	if at.Commit != "" && at.Commit != snap.Commit.ID {
		return g.restorer.state(ctx, at.Commit)
	}
	if at.AtLeast != "" && at.AtLeast != snap.Commit.ID && !g.history.InLine(at.AtLeast, snap.Commit.ID) {
		return nil, &engine.NotFound{What: "commit", Name: at.AtLeast}
	}
	return snap, nil
}

// time returns the time of a commit made now.
func (o *Options) time() time.Time { return o.Now().UTC().Truncate(time.Microsecond) }

// now returns the value of now() in a query.
func (o *Options) now() value.Value { return value.OfDateTime(value.DateTimeOf(o.Now())) }

func encode(s *version.Schema) []byte { return catalog.Encode(s.Catalog) }
