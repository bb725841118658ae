package queryrun

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/notes"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Reading describes the state of the graph that a read runs on.
type Reading struct {
	At engine.Target // what the engine reads

	branch   *tool.Branch     // what the caller named, for the answer; nil if snapshot is set
	snapshot string           // the commit that the caller named instead, or ""
	place    *pagetoken.Place // nil on the first page
	instant  bool             // the caller named an instant, or AsOf has found the commit as of which the query reads
}

// Reading returns the state that a read on a branch runs on. All pages
// after the first run on the same commit as the first. The error is a *tool.ArgumentError.
func (k *Options) Reading(ctx context.Context, env *tool.Env, branch tool.BranchName) (*Reading, error) {
	commit, err := env.Past(ctx, branch, k.Snapshot)
	if err != nil {
		return nil, err
	}
	r := &Reading{snapshot: commit, At: engine.Target{Commit: commit}, instant: commit != k.Snapshot}
	if commit == "" {
		r.branch = new(env.Branch(branch))
		r.At = r.branch.At()
	}
	r.At.Now = env.Now
	if k.PageToken == "" {
		return r, nil
	}
	p, err := env.OpenPage(k.PageToken, "")
	if err != nil {
		return nil, err
	}
	switch {
	case p.Snapshot && p.Commit != commit:
		return nil, tool.BadPageToken("belongs to the snapshot " + p.Commit)
	case !p.Snapshot && (commit != "" || p.Branch != r.branch.Name()):
		return nil, tool.BadPageToken("belongs to the branch " + p.Branch)
	}
	r.place = p
	r.At = engine.Target{Commit: p.Commit, Now: p.Now}
	return r, nil
}

// Run runs a read. It returns a *tool.ArgumentError if a later page has another query or other
// arguments than the first page.
func (r *Reading) Run(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args) (*tool.Outcome, error) {
	if err := r.AsOf(ctx, env, q, args); err != nil {
		return nil, r.Lost(err)
	}
	if r.instant { // the commit may be one of another branch, of which the caller may see less
		name := q.Name
		if q = restricted.Plan(env.Graph, q); q == nil {
			return nil, &engine.NotFound{What: "stored query", Name: name}
		}
	}
	out := &tool.ReadOutcome{Query: q.Name, Branch: r.branch, Snapshot: r.snapshot, Plan: q, Args: args, Now: r.At.Now}
	if r.place != nil {
		switch {
		case r.place.Plan != pagetoken.PlanDigest(q):
			return nil, tool.BadPageToken("belongs to another query, or to another version of this query")
		case r.place.Args != pagetoken.ArgsDigest(args):
			if len(q.OfCaller()) > 0 {
				return nil, tool.BadPageToken("belongs to a call with other parameters, or your groups or claims have changed since")
			}
			return nil, tool.BadPageToken("belongs to a call with other parameters")
		}
		out.Row = r.place.Row
	}
	if r.place != nil {
		if err := r.checkDraft(ctx, env); err != nil {
			return nil, err
		}
	}
	result, err := env.Graph.Query(ctx, q, args, r.At)
	if err != nil {
		return nil, r.Lost(err)
	}
	out.Result = result
	// A note reveals whether a key exists, and contains other keys. Perhaps the stored query itself
	// does not show these keys, so the caller must be allowed to read.
	if r.place == nil {
		out.Notes = func(ctx context.Context) []string {
			if !env.MayRead() {
				return nil
			}
			return notes.ForEmpty(ctx, env.Graph, q, args, engine.Target{Commit: result.Commit(), Now: r.At.Now})
		}
	}
	return &tool.Outcome{Read: out}, nil
}

// AsOf finds the commit as of which the query reads, if it says so, and the right to read it. At is that commit then, and
// the engine selects the same one.
func (r *Reading) AsOf(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args) error {
	if q.AsOf == nil || r.instant && r.snapshot == "" {
		return nil
	}
	if r.snapshot != "" {
		return &tool.ArgumentError{Path: "snapshot", Detail: "the query says as of when it reads, expected no snapshot", Help: "leave snapshot out"}
	}
	at := r.At
	if at.AsOf = q.Instant(args); at.AsOf.IsZero() {
		return nil // the engine reports the bad argument
	}
	commit, err := env.AsOf(ctx, at)
	r.At.Branch, r.At.Commit, r.instant = "", commit, true
	var bad *engine.BadArgument
	if p, ok := q.AsOf.(plan.ParamRef); ok && errors.As(err, &bad) {
		err = &engine.BadArgument{Param: q.Params[p.Index].Name, Detail: bad.Detail}
	}
	return err
}

// checkDraft returns a *engine.DraftClosed if the earlier pages came from a draft that has ended, or a
// *engine.NotFound if the draft is unknown. Its commit may still be readable, but a reader of a draft
// must learn that the draft has ended.
func (r *Reading) checkDraft(ctx context.Context, env *tool.Env) error {
	id, ok := engine.DraftID(r.place.Branch)
	if !ok {
		return nil
	}
	d, err := env.Graph.Draft(ctx, id)
	if err == nil && d.State != engine.DraftOpen {
		err = &engine.DraftClosed{Draft: *d}
	}
	return err
}

// Lost converts an error of the engine for the caller. If the commit of a later page no longer
// exists, it returns a *tool.ArgumentError about the page token.
func (r *Reading) Lost(err error) error {
	var missing *engine.NotFound
	if r.place == nil || !errors.As(err, &missing) {
		return err
	}
	return &tool.ArgumentError{
		Path: "page_token", Detail: "the commit that the token reads, " + r.place.Commit + ", was cleaned up",
		Help: "leave page_token out to get the first page of the current rows",
	}
}

// NextToken returns the token for the page that follows n more rows of a read, or "" if page
// tokens are not available.
func NextToken(e *tool.Env, r *tool.ReadOutcome, n int) string {
	if e.PageTokens == nil {
		return "" // return early, which saves computing the digests
	}
	p := pagetoken.Place{
		Snapshot: r.Snapshot != "", Commit: r.Result.Commit(),
		Now: r.Now, Plan: pagetoken.PlanDigest(r.Plan), Args: pagetoken.ArgsDigest(r.Args), Row: r.Row + int64(n),
	}
	if r.Branch != nil {
		p.Branch = r.Branch.Name()
	}
	return e.SealPage(p)
}
