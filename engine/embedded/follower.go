package embedded

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Follower is a graph in shared storage that another server writes. It reads the log of the writer,
// applies each commit in memory, and answers reads from the result. It refuses writes with a
// *engine.Unavailable. [Follower.TakeOver] makes its server the writer.
//
// A read that states the field AtLeast of [engine.Target] first reads the log to its end if it does
// not know the commit yet.
type Follower struct {
	opts  Options        // options of the graph
	state applier        // builds the graph
	store *store.Shared  // the stored data of the graph
	poll  time.Duration  // see Poll of SharedPlace; never 0
	calls locks.InFlight // closed by Close and TakeOver

	following sync.Mutex         // guards stop
	stop      context.CancelFunc // makes the goroutine end; nil if there is none
	running   sync.WaitGroup     // the goroutine that follows the log

	closing  sync.Once // makes Close run once
	closeErr error     // result of the first Close
}

var _ engine.Graph = (*Follower)(nil)

// Follow opens a graph in shared storage for reading. The error is a *engine.NotFound if no graph has
// the prefix. The Follower reports to [Options.Failed] each attempt to read the log that fails.
func Follow(ctx context.Context, at SharedPlace, opts Options) (*Follower, error) {
	f := &Follower{opts: opts.shared(), poll: at.Poll, calls: locks.NewInFlight()}
	f.state.opts = f.opts
	if f.poll == 0 {
		f.poll = DefaultPoll
	}
	var err error
	if f.store, err = store.OpenShared(ctx, at.options(f.opts, &f.state)); err != nil {
		return nil, err
	}
	if !f.store.Exists() {
		return nil, errors.Join(&engine.NotFound{What: "graph in shared storage", Name: at.Prefix}, f.store.Close())
	}
	f.start()
	return f, nil
}

// start makes a goroutine that follows the log.
func (f *Follower) start() {
	if f.poll < 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.following.Lock()
	f.stop = cancel
	f.following.Unlock()
	f.running.Go(func() { f.follow(ctx) })
}

// end ends the goroutine that follows the log, and waits for it.
func (f *Follower) end() {
	f.following.Lock()
	if f.stop != nil {
		f.stop()
	}
	f.stop = nil
	f.following.Unlock()
	f.running.Wait()
}

// follow reads the log until ctx ends. It waits at the end of the log, and after an error.
func (f *Follower) follow(ctx context.Context) {
	p := pace{most: f.poll, wait: f.poll}
	known := f.store.Durable()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		more, err := f.store.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && f.opts.Failed != nil {
			f.opts.Failed(err)
		}
		last := known
		known = f.store.Durable()
		if !more && known != last {
			p.grew = true // CatchUp has read the records
		}
		timer.Reset(p.next(more, err))
	}
}

// The limits of the waits of a Follower, except the longest wait at the end of the log.
const (
	minPoll  = 50 * time.Millisecond // the first wait at the end of a log that has just grown
	maxRetry = 5 * time.Second       // the longest wait after an error
)

// pace decides how long a Follower waits before it reads on: shortly while the log grows, longer while it
// does not, and longest while it cannot be read.
type pace struct {
	most time.Duration // the longest wait at the end of the log
	wait time.Duration // the last wait that was not 0
	grew bool          // the log has grown since the last wait
}

// next returns the wait after an attempt that found a log object (`more`), or the end of the log, or failed.
func (p *pace) next(more bool, err error) time.Duration {
	grew := p.grew
	p.grew = more && err == nil
	switch {
	case err != nil:
		p.wait = min(2*max(p.wait, p.most), max(maxRetry, p.most))
	case more:
		return 0
	case grew:
		p.wait = min(minPoll, p.most)
	default:
		p.wait = min(2*p.wait, p.most)
	}
	return p.wait
}

// CatchUp reads everything that the log contained when CatchUp was called, so that later reads see
// every commit that was acknowledged before.
func (f *Follower) CatchUp(ctx context.Context) error { return f.store.CatchUp(ctx) }

// CatchUpSchema reads the log until the schema of main has a digest, or the log ends. While a writer adds to the
// log, this takes less time than CatchUp, and reads see each part as soon as it is read.
func (f *Follower) CatchUpSchema(ctx context.Context, digest string) error {
	for {
		if now, err := f.Schema(ctx, engine.Target{}); err != nil || now.Digest == digest {
			return err
		}
		more, err := f.store.Next(ctx)
		if err != nil {
			return err
		}
		if !more {
			return f.CatchUp(ctx) // the end may be one that the storage knew earlier
		}
	}
}

// Current returns the time at which the Follower sent its last request that showed that it had read
// the whole log. Reads see every commit that was acknowledged before that time.
func (f *Follower) Current() time.Time { return f.store.Current() }

// Takeover describes the server that writes a graph in shared storage.
type Takeover = sharedlog.Takeover

