package queryrun

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Reading describes the state of the graph that a read runs on.
type Reading struct {
	Asked engine.Target    // what the caller named, for the answer
	At    engine.Target    // what the engine reads
	place *pagetoken.Place // nil on the first page
}

// Reading returns the state that a read on a branch runs on. An empty branch means main.
// All pages after the first run on the same commit as the first. The error is an
// *ArgumentError.
func (k *Options) Reading(env *tool.Env, branch string) (*Reading, error) {
	if branch == "" {
		branch = engine.MainBranch
	}
	r := &Reading{Asked: engine.Target{Branch: branch}}
	if k.Snapshot != "" {
		r.Asked = engine.Target{Commit: k.Snapshot}
	}
	r.At = r.Asked
	r.At.Now = env.Now
	if k.PageToken == "" {
		return r, nil
	}
	p, err := openToken(env, k.PageToken)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Snapshot && p.Commit != k.Snapshot:
		return nil, badToken("is of the snapshot " + p.Commit)
	case !p.Snapshot && (k.Snapshot != "" || p.Branch != branch):
		return nil, badToken("is of the branch " + p.Branch)
	}
	r.place = p
	r.At = engine.Target{Commit: p.Commit, Now: p.Now}
	return r, nil
}

// Run runs a read. It returns an *ArgumentError if a later page has another query or other
// arguments than the first page.
func (r *Reading) Run(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args) (*tool.Outcome, error) {
	out := &tool.ReadOutcome{Query: q.Name, Target: r.Asked, Plan: q, Args: args, Now: r.At.Now}
	if r.place != nil {
		switch {
		case r.place.Plan != pagetoken.PlanDigest(q):
			return nil, badToken("is of another query, or of another version of this one")
		case r.place.Args != pagetoken.ArgsDigest(args):
			return nil, badToken("is of a call with other parameters")
		}
		out.Row = r.place.Row
	}
	result, err := env.Graph.Query(ctx, q, args, r.At)
	if err != nil {
		return nil, r.Lost(err)
	}
	out.Result = result
	return &tool.Outcome{Read: out}, nil
}

// Lost converts an error of the engine for the caller. If the commit of a later page no
// longer exists, it returns an *ArgumentError about the page token.
func (r *Reading) Lost(err error) error {
	var missing *engine.NotFound
	if r.place == nil || !errors.As(err, &missing) {
		return err
	}
	return &tool.ArgumentError{
		Path: "page_token", Detail: "the commit that it reads, " + r.place.Commit + ", was cleaned up",
		Help: "call without page_token, for the first page of the present rows",
	}
}

// openToken opens a page token. It returns an error if the token is for another graph or another
// actor.
func openToken(e *tool.Env, token string) (*pagetoken.Place, error) {
	if e.Pages == nil {
		return nil, badToken("cannot be opened here")
	}
	p, err := e.Pages.Open(token)
	var invalid *pagetoken.Invalid
	switch {
	case errors.As(err, &invalid):
		return nil, badToken(invalid.Reason)
	case err != nil:
		return nil, err
	case p.Graph != e.GraphID:
		return nil, badToken("is of another graph")
	case p.Actor != e.Actor:
		return nil, badToken("was given to another actor")
	}
	return p, nil
}

// NextToken returns the token for the page that follows n more rows of a read, or "" if page
// tokens are not available.
func NextToken(e *tool.Env, r *tool.ReadOutcome, n int) string {
	if e.Pages == nil {
		return ""
	}
	p := &pagetoken.Place{
		Graph: e.GraphID, Actor: e.Actor, Branch: r.Target.Branch, Snapshot: r.Target.Commit != "", Commit: r.Result.Commit(),
		Now: r.Now, Plan: pagetoken.PlanDigest(r.Plan), Args: pagetoken.ArgsDigest(r.Args), Row: r.Row + int64(n),
	}
	return e.Pages.Seal(p)
}

func badToken(reason string) error {
	return &tool.ArgumentError{
		Path: "page_token", Detail: "it " + reason,
		Help: "send next_page_token as it was, with the arguments of the first page; or leave it out, for the first page",
	}
}
