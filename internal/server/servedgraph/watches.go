package servedgraph

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// WatchCall returns the call that answers a request about watches. The argument `name` is the name of the tool in the log. If the
// actor may not know of the query of a watch, the error is the one of [Graph.InvokeQuery].
func (g *Graph) WatchCall(ctx context.Context, actor *access.Actor, name string, r *operations.WatchRequest) (tool.Call, error) {
	g.noteOwner(actor)
	switch {
	case r.New != nil:
		w, err := g.watched(ctx, actor, r.New.Query, r.New.Params, r.New.Branch)
		if err != nil {
			return nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
		}
		w.Webhook = r.New.Webhook
		hook, err := g.newHook(actor, r.New.Webhook)
		if err != nil {
			return nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
		}
		return &operations.CreateWatch{Watched: *w, Params: r.New.Params, Debounce: r.New.Debounce, Hook: hook}, nil
	case r.ID != "" && !r.Delete && !r.Again && !r.Forget:
		call, err := g.readWatch(ctx, actor, r)
		if err != nil {
			return nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
		}
		return call, nil
	}
	r.Times = g.hookTimes()
	return r, nil
}

// WebhooksCall returns the call with which an administrator lists the webhooks of all actors, or ends that of the watch `end`.
func (g *Graph) WebhooksCall(end string) tool.Call {
	return &operations.Webhooks{End: end, Times: g.hookTimes()}
}

// ReachWatched is like Reach for the commit of the cursor of a watch, which another server may have made. It does nothing for a cursor that is
// not valid, and for a commit that stays unknown, with which the next event is a reset. The error is that of ctx.
func (g *Graph) ReachWatched(ctx context.Context, cursor string) error {
	if commit := operations.WatchedCommit(cursor); commit != "" {
		if err := g.Reach(ctx, commit); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// WatchState is the state of a consumer of a watch after an evaluation.
type WatchState struct {
	Branch tool.Branch // what the watch reads
	Commit string      // up to which the consumer knows the answer
	Cursor string      // from which the consumer goes on
	Main   string      // the commit of main by which the rights were decided; empty if main does not matter
	News   bool        // whether the answer has changed
	Ran    bool        // whether the query ran
}

// ReadWatch evaluates a watch of the actor after a cursor, which may be empty. The caller releases the answer. The error is a
// *wireerror.Oversize, with the state, if the answer is larger than the options allow.
func (g *Graph) ReadWatch(ctx context.Context, actor *access.Actor, name, id, cursor string, enc encoding.Options) (*encoding.Answer, *WatchState, error) {
	g.noteOwner(actor)
	call, err := g.readWatch(ctx, actor, &operations.WatchRequest{ID: id, Cursor: cursor})
	if err != nil {
		return nil, nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
	}
	answer, err := g.Do(ctx, actor, name, call, enc)
	if call.Event == nil {
		return nil, nil, err
	}
	return answer, &WatchState{Branch: call.On, Commit: call.Event.To, Main: call.Main, Cursor: call.Event.Cursor, News: call.Event.News(), Ran: call.Ran}, err
}

// readWatch returns the call that reads a watch.
func (g *Graph) readWatch(ctx context.Context, actor *access.Actor, r *operations.WatchRequest) (*operations.ReadWatch, error) {
	if err := g.access.Require(actor, tool.Grant{Action: tool.Watch}); err != nil {
		return nil, err
	}
	stored, err := operations.FindWatch(ctx, g.engine, actor.Name(), r.ID)
	if errors.As(err, new(*engine.NotFound)) { // another server may have made the watch a moment ago
		if err = g.Reach(ctx, Latest); err == nil {
			stored, err = operations.FindWatch(ctx, g.engine, actor.Name(), r.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	w, err := g.watched(ctx, actor, stored.Query, stored.Arguments, tool.BranchName(stored.Branch))
	var misfit *tool.ArgumentError
	if errors.As(err, &misfit) {
		return nil, &engine.PreconditionFailed{Expected: "parameters of " + stored.Query + " as they were when the watch was made", Actual: misfit.Error()}
	}
	if err != nil {
		return nil, err
	}
	return &operations.ReadWatch{Watched: *w, Cursor: r.Cursor, Debounce: stored.Debounce}, nil
}

// watched returns the part of a call that is about the query of a watch.
func (g *Graph) watched(ctx context.Context, actor *access.Actor, query string, params json.RawMessage, branch tool.BranchName) (*operations.Watched, error) {
	if err := g.Invocable(ctx, actor, query); err != nil {
		return nil, err
	}
	call, err := g.invocation(query, Invocation{Params: params, Branch: branch})
	if err != nil {
		return nil, err
	}
	if q := call.Query.Plan(); q.Mutation != nil {
		return nil, &tool.ArgumentError{Path: "query", Detail: query + " is a mutation, expected a read", Help: "watch a read"}
	}
	return &operations.Watched{Call: *call}, nil
}