// Takeover returns the server that writes the graph, according to the part of the log that the
// Follower has read.
func (f *Follower) Takeover(ctx context.Context) (Takeover, error) {
	if !f.calls.Enter() {
		return Takeover{}, errClosed
	}
	defer f.calls.Leave()
	return f.store.Takeover(ctx)
}

// errClosed is the error of calls on a Follower that was closed.
var errClosed = &engine.Unavailable{Reason: "it is closed"}

// TakeOver makes this server the writer of the graph, and returns the graph to write. The former
// writer cannot write any more. If TakeOver succeeds, it closes the Follower, but calls on the
// Follower that are still running continue. If TakeOver fails, the Follower continues to follow the
// log.
func (f *Follower) TakeOver(ctx context.Context) (*Graph, error) {
	return f.takeOver(func() error { return f.store.TakeOver(ctx) })
}

// TakeOverFrom is like TakeOver, but fails with a *engine.Conflict if the epoch of the log differs
// from `epoch`: another server has then already taken over.
func (f *Follower) TakeOverFrom(ctx context.Context, epoch uint64) (*Graph, error) {
	return f.takeOver(func() error { return f.store.TakeOverFrom(ctx, epoch) })
}

// takeOver does the work of TakeOver. The function `take` makes this server the writer.
func (f *Follower) takeOver(take func() error) (*Graph, error) {
	if !f.calls.Enter() {
		return nil, errClosed
	}
	f.end()
	err := take()
	f.calls.Leave()
	if err != nil {
		f.start()
		return nil, err
	}
	var g *Graph
	f.closing.Do(func() {
		f.calls.Shut() // the calls in progress may continue, because they use the same graph
		g = f.state.current.Load()
	})
	if g == nil {
		return nil, errClosed
	}
	if err := g.ids.Resume(g.branches.latestID()); err != nil {
		return nil, errors.Join(err, f.store.Close())
	}
	g.start()
	return g, nil
}

// Close waits for the running calls and releases the storage. Open results stay readable.
func (f *Follower) Close() error {
	f.closing.Do(func() {
		f.end()
		f.calls.Close()
		f.state.current.Load().restorer.running.Wait()
		f.closeErr = f.store.Close()
	})
	return f.closeErr
}

// reading runs a read on the graph that the Follower has built. If the graph lacks the commit that
// the target requires, reading first reads the log to its end. It does the same first if the target has an
// instant. A commit that is still in flight on the writer is not awaited.
func reading[T any](ctx context.Context, f *Follower, at engine.Target, read func(g *Graph) (T, error)) (T, error) {
	if !f.calls.Enter() {
		var none T
		return none, errClosed
	}
	defer f.calls.Leave()
	if !at.AsOf.IsZero() { // the log may have earlier commits that the graph lacks
		if err := f.CatchUp(ctx); err != nil {
			var none T
			return none, err
		}
	}
	v, err := read(f.state.current.Load())
	var missing *engine.NotFound
	if at.AtLeast == "" || !errors.As(err, &missing) || missing.Name != at.AtLeast {
		return v, err
	}
	if err := f.CatchUp(ctx); err != nil {
		return v, err
	}
	return read(f.state.current.Load())
}

// Schema implements [engine.Graph].
func (f *Follower) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	return reading(ctx, f, at, func(g *Graph) (*engine.Schema, error) { return g.Schema(ctx, at) })
}

// Snapshot implements [engine.Graph].
func (f *Follower) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	return reading(ctx, f, at, func(g *Graph) (*engine.Snapshot, error) { return g.Snapshot(ctx, at) })
}

// Branches implements [engine.Graph].
func (f *Follower) Branches(ctx context.Context) ([]engine.Branch, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) ([]engine.Branch, error) { return g.Branches(ctx) })
}

// Commits implements [engine.Graph].
func (f *Follower) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) ([]engine.Commit, error) { return g.Commits(ctx, branch, r) })
}

// Commit implements [engine.Graph].
func (f *Follower) Commit(ctx context.Context, id string) (engine.Commit, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) (engine.Commit, error) { return g.Commit(ctx, id) })
}

// Changes implements [engine.Graph].
func (f *Follower) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) (*engine.Changes, error) { return g.Changes(ctx, commit, r) })
}

// Compare implements [engine.Graph].
func (f *Follower) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	return reading(ctx, f, source, func(g *Graph) (*engine.Comparison, error) { return g.Compare(ctx, source, target, opts) })
}

// Preview implements [engine.Graph].
func (f *Follower) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	return reading(ctx, f, source, func(g *Graph) (engine.Preview, error) { return g.Preview(ctx, source, target, resolutions) })
}

// Proposals implements [engine.Graph].
func (f *Follower) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) ([]engine.Proposal, error) { return g.Proposals(ctx, r) })
}

// Proposal implements [engine.Graph].
func (f *Follower) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) (*engine.Proposal, error) { return g.Proposal(ctx, id) })
}

