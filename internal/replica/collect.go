package replica

import (
	"cmp"
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// collectorRounds is how often, during one retention, the writer of a graph looks for objects to
// delete.
const collectorRounds = 24

// collect regularly deletes the objects that the graph has not needed for the retention, while this
// server writes the graph. The readers could do it as well, but one server is enough.
func (g *Graph) collect(ctx context.Context) {
	ticker := time.NewTicker(g.storage.collectEvery())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := g.current.Load()
		if now.written == nil {
			g.pinned.Store(0) // only the writer spares segments
			continue
		}
		g.collectOnce(ctx, now, 0)
	}
}

// collectEvery returns the time between two garbage collections of a graph.
func (s *Storage) collectEvery() time.Duration {
	retention := max(cmp.Or(s.Retention, sharedlog.DefaultRetention), 0)
	return max(retention/collectorRounds, s.Node.tick())
}

// collectOnce deletes objects of a graph that this server writes, unless it began to do so within the
// time `pause` before.
func (g *Graph) collectOnce(ctx context.Context, now *copied, pause time.Duration) {
	g.collecting.Lock()
	defer g.collecting.Unlock()
	if clock.Now().Sub(g.collectedAt) < pause {
		return
	}
	g.collectedAt = clock.Now()
	n, err := now.written.Collect(ctx)
	g.collected.Add(int64(n.Deleted()))
	g.pinned.Store(int64(n.Pinned))
	if ctx.Err() != nil || now.leaving.Load() {
		return // another server, or the next start, goes on
	}
	if report := g.storage.Collected; report != nil && (err != nil || n != embedded.Collected{}) {
		report(g.id, n, err)
	}
}

// needs returns what this server needs of the graph, for its sign.
func (g *Graph) needs() uint64 {
	now := g.current.Load()
	switch {
	case now.follower != nil:
		return now.follower.Needs()
	case now.written != nil:
		return now.written.Needs()
	}
	return 0
}

// needed returns the least number that the servers state as Needs of a graph in their signs, or 0 if
// there is none.
func (s *Storage) needed(ctx context.Context, graph string) (oldest uint64, err error) {
	signs, err := Signs(ctx, s.Bucket)
	if err != nil {
		return 0, err
	}
	for _, sign := range signs {
		oldest = older(oldest, sign.Graphs[graph].Needs)
	}
	return oldest, nil
}
