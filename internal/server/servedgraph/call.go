package servedgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Call runs the named tool with JSON arguments, as MCP does. In addition to the errors of the
// engine it returns *wireerror.UnknownTool, *tool.ArgumentError, *wireerror.Forbidden,
// *wireerror.Oversize and, for ad-hoc text, *wireerror.Rejected. [wireerror.Explain] classifies
// them.
func (g *Graph) Call(ctx context.Context, actor *access.Actor, name string, args json.RawMessage, enc encoding.Options) (*encoding.Answer, error) {
	g.noteOwner(actor)
	t, err := g.Lookup(ctx, actor, name)
	if err != nil {
		return nil, g.NotKnown(ctx, actor, name, err)
	}
	var call tool.Call
	if late := g.Turn(ctx, len(args), func() { call, err = decode(ctx, actor, t, args) }); late != nil {
		err = late
	}
	if err != nil {
		return nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
	}
	if w, ok := call.(*operations.WatchRequest); ok {
		if call, err = g.WatchCall(ctx, actor, name, w); err != nil {
			return nil, err
		}
	}
	if c, ok := call.(*queryrun.Call); ok {
		name = c.Query.Descriptor().Name
	}
	return g.Do(ctx, actor, name, call, enc)
}

// decode decodes the arguments of a tool for an actor.
func decode(ctx context.Context, actor *access.Actor, t tool.Tool, args json.RawMessage) (tool.Call, error) {
	if t, ok := t.(metatools.PerCaller); ok {
		return t.DecodeFor(ctx, actor, args)
	}
	return t.Decode(args)
}

// Invocation is the call of a stored query by its query name.
type Invocation struct {
	Params         json.RawMessage // nil, null or an object
	Branch         tool.BranchName
	Options        queryrun.Options // such as the page token or a dry run
	ExpectMutation *bool            // if set, the query must be a mutation (true) or a read (false)
}

// InvokeQuery runs a stored query by its query name, even if the query is hidden. If the
// actor lacks the grant to invoke it, the error is the same *engine.NotFound as for an
// unknown query.
func (g *Graph) InvokeQuery(ctx context.Context, actor *access.Actor, name string, in Invocation, enc encoding.Options) (*encoding.Answer, error) {
	g.noteOwner(actor)
	if err := g.Invocable(ctx, actor, name); err != nil {
		return nil, err
	}
	call, err := g.invocation(name, in)
	if err != nil {
		return nil, g.record.Refused(ctx, name, wireerror.OutcomeOf(err), err)
	}
	return g.Do(ctx, actor, name, call, enc)
}

// invocation decodes the call of a stored query.
func (g *Graph) invocation(name string, in Invocation) (*queryrun.Call, error) {
	q := g.queries[name]
	if want := in.ExpectMutation; want != nil && *want != q.Info().Mutation {
		kind := map[bool]string{false: "a read", true: "a mutation"}
		return nil, &tool.ArgumentError{Path: "expect_mutation", Detail: fmt.Sprintf("found %t, but %s is %s", *want, name, kind[q.Info().Mutation])}
	}
	if !q.Info().Mutation {
		in.Options.IdempotencyKey = "" // a client may send a key with every call; repeating a read is safe
	}
	if err := in.Options.Check(q.Info().Mutation, in.Branch); err != nil {
		return nil, err
	}
	args, err := arguments.Decode(in.Params, q.Params())
	if err != nil {
		var a *tool.ArgumentError
		if errors.As(err, &a) {
			return nil, a.Under("params")
		}
		return nil, err
	}
	return &queryrun.Call{Query: q, Args: args, Branch: in.Branch, Options: in.Options}, nil
}

// Do authorizes a decoded call, runs it and encodes its outcome. The argument `name` is the tool's
// name in the log. All reads and writes of a graph's data go through Do. If the call panics, the
// error is a *wireerror.Panic. If it exceeds the graph's time limit, the error is a
// *wireerror.Overdue, which wraps context.DeadlineExceeded.
func (g *Graph) Do(ctx context.Context, actor *access.Actor, name string, call tool.Call, enc encoding.Options) (*encoding.Answer, error) {
	done, err := g.takeTurn(ctx, actor, call) // before the time of the call begins
	if err != nil {
		return nil, g.record.Refused(access.WithActor(ctx, actor), name, wireerror.OutcomeOf(err), err)
	}
	defer done()
	if _, ok := call.(noTimeLimit); !ok {
		timed := limited(ctx, g.limits.Timeout, errLimit)
		defer timed.cancel()
		ctx = timed
	}
	e := encoding.NewWriter(enc, g.memory, g.limits.AnswerBytes)
	commit, err := g.do(ctx, actor, name, call, e)
	if err != nil {
		return nil, err
	}
	return e.Answer(commit), nil
}

// noTimeLimit is implemented by calls that read or write much. The graph's time limit does not
// apply to them.
type noTimeLimit interface{ NoTimeLimit() }

// Turn waits for a slot for the actor in the context and then runs f, which decodes or encodes the
// given number of bytes of JSON. The slots leave one processor free for other callers. If ctx ends
// during the wait, Turn returns the error of ctx and does not run f.
func (g *Graph) Turn(ctx context.Context, bytes int, f func()) error {
	if !textlimit.NeedsSlot(bytes) {
		f()
		return nil
	}
	done, err := g.texts.For(textKey(access.ActorFrom(ctx))).Turn(ctx, bytes)
	if err != nil {
		return err
	}
	defer done()
	f()
	return nil
}

// Render runs f, which turns a text that was sent as an argument into a text for a model. The
// limits of a call apply to f.
func (g *Graph) Render(ctx context.Context, actor *access.Actor, argument, text string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.limits.Timeout, errLimit)
	defer cancel()
	u := g.texts.For(textKey(actor))
	defer u.Release()
	done, err := u.Admit(ctx, argument, text)
	if err != nil {
		return overdue(ctx, err)
	}
	defer done()
	return overdue(ctx, f(ctx))
}

// textKey identifies an actor among the actors that wait for a slot. It takes memory only for an actor of a tenant. The agents of
// an actor share its place, so that more agents get no more slots.
func textKey(a *access.Actor) string {
	switch {
	case a == nil:
		return ""
	case a.Tenant == "":
		return a.ID
	}
	return a.Tenant + "\x00" + a.ID
}

// Report calls [wireerror.Report] with the logger of the graph.
func (g *Graph) Report(ctx context.Context, err error) *wireerror.Fault {
	return wireerror.Report(ctx, g.log, err)
}
