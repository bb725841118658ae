package embedded

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/planner"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/newid"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Graph is an open graph. It implements [engine.Graph]. It hands each call to the part of the
// graph that owns the state; the package's documentation lists the owners, their locks and the
// lock order.
type Graph struct {
	opts  Options        // options of the graph
	store store.Storage  // the stored data of the graph
	calls locks.InFlight // closed by Close

	ids         newid.Source     // makes ids of commits and entities
	history     ancestry.History // all commits of the graph
	programs    planner.Programs // the cache of bound programs
	files       segmentFiles     // writes, opens and removes segments
	layout      locks.Layout     // the lock on the numbers of rows
	branches    branches         // the state of each branch
	retention   retention        // owns the data about earlier commits
	restorer    restorer         // restores the states of earlier commits
	checkpoints checkpoints      // runs checkpoints, rewrites and cleanups
	vectors     vectorBuilds     // builds approximate indexes
	writer      writer           // writes the records of the log

	partRead atomic.Pointer[version.Difference] // the last difference that was read in part, or nil

	previewed atomic.Pointer[keptPreview] // the last preview whose changes were read in part, or nil
	compared  comparisons                 // results of the last comparisons

	parts rights.Parts // the parts of states that callers with rights see
	valid validParts

	stop       context.CancelFunc // makes the background goroutines end
	background sync.WaitGroup     // the goroutines that `stop` ends
	closing    sync.Once          // makes Close run once
	closeErr   error              // result of the first Close
}

var _ engine.Graph = (*Graph)(nil)

// Schema returns the schema in force at the target.
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	snap, done, err := g.read(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	return &engine.Schema{Source: snap.Schema.Source, Catalog: snap.Schema.Catalog, Digest: snap.Schema.Digest}, nil
}

// Snapshot returns the commit of a target and, for each type, the number of its entities.
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	snap, done, err := g.read(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	return snap.Counts(), nil
}

// Verify reads all stored data. It checks every state that a branch or a merge needs, and every
// anchor of the past: rows, edges and indexes. The error joins a *engine.Corrupt for each fault. If
// several checks find the same fault, the error contains it once.
func (g *Graph) Verify(ctx context.Context) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.Leave()
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
	return errors.Join(distinct(append(faults, anchors))...)
}

// distinct returns the faults that are joined in errs. It omits a fault if an earlier one has the
// same text.
func distinct(errs []error) (faults []error) {
	seen := map[string]bool{}
	var add func(err error)
	add = func(err error) {
		if err == nil {
			return
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range joined.Unwrap() {
				add(err)
			}
			return
		}
		if text := err.Error(); !seen[text] {
			seen[text] = true
			faults = append(faults, err)
		}
	}
	for _, err := range errs {
		add(err)
	}
	return faults
}

