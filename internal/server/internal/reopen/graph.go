package reopen

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Schema implements [engine.Graph].
func (r *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Schema(ctx, at)
}

// Snapshot implements [engine.Graph].
func (r *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Snapshot(ctx, at)
}

// Branches implements [engine.Graph].
func (r *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Branches(ctx)
}

// CreateBranch implements [engine.Graph].
func (r *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	g, err := r.graph()
	if err != nil {
		return engine.Branch{}, err
	}
	return g.CreateBranch(ctx, name, from)
}

// DeleteBranch implements [engine.Graph].
func (r *Graph) DeleteBranch(ctx context.Context, name string) error {
	g, err := r.graph()
	if err != nil {
		return err
	}
	return g.DeleteBranch(ctx, name)
}

// DeleteBranchAt implements [engine.Graph].
func (r *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	g, err := r.graph()
	if err != nil {
		return err
	}
	return g.DeleteBranchAt(ctx, name, head)
}

// Commits implements [engine.Graph].
func (r *Graph) Commits(ctx context.Context, branch string, span engine.CommitRange) ([]engine.Commit, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Commits(ctx, branch, span)
}

// Commit implements [engine.Graph].
func (r *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	g, err := r.graph()
	if err != nil {
		return engine.Commit{}, err
	}
	return g.Commit(ctx, id)
}

// Changes implements [engine.Graph].
func (r *Graph) Changes(ctx context.Context, commit string, span engine.ChangeRange) (*engine.Changes, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Changes(ctx, commit, span)
}

// Cleanup implements [engine.Graph].
func (r *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Cleanup(ctx, opts)
}

// Merge implements [engine.Graph].
func (r *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Merge(ctx, source, target, opts)
}

// Compare implements [engine.Graph].
func (r *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Compare(ctx, source, target, opts)
}

// Preview implements [engine.Graph]. A preview of a graph that has been closed since reports that.
func (r *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Preview(ctx, source, target, resolutions)
}

// Proposals implements [engine.Graph].
func (r *Graph) Proposals(ctx context.Context, in engine.ProposalRange) ([]engine.Proposal, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Proposals(ctx, in)
}

// Proposal implements [engine.Graph].
func (r *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Proposal(ctx, id)
}

// ProposalEvents implements [engine.Graph].
func (r *Graph) ProposalEvents(ctx context.Context, in engine.EventRange) (*engine.EventPage, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.ProposalEvents(ctx, in)
}

// PutProposal implements [engine.Graph].
func (r *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.PutProposal(ctx, p)
}

// Drafts implements [engine.Graph].
func (r *Graph) Drafts(ctx context.Context, in engine.DraftRange) ([]engine.Draft, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Drafts(ctx, in)
}

// Draft implements [engine.Graph].
func (r *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Draft(ctx, id)
}

// OpenDraft implements [engine.Graph].
func (r *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (*engine.Draft, bool, error) {
	g, err := r.graph()
	if err != nil {
		return nil, false, err
	}
	return g.OpenDraft(ctx, n)
}

// EndDraft implements [engine.Graph].
func (r *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	g, err := r.graph()
	if err != nil {
		return err
	}
	return g.EndDraft(ctx, id, end)
}

// ApplySchema implements [engine.Graph].
func (r *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.ApplySchema(ctx, source, schema, opts)
}

// Bind implements [engine.Graph].
func (r *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	g, err := r.graph()
	if err != nil {
		return err
	}
	return g.Bind(ctx, q, at)
}

// Query implements [engine.Graph].
func (r *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Query(ctx, q, args, at)
}

// Explain implements [engine.Graph].
func (r *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Explain(ctx, q, args, at, analyze)
}

// Mutate implements [engine.Graph].
func (r *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	g, err := r.graph()
	if err != nil {
		return engine.Change{}, err
	}
	return g.Mutate(ctx, q, args, opts)
}

// Load implements [engine.Graph].
func (r *Graph) Load(ctx context.Context, in io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	return g.Load(ctx, in, opts)
}

// Export implements [engine.Graph].
func (r *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	g, err := r.graph()
	if err != nil {
		return engine.Commit{}, err
	}
	return g.Export(ctx, w, at, opts)
}
