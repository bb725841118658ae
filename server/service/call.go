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
	Head      [][]byte // parts of a long answer that precede JSON; see [Encoding.Parts]
	JSON      []byte
	Commit    string // the commit read, or the head after a change; empty if there is none
	Read      bool   // the answer is that of a single read
	Truncated bool

	parts parts
}

// Release frees the memory of a long answer. The answer must not be used afterwards.
func (a *Answer) Release() {
	a.parts.drop()
	a.Head = nil
}

// Call runs the named tool with JSON arguments, as MCP does. In addition to the errors of
// the engine it returns *UnknownTool, *tool.ArgumentError, *Forbidden, *Oversize and, for
// ad-hoc text, *Rejected. [Explain] classifies them.
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

// Invocation is the call of a stored query by its query name.
type Invocation struct {
	Params         json.RawMessage // nil, null or an object
	Branch         string          // empty for main
	Knobs          tool.Knobs
	ExpectMutation *bool // if set, the query must be a mutation (true) or a read (false)
}

// InvokeQuery runs a stored query by its query name, even if the query is hidden. If the
// actor lacks the grant to invoke it, the error is the same *engine.NotFound as for an
// unknown query.
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
		in.Knobs.IdempotencyKey = "" // a client may send a key with every call; repeating a read is safe
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

// Do authorizes a decoded call, runs it and encodes its outcome. name is the tool's name in
// the log. All reads and writes of a graph's data go through Do. A panic in the call is
// returned as a *Panic. A call that exceeds the graph's time limit returns an *Overdue,
// which wraps context.DeadlineExceeded.
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

// unhurried is implemented by calls that the graph's time limit does not apply to, because
// they read or write much.
type unhurried interface{ Unhurried() }

// firstAnswer is the initial capacity of an answer in bytes. It is enough for a lookup.
const firstAnswer = 1 << 10

// do works like Do but writes to a given encoder, so that the calls of a batch share one
// encoder and its limits. If it fails, it restores the encoder.
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
			w.wrote = &tool.Written{Branch: out.Load.Branch} // the branch was created but no data was loaded
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

// errLimit is the cause of a context that ended at the graph's time limit.
var errLimit = errors.New("the time limit of calls")

// overdue wraps err in an *Overdue if the deadline of ctx caused it. It leaves errors of
// other deadlines, which a part of the call set for itself, unchanged.
func overdue(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, new(*Overdue)) {
		return err
	}
	return &Overdue{Limit: errors.Is(context.Cause(ctx), errLimit), Err: err}
}

// batch runs the calls and writes {"results": […]}, with the answer or the fault of each
// call at its index. An operational fault ends the batch, because the next call would fail
// in the same way.
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
