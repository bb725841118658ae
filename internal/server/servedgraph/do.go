package servedgraph

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// running is a call on its way through the graph. Its methods that take a context are the steps of [Graph.do], in
// the order of this file.
type running struct {
	g      *Graph
	actor  *access.Actor
	name   string // of the tool in the log
	call   tool.Call
	stored bool // whether the call runs a stored query
	out    *encoding.Writer
	record *audit.Watch

	confirmer Confirmer                          // confirms the steps of the call; nil if none needs a confirmation
	settle    func(context.Context, error) error // confirms the role of the server after a write; nil if there is nothing to confirm
	needs     []tool.Need                        // the permissions that the call needs
	names     *branchResolver                    // the branches that the names in them stand for
	grants    []tool.Grant                       // the grants on those branches
	finish    func(error)                        // ends the use of the branches; nil before open
	texts     *textlimit.Use                     // limits the compilation of texts from the call
	env       *tool.Env
	reads     bool // whether the actor may read what the grants name, and as much of it as the call does
	own       bool // whether queries of the actor's own read as much as the call; a stored query may read more
	part      bool // whether the actor may read or change a part of the graph only
}

// do works like Do but writes to a given writer, so that the calls of a batch share one
// writer and its limits. If it fails, it resets the writer.
func (g *Graph) do(ctx context.Context, actor *access.Actor, name string, call tool.Call, e *encoding.Writer) (commit string, err error) {
	mark := e.Mark()
	r := &running{g: g, actor: actor, name: name, call: call, out: e}
	_, r.stored = call.(*queryrun.Call)
	r.confirmer, _ = ctx.Value(confirmerKey{}).(Confirmer)
	if w, ok := call.(*operations.ReadWatch); !ok || w.Webhook == "" {
		g.noteOwner(actor)
	}
	ctx, r.record = g.record.Begin(ctx, actor, name, call, e)
	r.settle = g.settler(ctx, call)
	defer func() {
		if p := recover(); p != nil {
			err = &wireerror.Panic{Value: p, Stack: debug.Stack()}
		} else if r.settle != nil && !r.record.Changed() {
			err = r.settle(ctx, err)
		}
		if err != nil {
			e.Reset(mark)
			err = overdue(ctx, err)
			if r.part {
				err = withoutFigures(err)
			}
		}
		r.record.End(ctx, commit, err)
		if r.record.Changed() {
			g.hookWoken()
		}
	}()
	defer func() {
		if r.finish != nil {
			r.finish(err)
		}
		if r.names != nil {
			r.names.release()
		}
	}()
	if err := g.record.Full(call); err != nil {
		return "", err
	}
	if err := r.place(ctx); err != nil {
		return "", err
	}
	if err := r.authorize(ctx); err != nil {
		return "", err
	}
	if err := r.open(ctx); err != nil {
		return "", err
	}
	if err := r.restrict(ctx); err != nil {
		return "", err
	}
	r.texts = g.texts.For(textKey(actor))
	defer r.texts.Release()
	out, err := r.run(ctx)
	if err != nil {
		return "", err
	}
	return r.write(ctx, out)
}

// place finds the branches that the names in the needs stand for.
func (r *running) place(ctx context.Context) (err error) {
	r.needs = r.call.Needs()
	r.names, err = r.g.place(ctx, r.actor, r.call, r.needs)
	return err
}

// authorize requires the grants.
func (r *running) authorize(ctx context.Context) (err error) {
	if r.grants, err = r.names.grants(ctx, r.needs); err != nil {
		return err
	}
	r.record.RecordGrants(r.grants)
	if err := r.g.access.Require(r.actor, r.grants...); err != nil {
		r.record.RecordDenial(err, r.g.access.Denying(r.actor, r.grants))
		return r.names.missing(ctx, r.grants, err)
	}
	if r.record.Kept() {
		r.record.RecordAllowed(r.g.access.Allowing(r.actor, r.grants))
	}
	return nil
}

