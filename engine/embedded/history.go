package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Commits lists the commits of a branch, newest first. If r.Before is not 0, it lists only
// commits with a smaller sequence number. If r.Limit is positive, it lists at most that many.
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	snap, done, err := g.read(ctx, engine.Target{Branch: branch}, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []engine.Commit
	first := snap.Commit.ID
	if r.Before > 0 && r.Before <= snap.Commit.Seq {
		if first = g.history.Before(first, snap.Commit.Seq-r.Before+1); first == "" {
			return nil, nil
		}
	}
	g.history.Line(first, func(c engine.Commit) bool {
		all = append(all, c)
		return (r.Limit <= 0 || len(all) < r.Limit) && ctx.Err() == nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// Commit returns the commit with an id. When it returns, the branch of the commit shows it to
// readers. The error is a *engine.NotFound if the id is unknown or its commit is not durable yet.
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	if err := g.enter(ctx); err != nil {
		return engine.Commit{}, err
	}
	defer g.calls.Leave()
	c, lsn, ok := g.history.Get(id)
	if !ok || lsn > g.store.Durable() {
		return engine.Commit{}, &engine.NotFound{What: "commit", Name: id}
	}
	return c, g.branches.waitShown(ctx, c.Branch, lsn)
}

// Changes compares a commit with its first parent. It returns the counts of all changes unless r.Uncounted is set, and
// lists at most r.Limit of them after r.After. The error is a *engine.NotFound if the commit
// cannot be reached. Restoring the two states may take long; after that, the time is
// proportional to the changes plus one check per page of 256 entities.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (_ *engine.Changes, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	was, is, err := g.before(ctx, commit)
	if err != nil {
		return nil, err
	}
	seen, err := g.sides(ctx, []*version.Snapshot{was, is}, []*engine.Rights{r.Rights, r.Rights})
	if err == nil {
		err = g.checkSeen(ctx, seen, nil)
	}
	if err != nil {
		return nil, err
	}
	part := g.partBetween(was, is)
	out := &engine.Changes{Commit: is.Commit}
	if !r.Uncounted {
		counts, err := part.Counts(ctx)
		if err != nil {
			return nil, err
		}
		out.Nodes, out.Edges = counts.Nodes, counts.Edges
	}
	out.List, out.More, err = part.Page(ctx, &r)
	if err != nil {
		return nil, err
	}
	g.keepPart(part, out.More)
	seen.Show(out.List)
	return out, nil
}

// minPartRead is the least number of candidates for which a difference is kept. Those of a smaller
// one are found fast.
const minPartRead = 1_000

// partReadTime is how long a graph keeps a difference that was read in part. It keeps the two states, and
// so their segments, and most readers of a first page never ask for the next one.
const partReadTime = time.Minute

// partBetween returns the difference between two states: the kept one if it is between them, or else a
// new one. The earlier state may be nil.
func (g *Graph) partBetween(was, is *version.Snapshot) *version.Difference {
	if p := g.partRead.Load(); p != nil && p.Between(was, is) {
		return p
	}
	return version.Compare(was, is)
}

// keepPart keeps a difference for the next page if it is large and has more changes. Otherwise the
// graph forgets it. The graph keeps one difference.
func (g *Graph) keepPart(p *version.Difference, more bool) {
	if !more || p.Found() < minPartRead {
		g.partRead.CompareAndSwap(p, nil)
	} else if g.partRead.Swap(p) != p {
		time.AfterFunc(partReadTime, func() { g.partRead.CompareAndSwap(p, nil) })
	}
}

// before returns two states: that of the commit's first parent (nil for the first commit) and that
// of the commit.
func (g *Graph) before(ctx context.Context, commit string) (was, is *version.Snapshot, err error) {
	if !g.restorer.reachable(commit) {
		return nil, nil, &engine.NotFound{What: "commit", Name: commit}
	}
	c, _, _ := g.history.Get(commit)
	if len(c.Parents) > 0 {
		if was, err = g.restorer.state(ctx, c.Parents[0]); err != nil {
			return nil, nil, err
		}
	}
	// The commit's state is in memory, or it is restored from the state of the commit's parent,
	// which is in memory.
	is, err = g.restorer.state(ctx, commit)
	return was, is, err
}

// The methods below read the past by an instant. No commit has a time before that of a parent, so the
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
