// Package metered is an engine that counts its calls and failures. It stores its graphs with the
// embedded engine.
//
// It implements every method of [engine.Graph] by hand. So a new method of that interface is a
// compile error here instead of a call that is not counted.
package metered

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Engine makes and opens metered graphs. It counts the calls of all its graphs together. It is safe
// for concurrent use.
type Engine struct {
	storage       embedded.Engine
	calls, failed atomic.Int64
}

// New returns an engine that keeps its graphs in folders.
func New() *Engine { return &Engine{} }

// NewMemory returns an engine that keeps its graphs in memory.
func NewMemory() *Engine { return &Engine{storage: embedded.NewMemoryEngine()} }

// Calls returns the number of calls, and how many of them failed.
func (e *Engine) Calls() (all, failed int64) { return e.calls.Load(), e.failed.Load() }

// count counts a call. The caller defers it with the address of its error.
func (e *Engine) count(err *error) {
	e.calls.Add(1)
	if *err != nil {
		e.failed.Add(1)
	}
}

// Create implements [engine.Engine].
func (e *Engine) Create(ctx context.Context, place, source string, schema *catalog.Schema, opts engine.OpenOptions) (_ engine.Graph, err error) {
	defer e.count(&err)
	g, err := e.storage.Create(ctx, place, source, schema, opts)
	if err != nil {
		return nil, err
	}
	return &Graph{e, g}, nil
}

// Open implements [engine.Engine].
func (e *Engine) Open(ctx context.Context, place string, opts engine.OpenOptions) (_ engine.Graph, err error) {
	defer e.count(&err)
	g, err := e.storage.Open(ctx, place, opts)
	if err != nil {
		return nil, err
	}
	return &Graph{e, g}, nil
}

// Graph is one metered graph.
type Graph struct {
	meter  *Engine
	stored engine.Graph
}

var (
	_ engine.Engine = (*Engine)(nil)
	_ engine.Graph  = (*Graph)(nil)
)

// Schema implements [engine.Graph], as do the methods below.
func (g *Graph) Schema(ctx context.Context, at engine.Target) (_ *engine.Schema, err error) {
	defer g.meter.count(&err)
	return g.stored.Schema(ctx, at)
}

func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (_ *engine.Snapshot, err error) {
	defer g.meter.count(&err)
	return g.stored.Snapshot(ctx, at)
}

func (g *Graph) Branches(ctx context.Context) (_ []engine.Branch, err error) {
	defer g.meter.count(&err)
	return g.stored.Branches(ctx)
}

func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (_ engine.Branch, err error) {
	defer g.meter.count(&err)
	return g.stored.CreateBranch(ctx, name, from)
}

func (g *Graph) DeleteBranch(ctx context.Context, name string) (err error) {
	defer g.meter.count(&err)
	return g.stored.DeleteBranch(ctx, name)
}

func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) (err error) {
	defer g.meter.count(&err)
	return g.stored.DeleteBranchAt(ctx, name, head)
}

func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) (_ []engine.Commit, err error) {
	defer g.meter.count(&err)
	return g.stored.Commits(ctx, branch, r)
}

func (g *Graph) Commit(ctx context.Context, id string) (_ engine.Commit, err error) {
	defer g.meter.count(&err)
	return g.stored.Commit(ctx, id)
}

func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (_ *engine.Changes, err error) {
	defer g.meter.count(&err)
	return g.stored.Changes(ctx, commit, r)
}

func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (_ *engine.CleanupResult, err error) {
	defer g.meter.count(&err)
	return g.stored.Cleanup(ctx, opts)
}

func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (_ *engine.MergeResult, err error) {
	defer g.meter.count(&err)
	return g.stored.Merge(ctx, source, target, opts)
}

func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (_ *engine.Comparison, err error) {
	defer g.meter.count(&err)
	return g.stored.Compare(ctx, source, target, opts)
}

func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (_ engine.Preview, err error) {
	defer g.meter.count(&err)
	return g.stored.Preview(ctx, source, target, resolutions)
}

func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) (_ []engine.Proposal, err error) {
	defer g.meter.count(&err)
	return g.stored.Proposals(ctx, r)
}

func (g *Graph) Proposal(ctx context.Context, id string) (_ *engine.Proposal, err error) {
	defer g.meter.count(&err)
	return g.stored.Proposal(ctx, id)
}

func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (_ *engine.EventPage, err error) {
	defer g.meter.count(&err)
	return g.stored.ProposalEvents(ctx, r)
}

func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (_ *engine.Proposal, err error) {
	defer g.meter.count(&err)
	return g.stored.PutProposal(ctx, p)
}

func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) (_ []engine.Draft, err error) {
	defer g.meter.count(&err)
	return g.stored.Drafts(ctx, r)
}

func (g *Graph) Draft(ctx context.Context, id string) (_ *engine.Draft, err error) {
	defer g.meter.count(&err)
	return g.stored.Draft(ctx, id)
}

func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (_ *engine.Draft, _ bool, err error) {
	defer g.meter.count(&err)
	return g.stored.OpenDraft(ctx, n)
}

func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) (err error) {
	defer g.meter.count(&err)
	return g.stored.EndDraft(ctx, id, end)
}

func (g *Graph) Watches(ctx context.Context, r engine.WatchRange) (_ []engine.Watch, err error) {
	defer g.meter.count(&err)
	return g.stored.Watches(ctx, r)
}

func (g *Graph) CreateWatch(ctx context.Context, w engine.Watch, most int) (_ *engine.Watch, err error) {
	defer g.meter.count(&err)
	return g.stored.CreateWatch(ctx, w, most)
}

func (g *Graph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) (err error) {
	defer g.meter.count(&err)
	return g.stored.ChangeWatch(ctx, id, change)
}

func (g *Graph) DeleteWatch(ctx context.Context, id string) (err error) {
	defer g.meter.count(&err)
	return g.stored.DeleteWatch(ctx, id)
}

func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (_ *engine.SchemaChange, err error) {
	defer g.meter.count(&err)
	return g.stored.ApplySchema(ctx, source, schema, opts)
}

func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) (err error) {
	defer g.meter.count(&err)
	return g.stored.Bind(ctx, q, at)
}

func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (_ engine.Result, err error) {
	defer g.meter.count(&err)
	return g.stored.Query(ctx, q, args, at)
}

func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (_ *engine.Explanation, err error) {
	defer g.meter.count(&err)
	return g.stored.Explain(ctx, q, args, at, analyze)
}

func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (_ engine.Change, err error) {
	defer g.meter.count(&err)
	return g.stored.Mutate(ctx, q, args, opts)
}

func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (_ *engine.LoadResult, err error) {
	defer g.meter.count(&err)
	return g.stored.Load(ctx, r, opts)
}

func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (_ engine.Commit, err error) {
	defer g.meter.count(&err)
	return g.stored.Export(ctx, w, at, opts)
}

func (g *Graph) Verify(ctx context.Context) (err error) {
	defer g.meter.count(&err)
	return g.stored.Verify(ctx)
}

// Stats, Failure and MustReopen are for monitoring, so they are not counted.
func (g *Graph) Stats() engine.Stats { return g.stored.Stats() }

func (g *Graph) Failure() error { return g.stored.Failure() }

func (g *Graph) MustReopen() bool { return g.stored.MustReopen() }

func (g *Graph) Close() (err error) {
	defer g.meter.count(&err)
	return g.stored.Close()
}
