package servedgraph

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// LogDigest returns a digest of parts of a request, for log lines that must not contain the
// parts.
func (g *Graph) LogDigest(parts ...[]byte) string { return g.record.Digest(parts...) }

// Recorded calls f, which answers a request that is no call of a tool, such as a list of MCP, and records the request in the audit trail, unless
// f makes a call that is recorded. The subject is what the request asks for; it may be empty. The function `outcome` says how the request
// ended. If f returns an error of [Graph.Withhold], the record has what was denied, and the caller gets the error that it wraps.
func (g *Graph) Recorded(ctx context.Context, name, subject string, outcome func(error) wireerror.Outcome, f func(context.Context) error) error {
	before, ok := g.record.Recorded(ctx)
	start := clock.Now()
	err := g.record.Full(nil)
	if err == nil {
		err = f(ctx)
	}
	ended := outcome(err)
	var denied audit.Denial
	if w, ok := errors.AsType[*withheld](err); ok {
		denied, ended, err = w.Denial, wireerror.Missing, w.err
	}
	if after, _ := g.record.Recorded(ctx); ok && after == before {
		g.record.Request(ctx, access.ActorFrom(ctx), name, subject, denied, ended, err, start)
	}
	return err
}

// Withhold returns the error of a request for something of whose grants the policy denies one or more to the actor. For the caller it is err, which is the same
// as for something that does not exist.
func (g *Graph) Withhold(actor *access.Actor, grants []tool.Grant, err error) error {
	at := max(0, slices.IndexFunc(grants, func(grant tool.Grant) bool { return !g.access.Permitted(actor, grant) }))
	return &withheld{audit.Denial{Action: grants[at].Action, Rules: g.access.Denying(actor, grants)}, err}
}

// withheld is the error of [Graph.Withhold].
type withheld struct {
	audit.Denial
	err error // for the caller
}

func (e *withheld) Error() string { return e.err.Error() }

// Unwrap returns the error for the caller.
func (e *withheld) Unwrap() error { return e.err }

// NotKnown reports a call of a tool by a name that fits no tool that the caller may see. It returns
// err. If the tool exists, the audit trail says what the caller was denied.
func (g *Graph) NotKnown(ctx context.Context, actor *access.Actor, name string, err error) error {
	t, ok := g.tools[name]
	if !ok || !errors.As(err, new(*wireerror.UnknownTool)) {
		return g.record.Refused(ctx, "", wireerror.Missing, err)
	}
	g.record.Hidden(ctx, actor, name, g.deniedGate(ctx, actor, t), wireerror.Missing, err)
	return err
}

// deniedGate returns the action of the first gate of a tool that the actor has on no branch, or else of the last one.
func (g *Graph) deniedGate(ctx context.Context, actor *access.Actor, t tool.Tool) tool.Action {
	action := tool.Read
	if _, ok := t.(metatools.PerCaller); ok {
		return tool.InvokeQuery
	}
	for _, gate := range t.Gates() {
		action = gate.Action
		if allowed, err := g.AllowedSomewhere(ctx, actor, gate); err != nil || !allowed {
			break
		}
	}
	return action
}

// StoredNames returns the names of the graph's tools and stored queries in order. The field Tool of
// an [audit.Called] is one of the returned names or the name of a REST operation.
func (g *Graph) StoredNames() []string {
	var names []string
	for name := range g.tools {
		names = append(names, name)
	}
	for name := range g.queries {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Failure returns nil while the graph accepts writes, or else the reason why it does not.
func (g *Graph) Failure() error { return g.engine.Failure() }

// Stats returns the figures of the graph's engine.
func (g *Graph) Stats() engine.Stats { return g.engine.Stats() }