// Close waits for the running calls, makes a checkpoint if the log is long or indexes are
// not stored, and unlocks the directory. Open results stay readable. Close reports a checkpoint
// that fails to [Options.Failed] and does not return its error, because the log still holds the
// commits.
//
// Calls that begin while Close waits fail at once. They cannot wait for the running calls,
// because a running call may depend on a new one, such as a load that reads from a query.
func (g *Graph) Close() error {
	g.closing.Do(func() {
		g.calls.Close()
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

// maxPartBytes is the memory in bytes that the parts of states for callers with rights may keep, and also those that are valid at some time.
const maxPartBytes = 256 << 20

// newGraph returns a graph without a store. REQUIRES: opts are complete.
func newGraph(opts Options) *Graph {
	g := &Graph{opts: opts, calls: locks.NewInFlight()}
	g.ids.Start(opts.Now)
	g.parts.Programs, g.parts.Now, g.parts.MaxBytes = &g.programs, g.opts.time, maxPartBytes
	g.parts.Options = func() eval.Options { return eval.Options{Shared: g.opts.SharedMemory} }
	g.retention = retention{history: &g.history, files: &g.files, anchors: map[string]*anchor{}}
	g.branches = branches{history: &g.history, retention: &g.retention, byName: map[string]*branch{}, tips: map[string][]*branch{}}
	g.branches.bases.at = map[string]*mergeBase{}
	g.branches.removed = g.compared.dropBranch
	g.restorer = restorer{history: &g.history, files: &g.files, branches: &g.branches, retention: &g.retention, pending: map[string]*pending{}}
	g.checkpoints = checkpoints{
		opts: &g.opts, files: &g.files, history: &g.history, layout: &g.layout, branches: &g.branches, retention: &g.retention,
		restorer: &g.restorer, requested: make(chan struct{}, 1), vectors: &g.vectors,
	}
	g.vectors = vectorBuilds{opts: &g.opts, branches: &g.branches, checkpoints: &g.checkpoints, requested: make(chan struct{}, 1)}
	g.writer = writer{
		opts: &g.opts, files: &g.files, ids: &g.ids, history: &g.history, layout: &g.layout, branches: &g.branches,
		restorer: &g.restorer, checkpoints: &g.checkpoints,
	}
	return g
}

// attachStore sets the store in the parts of the graph that need it.
func (g *Graph) attachStore(st store.Storage) {
	g.store, g.files.store, g.branches.store, g.checkpoints.store, g.writer.store = st, st, st, st, st
}

// start begins the work in the background. The graph may be shared afterwards.
func (g *Graph) start() {
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	g.background.Go(func() { g.checkpoints.loop(ctx) })
	g.background.Go(func() { g.vectors.loop(ctx) })
	g.vectors.request()
	g.background.Go(func() { watchRoom(ctx, g.store, &g.checkpoints) })
}

// enter begins a call. The caller must end it with g.calls.leave. The error is a
// *engine.Unavailable if the graph is closed.
func (g *Graph) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !g.calls.Enter() {
		return &engine.Unavailable{Reason: "it is closed"}
	}
	return nil
}

// read begins a call that reads a target. The caller must call the result `done` to end it.
func (g *Graph) read(ctx context.Context, at engine.Target, q *plan.Query) (snap *version.Snapshot, done func(), err error) {
	if err := g.enter(ctx); err != nil {
		return nil, nil, err
	}
	snap, err = g.visible(ctx, at, q)
	if err != nil {
		g.calls.Leave()
		return nil, nil, err
	}
	return snap, g.calls.Leave, nil
}

// visible returns the part that the rights of the target allow of the state that [Graph.snapshot] returns. The error is a
// *engine.SchemaMismatch if the read q, which may be nil, reads a property that they hide.
func (g *Graph) visible(ctx context.Context, at engine.Target, q *plan.Query) (*version.Snapshot, error) {
	snap, err := g.snapshot(ctx, at)
	if err == nil && at.Schema != "" && at.Schema != snap.Schema.Digest {
		err = otherSchema(snap.Schema.Digest)
	}
	if err != nil || at.Rights == nil {
		return snap, err
	}
	part, err := g.allowed(ctx, snap, at.Rights)
	if err == nil && q != nil {
		err = part.CheckPlan(q)
	}
	if err != nil {
		return nil, err
	}
	return part.Snapshot, nil
}

// otherSchema returns the error if a plan is meant for another schema than the one with the given digest.
func otherSchema(digest string) error {
	return &engine.SchemaMismatch{Detail: "the branch has another schema than the one for which the query was compiled", Schema: digest}
}

// allowed returns the part of a state that the rights allow.
func (g *Graph) allowed(ctx context.Context, snap *version.Snapshot, r *engine.Rights) (*rights.Part, error) {
	states, err := g.statesOf(ctx, snap)
	if err != nil {
		return nil, err
	}
	return g.parts.Of(ctx, states, r)
}

// statesOf returns a state with those in which its entities must be allowed too.
func (g *Graph) statesOf(ctx context.Context, snap *version.Snapshot) (s rights.States, err error) {
	s.Of = snap
	main, err := g.branches.find(engine.MainBranch)
	if err != nil {
		return s, err
	}
	head := main.head.Load().snap
	if head == snap || head.Commit.ID == snap.Commit.ID || snap.Commit.Branch == engine.MainBranch && g.history.InLine(head.Commit.ID, snap.Commit.ID) {
		return s, nil // the head of main, or its tip
	}
	base, err := g.restorer.mergeBase(ctx, snap, head)
	if err != nil {
		return s, err
	}
	s.Others = append(s.Others, head)
	if base != head && base != snap {
		s.Others = append(s.Others, base)
	}
	return s, nil
}

// snapshot returns the state that a call reads: that of the head of a branch, or of an older
// commit.
func (g *Graph) snapshot(ctx context.Context, at engine.Target) (*version.Snapshot, error) {
	b, err := g.branches.find(at.Branch)
	if err != nil {
		return nil, err
	}
	if !at.AsOf.IsZero() {
		if at.Commit, err = g.commitAsOf(ctx, b, at); err != nil {
			return nil, err
		}
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

// encode returns the stored form of a schema.
func encode(s *schema.Schema) []byte { return catalog.Encode(s.Catalog) }

// counters count the background work since the graph was opened. failures counts the
// checkpoints and rewrites that failed.
type counters struct{ checkpoints, rewrites, failures atomic.Int64 }

// Stats returns figures about the graph. For a closed graph it returns the last ones.
func (g *Graph) Stats() engine.Stats {
	s := engine.Stats{Branches: g.branches.count(), Commits: int64(g.history.Len()), Calls: g.calls.Count()}
	g.checkpoints.count(&s)
	s.MaxBytes, s.MaxBranches, s.QuotaRefusals = g.opts.MaxBytes, max(0, g.opts.MaxBranches), g.writer.refusals.Load()
	for _, size := range g.store.Sizes() {
		s.Segments++
		s.SegmentBytes += size
	}
	return s
}

// count sets the figures of the log and of the checkpoints.
func (c *checkpoints) count(s *engine.Stats) {
	s.LogBytes = max(0, c.logged.Load())
	s.Checkpoints, s.Rewrites, s.CheckpointFailures = c.counts.checkpoints.Load(), c.counts.rewrites.Load(), c.counts.failures.Load()
}

const (
	// While the disk is full, the graph checks for free space after firstRetry. It doubles the
	// time after each check, up to lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second // see above
)

// watchRoom waits for a full disk, checks it until there is free space, and requests the
// checkpoint that may have failed. It returns when ctx ends.
func watchRoom(ctx context.Context, st store.Storage, c *checkpoints) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.FullSignal():
		}
		for wait := firstRetry; st.Full(); wait = min(2*wait, lastRetry) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if st.Retry() == nil {
				c.retry()
			}
		}
	}
}

// Failure returns nil while the graph accepts writes, and the *engine.Unavailable that writes
// get otherwise. Reads continue in both cases.
//
// After a full disk, the graph itself checks whether there is free space again. After any other
// failure it must be closed and opened again: see [Options.LogFailed].
func (g *Graph) Failure() error { return g.store.Failure() }

// MustReopen reports whether the graph refuses writes until it is closed and opened again.
func (g *Graph) MustReopen() bool { return g.store.MustReopen() }
