// Package handle is the graph of calls whose engine may be replaced while they run: it forwards every method of
// [engine.Graph], and an [Opener] chooses the graph on which each call runs.
package handle

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Access says what a call needs of the graph on which it runs.
type Access uint8

const (
	Read        Access = iota // reads data
	Any                       // needs no recent data: a dry run of a schema, a verification
	Write                     // changes the graph
	ReadStream                // reads data and writes a stream, so that it must not run twice
	WriteStream               // changes the graph and consumes a stream, so that it must not run twice
)

// Opener runs calls on the graph of the moment.
type Opener interface {
	// Call runs a call, or returns an error without running it. It may run a call again on another graph if the
	// first one refused it, except for the streams. The argument `call` returns the error of the graph unchanged.
	Call(ctx context.Context, a Access, call func(engine.Graph) error) error
}

// Graph forwards calls. A type that embeds it adds Stats, Failure, MustReopen and Close, and is then an engine.Graph.
type Graph struct{ opener Opener }

// Of returns a graph whose calls run on the graphs of the opener.
func Of(o Opener) Graph { return Graph{o} }

// forward runs a call that has a result.
func forward[T any](ctx context.Context, g *Graph, a Access, call func(engine.Graph) (T, error)) (T, error) {
	var out T
	err := g.opener.Call(ctx, a, func(to engine.Graph) (err error) {
		out, err = call(to)
		return err
	})
	return out, err
}

// Schema implements [engine.Graph].
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Schema, error) { return to.Schema(ctx, at) })
}

// Snapshot implements [engine.Graph].
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Snapshot, error) { return to.Snapshot(ctx, at) })
}

// Bind implements [engine.Graph].
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	return g.opener.Call(ctx, Read, func(to engine.Graph) error { return to.Bind(ctx, q, at) })
}

// Query implements [engine.Graph].
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (engine.Result, error) { return to.Query(ctx, q, args, at) })
}

// Explain implements [engine.Graph].
func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Explanation, error) { return to.Explain(ctx, q, args, at, analyze) })
}

// Export implements [engine.Graph].
func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	return forward(ctx, g, ReadStream, func(to engine.Graph) (engine.Commit, error) { return to.Export(ctx, w, at, opts) })
}

// Commits implements [engine.Graph].
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	return forward(ctx, g, Read, func(to engine.Graph) ([]engine.Commit, error) { return to.Commits(ctx, branch, r) })
}

// Commit implements [engine.Graph].
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (engine.Commit, error) { return to.Commit(ctx, id) })
}

// Changes implements [engine.Graph].
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Changes, error) { return to.Changes(ctx, commit, r) })
}

// Mutate implements [engine.Graph].
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (engine.Change, error) { return to.Mutate(ctx, q, args, opts) })
}

// Load implements [engine.Graph].
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	return forward(ctx, g, WriteStream, func(to engine.Graph) (*engine.LoadResult, error) { return to.Load(ctx, r, opts) })
}

// ApplySchema implements [engine.Graph].
func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	a := Write
	if opts.DryRun {
		a = Any
	}
	return forward(ctx, g, a, func(to engine.Graph) (*engine.SchemaChange, error) {
		return to.ApplySchema(ctx, source, schema, opts)
	})
}

// Cleanup implements [engine.Graph].
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (*engine.CleanupResult, error) { return to.Cleanup(ctx, opts) })
}

// Branches implements [engine.Graph].
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	return forward(ctx, g, Read, func(to engine.Graph) ([]engine.Branch, error) { return to.Branches(ctx) })
}

// CreateBranch implements [engine.Graph].
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (engine.Branch, error) { return to.CreateBranch(ctx, name, from) })
}

// DeleteBranch implements [engine.Graph].
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.opener.Call(ctx, Write, func(to engine.Graph) error { return to.DeleteBranch(ctx, name) })
}

// DeleteBranchAt implements [engine.Graph].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	return g.opener.Call(ctx, Write, func(to engine.Graph) error { return to.DeleteBranchAt(ctx, name, head) })
}

// Merge implements [engine.Graph].
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (*engine.MergeResult, error) { return to.Merge(ctx, source, target, opts) })
}

// Compare implements [engine.Graph].
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Comparison, error) { return to.Compare(ctx, source, target, opts) })
}

// Preview implements [engine.Graph].
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (engine.Preview, error) { return to.Preview(ctx, source, target, resolutions) })
}

// Proposals implements [engine.Graph].
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	return forward(ctx, g, Read, func(to engine.Graph) ([]engine.Proposal, error) { return to.Proposals(ctx, r) })
}

// Proposal implements [engine.Graph].
func (g *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Proposal, error) { return to.Proposal(ctx, id) })
}

// PutProposal implements [engine.Graph].
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (*engine.Proposal, error) { return to.PutProposal(ctx, p) })
}

// ProposalEvents implements [engine.Graph].
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.EventPage, error) { return to.ProposalEvents(ctx, r) })
}

// Drafts implements [engine.Graph].
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return forward(ctx, g, Read, func(to engine.Graph) ([]engine.Draft, error) { return to.Drafts(ctx, r) })
}

// Draft implements [engine.Graph].
func (g *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	return forward(ctx, g, Read, func(to engine.Graph) (*engine.Draft, error) { return to.Draft(ctx, id) })
}

// OpenDraft implements [engine.Graph].
func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (d *engine.Draft, made bool, err error) {
	err = g.opener.Call(ctx, Write, func(to engine.Graph) (err error) {
		d, made, err = to.OpenDraft(ctx, n)
		return err
	})
	return d, made, err
}

// EndDraft implements [engine.Graph].
func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	return g.opener.Call(ctx, Write, func(to engine.Graph) error { return to.EndDraft(ctx, id, end) })
}

// Watches implements [engine.Graph].
func (g *Graph) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	return forward(ctx, g, Read, func(to engine.Graph) ([]engine.Watch, error) { return to.Watches(ctx, r) })
}

// CreateWatch implements [engine.Graph].
func (g *Graph) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	return forward(ctx, g, Write, func(to engine.Graph) (*engine.Watch, error) { return to.CreateWatch(ctx, w, most) })
}

// ChangeWatch implements [engine.Graph].
func (g *Graph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	return g.opener.Call(ctx, Write, func(to engine.Graph) error { return to.ChangeWatch(ctx, id, change) })
}

// DeleteWatch implements [engine.Graph].
func (g *Graph) DeleteWatch(ctx context.Context, id string) error {
	return g.opener.Call(ctx, Write, func(to engine.Graph) error { return to.DeleteWatch(ctx, id) })
}

// Verify implements [engine.Graph].
func (g *Graph) Verify(ctx context.Context) error {
	return g.opener.Call(ctx, Any, func(to engine.Graph) error { return to.Verify(ctx) })
}
