package servedgraph

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Latest is an argument of [Graph.Reach] that stands for every commit that was acknowledged before
// the call.
const Latest = "latest"

// Reach makes sure that later reads on this server see a commit, or all commits that [Latest]
// stands for. It waits until this server has read the log of the graph far enough. The error is an
// *engine.NotFound if the graph did not have the commit when Reach was called.
func (g *Graph) Reach(ctx context.Context, commit string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.limits.Timeout, errLimit)
	defer cancel()
	return overdue(ctx, g.reach(ctx, commit))
}

// ReachPage is like Reach for the commit of a page token. It does nothing for a token that is not valid:
// the call that uses the token reports that.
func (g *Graph) ReachPage(ctx context.Context, token string) error {
	p, err := g.pages.Open(token)
	if err != nil {
		return nil
	}
	return g.Reach(ctx, p.Commit)
}

// reach does what Reach does, without the limit of time.
func (g *Graph) reach(ctx context.Context, commit string) error {
	if commit == Latest {
		if g.catchUp == nil {
			return nil
		}
		return g.catchUp(ctx)
	}
	_, err := g.engine.Commit(ctx, commit)
	var missing *engine.NotFound
	if g.catchUp == nil || !errors.As(err, &missing) {
		return err
	}
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	_, err = g.engine.Commit(ctx, commit)
	return err
}

// settler returns a function for the end of a call that has made no commit, or nil if the call cannot write or no
// other server can write the graph. It must be called before the call reads the graph.
//
// The server that judged the call may have been replaced as the writer, for example while its process was
// stopped, and then its data is old: it refuses a change of what another server has written since, or finds
// nothing to change. Or it judged by a commit in flight, which failed. The function takes the error of the call, and
// returns it if this server was the writer during the call. Otherwise it returns an error that tells the caller to
// repeat the call.
func (g *Graph) settler(ctx context.Context, call tool.Call) func(context.Context, error) error {
	if g.writing == nil || !slices.ContainsFunc(call.Needs(), func(x tool.Need) bool { return x.Action.Row().Writes }) {
		return nil
	}
	role := g.writing(ctx)
	return func(ctx context.Context, err error) error {
		var denied *wireerror.Forbidden
		var lacks *wireerror.InsufficientScope
		switch {
		case err == nil && !role.Writer: // a dry run
			return nil
		case err != nil && (errors.As(err, &denied) || errors.As(err, &lacks) || wireerror.Explain(err).Operational):
			return err
		}
		if late := role.Confirm(ctx); late != nil {
			return late
		}
		return err
	}
}

// QueryWrites reports whether a stored query is a mutation. It returns false if there is no such
// query.
func (g *Graph) QueryWrites(name string) bool {
	q := g.queries[name]
	return q != nil && q.Info().Mutation
}

// ToolWrites reports whether a call of a tool may write. It returns false if there is no such tool.
func (g *Graph) ToolWrites(name string, args json.RawMessage) bool {
	t := g.tools[name]
	if t == nil {
		return false
	}
	if g.meta == nil || name != metatools.RunQuery {
		return !t.Descriptor().ReadOnly
	}
	var run struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(args, &run) != nil {
		return false // the call itself reports that the arguments are malformed
	}
	for _, q := range g.meta.Queries {
		if q.Descriptor().Name == run.Name || q.Info().Name == run.Name {
			return q.Info().Mutation
		}
	}
	return false
}
