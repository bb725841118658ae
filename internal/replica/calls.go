package replica

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// reading runs a read, unless the copy is too old.
func reading[T any](ctx context.Context, g *Graph, call func(engine.Graph) (T, error)) (T, error) {
	if err := g.tooOld(); err != nil {
		var none T
		return none, err
	}
	return calling(ctx, g, call)
}

// writing runs a write. In a command, it first makes this process the writer. In a server, it does so
// if the writer has given the graph up.
func writing[T any](ctx context.Context, g *Graph, call func(engine.Graph) (T, error)) (T, error) {
	g.busy.Add(1)
	defer g.busy.Add(-1)
	if err := g.beforeWrite(ctx); err != nil {
		var none T
		return none, err
	}
	return calling(ctx, g, call)
}

// beforeWrite makes this process the writer if a write should do so. It returns an error if the writer accepts no
// writes, because the storage is slow.
func (g *Graph) beforeWrite(ctx context.Context) error {
	if g.storage.Command {
		return g.takeOver(ctx, 0)
	}
	if err := g.Claim(ctx); err != nil {
		return err
	}
	return g.admit()
}

// once runs a call that must not run twice, because it consumes or writes a stream.
func once[T any](ctx context.Context, g *Graph, call func(engine.Graph) (T, error)) (T, error) {
	var none T
	if err := g.hold(ctx); err != nil {
		return none, err
	}
	defer g.release()
	g.busy.Add(1)
	defer g.busy.Add(-1)
	now := g.current.Load()
	if eg := now.graph(); eg != nil {
		return call(eg)
	}
	return none, now.err
}

// Schema implements [engine.Graph].
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Schema, error) { return eg.Schema(ctx, at) })
}

// Snapshot implements [engine.Graph].
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Snapshot, error) { return eg.Snapshot(ctx, at) })
}

// Branches implements [engine.Graph].
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	return reading(ctx, g, func(eg engine.Graph) ([]engine.Branch, error) { return eg.Branches(ctx) })
}

// Commits implements [engine.Graph].
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	return reading(ctx, g, func(eg engine.Graph) ([]engine.Commit, error) { return eg.Commits(ctx, branch, r) })
}

// Commit implements [engine.Graph].
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	return reading(ctx, g, func(eg engine.Graph) (engine.Commit, error) { return eg.Commit(ctx, id) })
}

// Changes implements [engine.Graph].
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Changes, error) { return eg.Changes(ctx, commit, r) })
}

// Compare implements [engine.Graph].
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Comparison, error) { return eg.Compare(ctx, source, target, opts) })
}

// Preview implements [engine.Graph].
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	return reading(ctx, g, func(eg engine.Graph) (engine.Preview, error) {
		p, err := eg.Preview(ctx, source, target, resolutions)
		if err != nil {
			return nil, err
		}
		return &heldPreview{p, g}, nil
	})
}

// Proposals implements [engine.Graph].
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	return reading(ctx, g, func(eg engine.Graph) ([]engine.Proposal, error) { return eg.Proposals(ctx, r) })
}

// Proposal implements [engine.Graph].
func (g *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Proposal, error) { return eg.Proposal(ctx, id) })
}

// ProposalEvents implements [engine.Graph].
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.EventPage, error) { return eg.ProposalEvents(ctx, r) })
}

// PutProposal implements [engine.Graph].
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	return writing(ctx, g, func(eg engine.Graph) (*engine.Proposal, error) { return eg.PutProposal(ctx, p) })
}

// Drafts implements [engine.Graph].
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return reading(ctx, g, func(eg engine.Graph) ([]engine.Draft, error) { return eg.Drafts(ctx, r) })
}

// Draft implements [engine.Graph].
func (g *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Draft, error) { return eg.Draft(ctx, id) })
}

// OpenDraft implements [engine.Graph].
func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (d *engine.Draft, made bool, err error) {
	d, err = writing(ctx, g, func(eg engine.Graph) (d *engine.Draft, err error) {
		d, made, err = eg.OpenDraft(ctx, n)
		return d, err
	})
	return d, made, err
}

// EndDraft implements [engine.Graph].
func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	_, err := writing(ctx, g, func(eg engine.Graph) (struct{}, error) { return struct{}{}, eg.EndDraft(ctx, id, end) })
	return err
}

