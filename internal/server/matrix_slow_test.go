package server_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// deadlines sends every request of the matrix with a deadline. The engine always takes longer than
// the deadline.
func (m *restMatrix) deadlines(seen *envelopes) {
	t := m.t
	store := filepath.Join(t.TempDir(), "people")
	makePeople(t, store)
	inner, err := embedded.Open(t.Context(), fs.OS(), store, embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	slow := &slowGraph{Graph: inner}
	t.Cleanup(func() { slow.Close() })
	g, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "people", Graph: slow, Catalog: servedtest.Catalog(t), Authorizer: policy.Unrestricted("people"), Version: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	received, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": g}, rest.Options{Server: policy.Unrestricted(""), Uploads: map[string]*uploads.Store{"people": received}})
	gate := &auth.Authenticator{Log: slog.New(slog.DiscardHandler), Verifiers: []auth.Verifier{matrixTokens(t)}}
	s := serveMatrix(t, gate.Require(cut(h)))
	for i := range restRows {
		row := &restRows[i]
		if routeOf(row.route).Elsewhere || strings.HasPrefix(row.route, "GET /graphs/{id}/audit") {
			continue // these routes never wait for a graph; the graph has no audit trail
		}
		slow.stuck.Store(false)
		x := s.of(row, "main")
		slow.stuck.Store(true)
		x.header.Set("X-Timeout-Ms", "30")
		want := http.StatusServiceUnavailable
		if row.quick {
			want = cmp.Or(row.served, http.StatusOK)
		}
		seen.check(t, row.name(), "a deadline", s.send("the-token-of-act-admin", x), want)
		x.header.Del("X-Timeout-Ms")
		x.header.Set(cutHeader, "now")
		seen.check(t, row.name(), "a stop of the server", s.send("the-token-of-act-admin", x), want)
		x.header.Set("X-Timeout-Ms", "soon")
		seen.check(t, row.name(), "a deadline that is none", s.send("the-token-of-act-admin", x), http.StatusBadRequest)
	}
}

// cutHeader marks a request whose context the function cut cancels, as a stopping server would
// cancel it.
const cutHeader = "Test-Cut"

func cut(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(cutHeader) != "" {
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// slowGraph is a graph. While its field stuck is set, each of its calls blocks until the context of
// the call ends.
type slowGraph struct {
	engine.Graph
	stuck atomic.Bool
}

// wait waits until ctx ends and returns the error of ctx. If the graph is not stuck, it returns nil
// at once.
func (g *slowGraph) wait(ctx context.Context) error {
	if !g.stuck.Load() {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// waited waits as g.wait does, and then calls the function `call`.
func waited[T any](ctx context.Context, g *slowGraph, call func() (T, error)) (T, error) {
	if err := g.wait(ctx); err != nil {
		var none T
		return none, err
	}
	return call()
}

func (g *slowGraph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	return waited(ctx, g, func() (*engine.Schema, error) { return g.Graph.Schema(ctx, at) })
}

func (g *slowGraph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	return waited(ctx, g, func() (*engine.Snapshot, error) { return g.Graph.Snapshot(ctx, at) })
}

func (g *slowGraph) Branches(ctx context.Context) ([]engine.Branch, error) {
	return waited(ctx, g, func() ([]engine.Branch, error) { return g.Graph.Branches(ctx) })
}

func (g *slowGraph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	return waited(ctx, g, func() (engine.Branch, error) { return g.Graph.CreateBranch(ctx, name, from) })
}

func (g *slowGraph) DeleteBranch(ctx context.Context, name string) error {
	if err := g.wait(ctx); err != nil {
		return err
	}
	return g.Graph.DeleteBranch(ctx, name)
}

func (g *slowGraph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	return waited(ctx, g, func() (*engine.Comparison, error) { return g.Graph.Compare(ctx, source, target, opts) })
}

func (g *slowGraph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	return waited(ctx, g, func() (engine.Preview, error) { return g.Graph.Preview(ctx, source, target, resolutions) })
}

func (g *slowGraph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	return waited(ctx, g, func() ([]engine.Proposal, error) { return g.Graph.Proposals(ctx, r) })
}

func (g *slowGraph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	return waited(ctx, g, func() (*engine.Proposal, error) { return g.Graph.Proposal(ctx, id) })
}

func (g *slowGraph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	return waited(ctx, g, func() (*engine.EventPage, error) { return g.Graph.ProposalEvents(ctx, r) })
}

func (g *slowGraph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	return waited(ctx, g, func() (*engine.Proposal, error) { return g.Graph.PutProposal(ctx, p) })
}

func (g *slowGraph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return waited(ctx, g, func() ([]engine.Draft, error) { return g.Graph.Drafts(ctx, r) })
}

func (g *slowGraph) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	return waited(ctx, g, func() ([]engine.Watch, error) { return g.Graph.Watches(ctx, r) })
}

func (g *slowGraph) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	return waited(ctx, g, func() (*engine.Watch, error) { return g.Graph.CreateWatch(ctx, w, most) })
}

func (g *slowGraph) DeleteWatch(ctx context.Context, id string) error {
	_, err := waited(ctx, g, func() (struct{}, error) { return struct{}{}, g.Graph.DeleteWatch(ctx, id) })
	return err
}

func (g *slowGraph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	return waited(ctx, g, func() (*engine.Draft, error) { return g.Graph.Draft(ctx, id) })
}

func (g *slowGraph) OpenDraft(ctx context.Context, n engine.NewDraft) (d *engine.Draft, made bool, err error) {
	d, err = waited(ctx, g, func() (d *engine.Draft, err error) {
		d, made, err = g.Graph.OpenDraft(ctx, n)
		return d, err
	})
	return d, made, err
}

func (g *slowGraph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	_, err := waited(ctx, g, func() (struct{}, error) { return struct{}{}, g.Graph.EndDraft(ctx, id, end) })
	return err
}

func (g *slowGraph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	return waited(ctx, g, func() ([]engine.Commit, error) { return g.Graph.Commits(ctx, branch, r) })
}

func (g *slowGraph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	return waited(ctx, g, func() (engine.Commit, error) { return g.Graph.Commit(ctx, id) })
}

func (g *slowGraph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	return waited(ctx, g, func() (*engine.Changes, error) { return g.Graph.Changes(ctx, commit, r) })
}

func (g *slowGraph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (*engine.Explanation, error) {
	return waited(ctx, g, func() (*engine.Explanation, error) { return g.Graph.Explain(ctx, q, args, at, analyze) })
}

func (g *slowGraph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	return waited(ctx, g, func() (*engine.CleanupResult, error) { return g.Graph.Cleanup(ctx, opts) })
}

// Verify is not part of engine.Graph; the operation looks for it with a type assertion.
func (g *slowGraph) Verify(ctx context.Context) error { return g.wait(ctx) }

func (g *slowGraph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	return waited(ctx, g, func() (*engine.MergeResult, error) { return g.Graph.Merge(ctx, source, target, opts) })
}

func (g *slowGraph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	return waited(ctx, g, func() (*engine.SchemaChange, error) { return g.Graph.ApplySchema(ctx, source, schema, opts) })
}

func (g *slowGraph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	if err := g.wait(ctx); err != nil {
		return err
	}
	return g.Graph.Bind(ctx, q, at)
}

func (g *slowGraph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	return waited(ctx, g, func() (engine.Result, error) { return g.Graph.Query(ctx, q, args, at) })
}

func (g *slowGraph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	return waited(ctx, g, func() (engine.Change, error) { return g.Graph.Mutate(ctx, q, args, opts) })
}

func (g *slowGraph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	return waited(ctx, g, func() (*engine.LoadResult, error) { return g.Graph.Load(ctx, r, opts) })
}

func (g *slowGraph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	return waited(ctx, g, func() (engine.Commit, error) { return g.Graph.Export(ctx, w, at, opts) })
}
