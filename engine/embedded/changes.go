package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// Changes compares a commit with its first parent. It returns the counts of all changes, and
// lists at most r.Limit of them after r.After. The error is a *engine.NotFound if the commit
// cannot be reached. Restoring the two states may take long; after that, the time is
// proportional to the changes plus one check per page of 256 entities.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (_ *engine.Changes, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	was, is, err := g.before(ctx, commit)
	if err != nil {
		return nil, err
	}
	d := g.partRead.Load()
	if d == nil || !d.Between(was, is) {
		if d, err = version.Compare(ctx, was, is); err != nil {
			return nil, err
		}
	}
	out := &engine.Changes{Commit: is.Commit, Nodes: d.Nodes, Edges: d.Edges}
	out.List, out.More, err = d.Page(&r)
	if err != nil {
		return nil, err
	}
	if n := d.Len(); out.More && minPartRead <= n && n <= maxPartRead {
		if g.partRead.Swap(d) != d {
			time.AfterFunc(partReadTime, func() { g.partRead.CompareAndSwap(d, nil) })
		}
	} else if !out.More {
		g.partRead.CompareAndSwap(d, nil)
	}
	return out, nil
}

// A difference that was read in part is kept for the next page if its number of changed entities is
// between these bounds. A small difference is computed fast, and a large one takes too much memory.
const (
	minPartRead = 1_000
	maxPartRead = 2_000_000
)

// partReadTime is how long such a difference is kept. It keeps its two states, and so their segments,
// and most readers of a first page never ask for the next one.
const partReadTime = time.Minute

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
