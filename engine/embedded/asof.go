package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// This file is about reads of the past by an instant. No commit has a time before that of a parent, so the
// commits up to an instant are the older part of a line.

// errNoPast is the error of a read of a preview that says as of when.
var errNoPast = &engine.BadArgument{Param: "query", Detail: "the result of a merge that was not made has no past; leave as of out"}

// pinned returns the target of a read, as the commit to read if the query says as of when.
func (g *Graph) pinned(ctx context.Context, at engine.Target, q *plan.Query, args engine.Args) (engine.Target, error) {
	if q.AsOf == nil {
		return at, nil
	}
	args, err := ir.CheckArgs(q.Params, args)
	if err != nil {
		return at, err
	}
	// The target may have an instant of its own, which then limits the commits first.
	snap, err := g.snapshot(ctx, at)
	if err != nil {
		return at, err
	}
	if at.Commit != "" || !at.AsOf.IsZero() {
		at.Commit, at.AsOf = snap.Commit.ID, time.Time{}
	}
	at.AsOf = q.Instant(args)
	return at, nil
}

// withInstant returns the target with an instant if the query says as of when, for a Follower, which must read its log for it.
func withInstant(at engine.Target, q *plan.Query, args engine.Args) engine.Target {
	if q.AsOf != nil {
		at.AsOf = q.Instant(args)
	}
	return at
}

// commitAsOf returns the id of the commit that a target with an instant selects. It waits for commits in flight
// up to that instant.
func (g *Graph) commitAsOf(ctx context.Context, b *branch, at engine.Target) (string, error) {
	if at.AsOf.After(g.opts.time()) {
		return "", &engine.BadArgument{Param: "snapshot", Detail: "the instant " + at.AsOf.UTC().Format(time.RFC3339Nano) + " is in the future, so commits before it may still be made; name one that has passed"}
	}
	if fault.On(fault.AsOfBefore) {
		at.AsOf = at.AsOf.Add(-time.Microsecond)
	}
	from := at.Commit
	switch {
	case from == "":
		from = b.latest()
	case !g.restorer.reachable(from):
		return "", &engine.NotFound{What: "commit", Name: from}
	}
	id := g.history.AsOf(from, at.AsOf)
	if id == "" {
		return "", &engine.NotFound{What: "commit at or before", Name: at.AsOf.UTC().Format(time.RFC3339Nano)}
	}
	if _, lsn, _ := g.history.Get(id); lsn > g.store.Durable() {
		return id, b.waitDurable(ctx, lsn)
	}
	return id, nil
}