// open opens the draft that the call may need, and makes the environment of the call.
func (r *running) open(ctx context.Context) (err error) {
	g, names := r.g, r.names
	if r.finish, err = names.openDraft(ctx); err != nil {
		return err
	}
	if names.pending != nil { // the draft now has a name
		if r.grants, err = names.grants(ctx, r.needs); err != nil {
			return err
		}
	}
	r.record.RecordBypass(g.access.Bypassed(r.grants))
	safe, texted := r.out.Integers()
	r.env = &tool.Env{
		Server: r, SafeIntegers: safe, StringIntegers: texted, MaxBytes: r.out.MaxBytes(), RunTool: g.runTool(),
		Graph: g.engine, Drafts: names, Actor: r.actor.Name(), PageOwner: r.actor.Key(), Groups: access.GroupsOf(r.actor), Checks: g.checks,
		Caller: access.CallerOf(r.actor), Claims: g.claims, Source: g.source,
		GraphID: g.id, Now: pagetoken.Instant(g.now()), PageTokens: g.pages,
	}
	if r.stored { // the tool of a stored query proposes a message; the names of built-in tools say little
		r.env.Message = r.name
		if by := r.name + " by " + r.actor.Name(); r.actor.Name() != "" && engine.CheckMessage(by) == nil {
			r.env.Message = by
		}
	}
	r.reads, r.own = g.access.ReadsTargets(r.actor, r.grants), true
	return nil
}

// run runs the call. An error says no more than the actor may read, and suggests what the actor may do.
func (r *running) run(ctx context.Context) (*tool.Outcome, error) {
	out, err := r.runPlanned(ctx)
	if err == nil {
		return out, nil
	}
	err = r.g.withSetting(err)
	if !r.reads {
		usesStored := r.stored && r.call.(*queryrun.Call).Query.Plan().Mutation.UsesStored()
		err = access.Withheld(r.grants, usesStored, err)
	}
	return nil, r.g.suggestBranch(ctx, r.actor, r.g.access.HelpFor(r.actor, err))
}

// write records the outcome and writes the answer. It returns the commit that the answer is about, or "" if the actor
// must not know it.
func (r *running) write(ctx context.Context, out *tool.Outcome) (commit string, err error) {
	r.record.RecordWrite(out)
	if out.Wrote != nil && out.Wrote.Bypassed {
		r.record.RecordBypass(out.Wrote.Branch)
	}
	if out.Calls != nil {
		r.settle = nil // each of the calls has its own
		r.record.MarkBatch()
		return "", r.g.batch(ctx, r.actor, r.name, out.Calls, r.out)
	}
	if out.Read != nil {
		defer out.Read.Result.Close()
	}
	commit, err = r.out.Outcome(ctx, r.env, out, r.reads)
	var large *wireerror.Oversize
	if r.stored && errors.As(err, &large) {
		large.Stored = true
	}
	if !r.reads && !r.record.Changed() {
		commit = "" // commit is the id of the head, which another write made
	}
	return commit, err
}

// batch runs the calls and writes {"results": […]}, with the answer or the fault of each
// call at its index. An operational fault ends the batch, because the next call would fail
// in the same way.
func (g *Graph) batch(ctx context.Context, actor *access.Actor, name string, calls []tool.Call, e *encoding.Writer) error {
	e.Raw(`{"results":[`)
	for i, call := range calls {
		if i > 0 {
			e.Raw(",")
		}
		if _, err := g.do(ctx, actor, name, call, e); err != nil {
			fault := wireerror.Explain(err)
			if fault.Operational {
				return err
			}
			if e.ForModel() {
				fault.Body.Diagnostics = nil // the message already has the same faults, with the lines of the text
			}
			if err := e.Value(fault.Body); err != nil {
				return err
			}
		}
	}
	e.Raw("]}")
	return nil
}

// errLimit is the cause of a context that ended at the graph's time limit.
var errLimit = errors.New("the call reached the time limit of the graph")

// overdue wraps err in a *wireerror.Overdue if the deadline of ctx caused err. If err comes from a
// shorter deadline that a part of the call set for itself, overdue returns err unchanged.
func overdue(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, new(*wireerror.Overdue)) {
		return err
	}
	return &wireerror.Overdue{Limit: errors.Is(context.Cause(ctx), errLimit), Err: err}
}
