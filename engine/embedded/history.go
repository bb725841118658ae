package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// historyBlock is the name of the block that holds commits in a history segment.
const historyBlock = "commits"

// Commits lists the commits of a branch, newest first. If r.Before is not 0, it lists only
// commits with a smaller sequence number. If r.Limit is positive, it lists at most that many.
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	snap, done, err := g.read(ctx, engine.Target{Branch: branch})
	if err != nil {
		return nil, err
	}
	defer done()
	var all []engine.Commit
	g.history.Line(snap.Commit.ID, func(c engine.Commit) bool {
		if r.Before == 0 || c.Seq < r.Before {
			all = append(all, c)
		}
		return (r.Limit <= 0 || len(all) < r.Limit) && ctx.Err() == nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// Commit returns the commit with an id. The error is a *engine.NotFound if the id is unknown or
// its commit is not durable yet.
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	if err := g.enter(ctx); err != nil {
		return engine.Commit{}, err
	}
	defer g.calls.leave()
	c, lsn, ok := g.history.Get(id)
	if !ok || lsn > g.store.Durable() {
		return engine.Commit{}, &engine.NotFound{What: "commit", Name: id}
	}
	return c, nil
}

// storeHistory stores those of the first n commits that are not stored yet. It merges the last
// stored segments into the new one if they are small. all lists the segments that then hold the
// n commits; made lists the segments written by this call.
func (g *Graph) storeHistory(ctx context.Context, n int) (all []version.HistorySegment, made []store.SegmentID, err error) {
	from := 0
	for _, s := range g.stored {
		from += s.N
	}
	if from == n {
		return g.stored, nil, nil
	}
	keep := len(g.stored)
	for keep > 0 && g.stored[keep-1].N < 2*(n-from) {
		keep--
		from -= g.stored[keep].N
	}
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		return w.AddBlock(historyBlock, g.history.AppendHistory(nil, from, n))
	})
	if err != nil {
		return nil, nil, err
	}
	all = append(g.stored[:keep:keep], version.HistorySegment{Name: segmentName(id), N: n - from})
	return all, []store.SegmentID{id}, nil
}
