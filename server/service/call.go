package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Answer is the encoded answer of a call.
type Answer struct {
	Head      [][]byte // what stands before JSON, of a long answer with [Encoding.Parts]
	JSON      []byte
	Commit    string // the commit that was read, or the head after a change; empty when none was involved
	Read      bool   // the answer is that of one read
	Truncated bool

	parts parts
}

// Release gives back the memory of a long answer, which is not to be used after it.
func (a *Answer) Release() {
	a.parts.drop()
	a.Head = nil
}

// Call runs the tool called name as MCP does. Besides the errors of the engine it
// returns *UnknownTool, *tool.ArgumentError, *Forbidden, *Oversize and the *Rejected
// of ad-hoc text; [Fault] sorts them.
func (g *Graph) Call(ctx context.Context, actor *Actor, name string, args json.RawMessage, enc Encoding) (*Answer, error) {
	t, err := g.Lookup(ctx, actor, name)
	if err != nil {
		return nil, g.NotKnown(ctx, err)
	}
	var call tool.Call
	if late := g.Turn(ctx, len(args), func() { call, err = decode(actor, t, args) }); late != nil {
		err = late
	}
	if err != nil {
		return nil, g.refused(ctx, name, OutcomeOf(err), err)
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
	call, err := g.invocation(name, in)
	if err != nil {
		return nil, g.refused(ctx, name, OutcomeOf(err), err)
	}
	return g.Do(ctx, actor, name, call, enc)
}

func (g *Graph) invocation(name string, in Invocation) (*tool.StoredCall, error) {
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
	return &tool.StoredCall{Query: q, Args: args, Branch: in.Branch, Knobs: in.Knobs}, nil
}

// Do authorizes a decoded call, runs it and encodes its outcome; name is for the log.
// It is the one way by which anything is read from or written to a graph. A panic
// in the call comes back as a *Panic; one that takes longer than the graph's limit, as
// context.DeadlineExceeded.
func (g *Graph) Do(ctx context.Context, actor *Actor, name string, call tool.Call, enc Encoding) (*Answer, error) {
	if _, ok := call.(unhurried); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.limits.Timeout, errLimit)
		defer cancel()
	}
	enc.Parts = enc.Parts && enc.MaxBytes == 0
	e := &encoder{enc: enc, buf: make([]byte, 0, firstAnswer), parts: parts{memory: g.memory, most: g.limits.AnswerBytes}}
	commit, err := g.do(ctx, actor, name, call, e)
	if err != nil {
		return nil, err
	}
	return &Answer{Head: e.full, parts: e.parts, JSON: e.buf, Commit: commit, Read: e.read, Truncated: e.truncated}, nil
}

// unhurried is implemented by calls that may take as long as their client waits: those
// that read much.
type unhurried interface{ Unhurried() }

// firstAnswer is the room in bytes that an answer starts with: those of lookups fit.
const firstAnswer = 1 << 10

// do is Do into an encoder, so that the calls of a batch share one and its limits. On
// an error it leaves the encoder as it was.
func (g *Graph) do(ctx context.Context, actor *Actor, name string, call tool.Call, e *encoder) (commit string, err error) {
	mark := e.mark()
	ctx, w := g.begin(ctx, actor, name, call, mark)
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{Value: p, Stack: debug.Stack()}
		}
		if err != nil {
			e.reset(mark)
			err = overdue(ctx, err)
		}
		w.commit = commit
		w.end(ctx, e, err)
	}()
	grants, err := g.placed(ctx, actor, call.Grants())
	if err != nil {
		return "", err
	}
	w.asks(grants)
	if err := g.require(actor, grants...); err != nil {
		return "", err
	}
	texts := g.textsOf(actor)
	defer texts.release()
	env := &tool.Env{
		Text: texts.admit, MaxBytes: e.enc.MaxBytes,
		Graph: g.engine, Actor: actorID(actor), GraphID: g.id, Now: tool.Instant(g.now()), Pages: g.pages,
		Queries: func() []tool.StoredQuery { return g.seenQueries(actor) },
		Require: func(grants ...tool.Grant) error { return g.require(actor, grants...) },
	}
	reads := g.readsTargets(actor, grants)
	out, err := call.Run(ctx, env)
	if err != nil {
		if !reads {
			err = withheldOf(grants, err)
		}
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
		w.committed(out.Change.Branch, out.Change.Change.Commit)
	case out.Load != nil:
		commit = out.Load.Result.Head.ID
		err = e.value(loadAnswer(out.Load, actorID(actor)))
		w.committed(out.Load.Branch, out.Load.Result.Commit)
		if w.wrote == nil && out.Load.From != "" && !out.Load.DryRun {
			w.wrote = &tool.Written{Branch: out.Load.Branch} // it was made, and nothing was put on it
		}
	case out.Calls != nil:
		w.batch = true
		err = g.batch(ctx, actor, name, out.Calls, e)
	default:
		commit, err = out.Commit, e.answer(out)
		w.wrote = out.Wrote
	}
	if !reads && w.wrote == nil {
		commit = "" // the head, which another write made
	}
	return commit, err
}

// errLimit is the cause of a context that has ended by the graph's limit.
var errLimit = errors.New("the time limit of calls")

// overdue makes an *Overdue of an error that is there because the context's time is over.
// A deadline that something inside of the call has set for itself is another matter.
func overdue(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, new(*Overdue)) {
		return err
	}
	return &Overdue{Limit: errors.Is(context.Cause(ctx), errLimit), Err: err}
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

func actorID(a *Actor) string {
	if a == nil {
		return ""
	}
	return a.ID
}
