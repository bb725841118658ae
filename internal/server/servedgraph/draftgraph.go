package servedgraph

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// draftGraph is the graph as one call sees it: the names of the call stand for the branches that a
// placing has found.
type draftGraph struct {
	engine.Graph
	names func(name string) string
}

// at returns a target with the branch that its name stands for.
func (g *draftGraph) at(t engine.Target) engine.Target {
	t.Branch = g.names(t.Branch)
	return t
}

// Schema implements [engine.Graph].
func (g *draftGraph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	return g.Graph.Schema(ctx, g.at(at))
}

// Snapshot implements [engine.Graph].
func (g *draftGraph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	return g.Graph.Snapshot(ctx, g.at(at))
}

// CreateBranch implements [engine.Graph].
func (g *draftGraph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	return g.Graph.CreateBranch(ctx, name, g.at(from))
}

// DeleteBranch implements [engine.Graph].
func (g *draftGraph) DeleteBranch(ctx context.Context, name string) error {
	return g.Graph.DeleteBranch(ctx, g.names(name))
}

// DeleteBranchAt implements [engine.Graph].
func (g *draftGraph) DeleteBranchAt(ctx context.Context, name, head string) error {
	return g.Graph.DeleteBranchAt(ctx, g.names(name), head)
}

// Commits implements [engine.Graph].
func (g *draftGraph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	return g.Graph.Commits(ctx, g.names(branch), r)
}

// Merge implements [engine.Graph].
func (g *draftGraph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	return g.Graph.Merge(ctx, g.names(source), g.names(target), opts)
}

// Compare implements [engine.Graph].
func (g *draftGraph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	return g.Graph.Compare(ctx, g.at(source), g.at(target), opts)
}

// Preview implements [engine.Graph].
func (g *draftGraph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	return g.Graph.Preview(ctx, g.at(source), g.at(target), resolutions)
}

// PutProposal implements [engine.Graph].
func (g *draftGraph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	p.Source, p.Target = g.names(p.Source), g.names(p.Target)
	return g.Graph.PutProposal(ctx, p)
}

// ApplySchema implements [engine.Graph].
func (g *draftGraph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	opts.Branch = g.names(opts.Branch)
	return g.Graph.ApplySchema(ctx, source, schema, opts)
}

// Bind implements [engine.Graph].
func (g *draftGraph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	return g.Graph.Bind(ctx, q, g.at(at))
}

// Query implements [engine.Graph].
func (g *draftGraph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	return g.Graph.Query(ctx, q, args, g.at(at))
}

// Explain implements [engine.Graph].
func (g *draftGraph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	return g.Graph.Explain(ctx, q, args, g.at(at), analyze)
}

// Mutate implements [engine.Graph].
func (g *draftGraph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	opts.Branch = g.names(opts.Branch)
	return g.Graph.Mutate(ctx, q, args, opts)
}

// Load implements [engine.Graph].
func (g *draftGraph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	opts.Branch = g.names(opts.Branch)
	return g.Graph.Load(ctx, r, opts)
}

// Export implements [engine.Graph].
func (g *draftGraph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	return g.Graph.Export(ctx, w, g.at(at), opts)
}
