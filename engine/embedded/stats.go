package embedded

import (
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// counters count the background work since the graph was opened. failures counts the
// checkpoints and rewrites that failed.
type counters struct{ checkpoints, rewrites, failures atomic.Int64 }

// Stats returns figures about the graph. For a closed graph it returns the last ones.
func (g *Graph) Stats() engine.Stats {
	s := engine.Stats{Branches: g.branches.count(), Commits: int64(g.history.Len()), Calls: g.calls.Count()}
	g.checkpoints.count(&s)
	s.MaxBytes, s.MaxBranches, s.QuotaRefusals = g.opts.MaxBytes, max(0, g.opts.MaxBranches), g.writer.refusals.Load()
	for _, size := range g.store.Sizes() {
		s.Segments++
		s.SegmentBytes += size
	}
	return s
}

// count sets the figures of the log and of the checkpoints.
func (c *checkpoints) count(s *engine.Stats) {
	s.LogBytes = max(0, c.logged.Load())
	s.Checkpoints, s.Rewrites, s.CheckpointFailures = c.counts.checkpoints.Load(), c.counts.rewrites.Load(), c.counts.failures.Load()
}