// Drafts implements [engine.Graph].
func (f *Follower) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) ([]engine.Draft, error) { return g.Drafts(ctx, r) })
}

// Watches implements [engine.Graph].
func (f *Follower) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) ([]engine.Watch, error) { return g.Watches(ctx, r) })
}

// Draft implements [engine.Graph].
func (f *Follower) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	return reading(ctx, f, engine.Target{}, func(g *Graph) (*engine.Draft, error) { return g.Draft(ctx, id) })
}

// Bind implements [engine.Graph].
func (f *Follower) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	_, err := reading(ctx, f, at, func(g *Graph) (struct{}, error) { return struct{}{}, g.Bind(ctx, q, at) })
	return err
}

// Query implements [engine.Graph].
func (f *Follower) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	return reading(ctx, f, withInstant(at, q, args), func(g *Graph) (engine.Result, error) { return g.Query(ctx, q, args, at) })
}

// Explain implements [engine.Graph].
func (f *Follower) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	return reading(ctx, f, withInstant(at, q, args), func(g *Graph) (*engine.Explanation, error) { return g.Explain(ctx, q, args, at, analyze) })
}

// Export implements [engine.Graph].
func (f *Follower) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	return reading(ctx, f, at, func(g *Graph) (engine.Commit, error) { return g.Export(ctx, w, at, opts) })
}

// Verify implements [engine.Graph].
func (f *Follower) Verify(ctx context.Context) error {
	_, err := reading(ctx, f, engine.Target{}, func(g *Graph) (struct{}, error) { return struct{}{}, g.Verify(ctx) })
	return err
}

// Stats implements [engine.Graph].
func (f *Follower) Stats() engine.Stats { return f.state.current.Load().Stats() }

// Failure implements [engine.Graph]. It is never nil, because a Follower accepts no writes.
func (f *Follower) Failure() error { return store.ErrReader }

// MustReopen implements [engine.Graph].
func (f *Follower) MustReopen() bool { return false }

// CreateBranch refuses the write.
func (f *Follower) CreateBranch(context.Context, string, engine.Target) (engine.Branch, error) {
	return engine.Branch{}, store.ErrReader
}

// DeleteBranch refuses the write.
func (f *Follower) DeleteBranch(context.Context, string) error { return store.ErrReader }

// DeleteBranchAt refuses the write.
func (f *Follower) DeleteBranchAt(context.Context, string, string) error { return store.ErrReader }

// Cleanup refuses the write.
func (f *Follower) Cleanup(context.Context, engine.CleanupOptions) (*engine.CleanupResult, error) {
	return nil, store.ErrReader
}

// Merge refuses the write.
func (f *Follower) Merge(context.Context, string, string, engine.MergeOptions) (*engine.MergeResult, error) {
	return nil, store.ErrReader
}

// ProposalEvents implements [engine.Graph]. If the Follower does not have the event r.After yet, it first
// reads the log to its end.
func (f *Follower) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	return reading(ctx, f, engine.Target{AtLeast: r.After}, func(g *Graph) (*engine.EventPage, error) { return g.ProposalEvents(ctx, r) })
}

// PutProposal refuses the write.
func (f *Follower) PutProposal(context.Context, engine.Proposal) (*engine.Proposal, error) {
	return nil, store.ErrReader
}

// OpenDraft refuses the write.
func (f *Follower) OpenDraft(context.Context, engine.NewDraft) (*engine.Draft, bool, error) {
	return nil, false, store.ErrReader
}

// EndDraft refuses the write.
func (f *Follower) EndDraft(context.Context, string, engine.DraftEnd) error { return store.ErrReader }

// CreateWatch refuses the write.
func (f *Follower) CreateWatch(context.Context, engine.Watch, int) (*engine.Watch, error) {
	return nil, store.ErrReader
}

// ChangeWatch refuses the write.
func (f *Follower) ChangeWatch(context.Context, string, func([]byte) ([]byte, error)) error {
	return store.ErrReader
}

// DeleteWatch refuses the write.
func (f *Follower) DeleteWatch(context.Context, string) error { return store.ErrReader }

// ApplySchema refuses the write, unless it is a dry run.
func (f *Follower) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	if !opts.DryRun {
		return nil, store.ErrReader
	}
	return reading(ctx, f, engine.Target{}, func(g *Graph) (*engine.SchemaChange, error) { return g.ApplySchema(ctx, source, schema, opts) })
}

// Mutate refuses the write.
func (f *Follower) Mutate(context.Context, *plan.Query, engine.Args, engine.WriteOptions) (engine.Change, error) {
	return engine.Change{}, store.ErrReader
}

// Load refuses the write.
func (f *Follower) Load(context.Context, io.Reader, engine.LoadOptions) (*engine.LoadResult, error) {
	return nil, store.ErrReader
}
