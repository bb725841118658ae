package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Answer is the encoded answer of a call.
type Answer struct {
	JSON      []byte
	Commit    string // the commit that was read, or the head after a change; empty when none was involved
	Read      bool   // the answer is that of one read
	Truncated bool
}

// Call runs the tool called name as MCP does. Besides the errors of the engine it
// returns *UnknownTool, *tool.ArgumentError, *Forbidden, *Oversize and the *Rejected
// of ad-hoc text; [Fault] sorts them.
func (g *Graph) Call(ctx context.Context, actor *Actor, name string, args json.RawMessage, enc Encoding) (*Answer, error) {
	t, err := g.Lookup(ctx, actor, name)
	if err != nil {
		return nil, err
	}
	call, err := decode(actor, t, args)
	if err != nil {
		return nil, err
	}
	if c, ok := call.(*tool.StoredCall); ok {
		name = c.Query.Descriptor().Name
	}
	return g.Do(ctx, actor, name, call, enc)
}

func decode(actor *Actor, t tool.Tool, args json.RawMessage) (tool.Call, error) {
	if t, ok := t.(perCaller); ok {
		return t.decodeFor(actor, args)
	}
	return t.Decode(args)
}

// Invocation is how a stored query is called by its query name.
type Invocation struct {
	Params         json.RawMessage // nil, null or an object
	Branch         string          // empty for main
	Knobs          tool.Knobs
	ExpectMutation *bool // when set, the query must be a mutation, or a read
}

// InvokeQuery runs a stored query by the query's name, hidden ones included. Without
// the grant to invoke it the query is the same *engine.NotFound as an unknown one.
func (g *Graph) InvokeQuery(ctx context.Context, actor *Actor, name string, in Invocation, enc Encoding) (*Answer, error) {
	if err := g.Invocable(actor, name); err != nil {
		return nil, err
	}
	q := g.queries[name]
	if want := in.ExpectMutation; want != nil && *want != q.Info().Mutation {
		kind := map[bool]string{false: "a read", true: "a mutation"}
		return nil, &tool.ArgumentError{Path: "expect_mutation", Detail: fmt.Sprintf("found %t, but %s is %s", *want, name, kind[q.Info().Mutation])}
	}
	if !q.Info().Mutation {
		in.Knobs.IdempotencyKey = "" // a client may send one with everything, and a read may be repeated as it is
	}
	if err := in.Knobs.Check(q.Info().Mutation, in.Branch); err != nil {
		return nil, err
	}
	args, err := q.DecodeParams(in.Params)
	if err != nil {
		var a *tool.ArgumentError
		if errors.As(err, &a) {
			return nil, a.Under("params")
		}
		return nil, err
	}
	return g.Do(ctx, actor, name, &tool.StoredCall{Query: q, Args: args, Branch: in.Branch, Knobs: in.Knobs}, enc)
}

// Do authorizes a decoded call, runs it and encodes its outcome; name is for the log.
// It is the one way by which anything is read from or written to a graph. A panic
// in the call comes back as a *Panic; one that takes longer than the graph's limit, as
// context.DeadlineExceeded.
func (g *Graph) Do(ctx context.Context, actor *Actor, name string, call tool.Call, enc Encoding) (*Answer, error) {
	if _, ok := call.(unhurried); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.limits.Timeout)
		defer cancel()
	}
	e := &encoder{enc: enc, buf: make([]byte, 0, firstAnswer)}
	commit, err := g.do(ctx, actor, name, call, e)
	if err != nil {
		return nil, err
	}
	return &Answer{JSON: e.buf, Commit: commit, Read: e.read, Truncated: e.truncated}, nil
}

// unhurried is implemented by calls that may take as long as their client waits: those
// that read much.
type unhurried interface{ Unhurried() }

// firstAnswer is the room in bytes that an answer starts with: those of lookups fit.
const firstAnswer = 1 << 10

// do is Do into an encoder, so that the calls of a batch share one and its limits. On
// an error it leaves the encoder as it was.
func (g *Graph) do(ctx context.Context, actor *Actor, name string, call tool.Call, e *encoder) (commit string, err error) {
	start, mark := time.Now(), e.mark()
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{Value: p, Stack: debug.Stack()}
		}
		if err != nil {
			e.reset(mark)
		}
	}()
	grants, err := g.placed(ctx, actor, call.Grants())
	if err != nil {
		return "", err
	}
	if err := g.require(actor, grants...); err != nil {
		return "", err
	}
	env := &tool.Env{
		Graph: g.engine, Actor: actorID(actor), GraphID: g.id, Now: tool.Instant(g.now()), Pages: g.pages,
		Queries: func() []tool.StoredQuery { return g.seenQueries(actor) },
		Require: func(grants ...tool.Grant) error { return g.require(actor, grants...) },
	}
	out, err := call.Run(ctx, env)
	if err != nil {
		return "", g.helpFor(actor, err)
	}
	switch {
	case out.Read != nil:
		defer out.Read.Result.Close()
		commit, err = out.Read.Result.Commit(), e.rowsAnswer(ctx, env, out.Read)
		e.read = true
	case out.Change != nil:
		commit = out.Change.Change.Head.ID
		e.changeAnswer(out.Change, actorID(actor))
		g.audit(ctx, actor, name, out.Change.Branch, out.Change.Change.Commit, time.Since(start))
	case out.Load != nil:
		commit = out.Load.Result.Head.ID
		err = e.value(loadAnswer(out.Load, actorID(actor)))
		g.audit(ctx, actor, name, out.Load.Branch, out.Load.Result.Commit, time.Since(start))
	case out.Calls != nil:
		err = g.batch(ctx, actor, name, out.Calls, e)
	default:
		commit, err = out.Commit, e.value(out.Value)
		if w := out.Wrote; w != nil {
			g.log.InfoContext(ctx, "write", "tool", name, "actor", actorID(actor), "branch", w.Branch, "commit", commitID(w.Commit), "duration", time.Since(start))
		}
	}
	if g.log.Enabled(ctx, slog.LevelDebug) {
		g.log.DebugContext(ctx, "call", "tool", name, "actor", actorID(actor), "commit", commit, "duration", time.Since(start))
	}
	return commit, err
}

// batch answers each call at its index, {"results": […]}, faults in place. An
// operational fault, which the next call would meet too, ends the whole.
func (g *Graph) batch(ctx context.Context, actor *Actor, name string, calls []tool.Call, e *encoder) error {
	e.buf = append(e.buf, `{"results":[`...)
	for i, call := range calls {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if _, err := g.do(ctx, actor, name, call, e); err != nil {
			fault := Explain(err)
			if fault.Operational {
				return err
			}
			if err := e.value(fault.Body); err != nil {
				return err
			}
		}
	}
	e.buf = append(e.buf, "]}"...)
	return nil
}

// audit logs a write. A write that changed nothing made no commit and is no event.
func (g *Graph) audit(ctx context.Context, actor *Actor, name, branch string, c *engine.Commit, took time.Duration) {
	if c != nil {
		g.log.InfoContext(ctx, "write", "tool", name, "actor", actorID(actor), "branch", branch, "commit", c.ID, "duration", took)
	}
}

func actorID(a *Actor) string {
	if a == nil {
		return ""
	}
	return a.ID
}
