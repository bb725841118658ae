package embedded

import (
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// counters count the background work since the graph was opened.
type counters struct{ checkpoints, rewrites, failures atomic.Int64 }

// Stats returns figures about the graph. For a closed graph it returns the last ones.
func (g *Graph) Stats() engine.Stats {
	s := engine.Stats{
		Commits: int64(g.history.Len()), Calls: g.calls.count(), LogBytes: max(0, g.logged.Load()),
		Checkpoints: g.counts.checkpoints.Load(), Rewrites: g.counts.rewrites.Load(), CheckpointFailures: g.counts.failures.Load(),
	}
	g.lines.Lock()
	for _, b := range g.lines.sorted {
		if !b.deleted {
			s.Branches++
		}
	}
	g.lines.Unlock()
	for _, size := range g.store.Sizes() {
		s.Segments++
		s.SegmentBytes += size
	}
	return s
}