// Bind implements [engine.Graph].
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	_, err := reading(ctx, g, func(eg engine.Graph) (struct{}, error) { return struct{}{}, eg.Bind(ctx, q, at) })
	return err
}

// Query implements [engine.Graph]. The graph stays open until the result is closed.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if err := g.hold(ctx); err != nil {
		return nil, err
	}
	return g.holding(reading(ctx, g, func(eg engine.Graph) (engine.Result, error) { return eg.Query(ctx, q, args, at) }))
}

// Explain implements [engine.Graph].
func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	return reading(ctx, g, func(eg engine.Graph) (*engine.Explanation, error) { return eg.Explain(ctx, q, args, at, analyze) })
}

// Export implements [engine.Graph].
func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	if err := g.tooOld(); err != nil {
		return engine.Commit{}, err
	}
	return once(ctx, g, func(eg engine.Graph) (engine.Commit, error) { return eg.Export(ctx, w, at, opts) })
}

// Verify implements [engine.Graph].
func (g *Graph) Verify(ctx context.Context) error {
	_, err := calling(ctx, g, func(eg engine.Graph) (struct{}, error) { return struct{}{}, eg.Verify(ctx) })
	return err
}

// Stats implements [engine.Graph].
func (g *Graph) Stats() engine.Stats {
	now := g.current.Load()
	s := now.stats
	state := g.State()
	shared := &engine.SharedStats{Writer: state.Role == Writer, Epoch: state.Epoch, Lag: state.Lag, Collected: g.collected.Load(), Pinned: g.pinned.Load()}
	if eg := now.graph(); eg != nil {
		shared.Open = true
		s = eg.Stats()
		shared.CacheBytes = eg.(interface{ CacheBytes() int64 }).CacheBytes()
	}
	s.Shared = shared
	return s
}

// Failure implements [engine.Graph]. A reader that knows the whole log reports no failure, because
// its server forwards writes to the writer.
func (g *Graph) Failure() error {
	now := g.current.Load()
	switch {
	case now.idle:
		return nil
	case now.written != nil:
		return now.written.Failure()
	case now.follower != nil:
		return g.tooOld()
	}
	return now.err
}

// MustReopen implements [engine.Graph]. It always returns false, because the graph reopens itself.
func (g *Graph) MustReopen() bool { return false }

// CreateBranch implements [engine.Graph].
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	return writing(ctx, g, func(eg engine.Graph) (engine.Branch, error) { return eg.CreateBranch(ctx, name, from) })
}

// DeleteBranch implements [engine.Graph].
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	_, err := writing(ctx, g, func(eg engine.Graph) (struct{}, error) { return struct{}{}, eg.DeleteBranch(ctx, name) })
	return err
}

// DeleteBranchAt implements [engine.Graph].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	_, err := writing(ctx, g, func(eg engine.Graph) (struct{}, error) { return struct{}{}, eg.DeleteBranchAt(ctx, name, head) })
	return err
}

// Cleanup implements [engine.Graph].
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	return writing(ctx, g, func(eg engine.Graph) (*engine.CleanupResult, error) { return eg.Cleanup(ctx, opts) })
}

// Merge implements [engine.Graph].
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	return writing(ctx, g, func(eg engine.Graph) (*engine.MergeResult, error) { return eg.Merge(ctx, source, target, opts) })
}

// ApplySchema implements [engine.Graph]. A dry run needs no writer.
func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	apply := func(eg engine.Graph) (*engine.SchemaChange, error) { return eg.ApplySchema(ctx, source, schema, opts) }
	if opts.DryRun {
		return calling(ctx, g, apply)
	}
	return writing(ctx, g, apply)
}

// Mutate implements [engine.Graph].
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	return writing(ctx, g, func(eg engine.Graph) (engine.Change, error) { return eg.Mutate(ctx, q, args, opts) })
}

// Load implements [engine.Graph].
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if err := g.beforeWrite(ctx); err != nil {
		return nil, err
	}
	return once(ctx, g, func(eg engine.Graph) (*engine.LoadResult, error) { return eg.Load(ctx, r, opts) })
}
