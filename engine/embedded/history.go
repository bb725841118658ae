package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Commits lists the commits of a branch, newest first. If r.Before is not 0, it lists only
// commits with a smaller sequence number. If r.Limit is positive, it lists at most that many.
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	snap, done, err := g.read(ctx, engine.Target{Branch: branch})
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
