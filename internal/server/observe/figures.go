package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/omnigraph-go/omnigraph/engine"
)

// figures are the metrics that come from the engine of a graph.
var figures = []struct {
	metric int
	of     func(*engine.Stats) float64
}{
	{graphBranches, func(s *engine.Stats) float64 { return float64(s.Branches) }},
	{graphCommits, func(s *engine.Stats) float64 { return float64(s.Commits) }},
	{graphCalls, func(s *engine.Stats) float64 { return float64(s.Calls) }},
	{graphSegments, func(s *engine.Stats) float64 { return float64(s.Segments) }},
	{graphSegmentBytes, func(s *engine.Stats) float64 { return float64(s.SegmentBytes) }},
	{graphLogBytes, func(s *engine.Stats) float64 { return float64(s.LogBytes) }},
	{graphQuotaBytes, func(s *engine.Stats) float64 { return float64(s.MaxBytes) }},
	{graphQuotaBranches, func(s *engine.Stats) float64 { return float64(s.MaxBranches) }},
	{graphQuotaRefusals, func(s *engine.Stats) float64 { return float64(s.QuotaRefusals) }},
	{graphCheckpoints, func(s *engine.Stats) float64 { return float64(s.Checkpoints) }},
	{graphRewrites, func(s *engine.Stats) float64 { return float64(s.Rewrites) }},
	{graphCheckpointFailures, func(s *engine.Stats) float64 { return float64(s.CheckpointFailures) }},
}

// sharedFigures are the metrics of graphs in shared storage.
var sharedFigures = []struct {
	metric int
	of     func(*engine.SharedStats) float64
}{
	{graphOpen, func(s *engine.SharedStats) float64 { return oneIf(s.Open) }},
	{graphWriter, func(s *engine.SharedStats) float64 { return oneIf(s.Writer) }},
	{graphEpoch, func(s *engine.SharedStats) float64 { return float64(s.Epoch) }},
	{graphLag, func(s *engine.SharedStats) float64 { return s.Lag.Seconds() }},
	{graphCacheBytes, func(s *engine.SharedStats) float64 { return float64(s.CacheBytes) }},
	{graphCollected, func(s *engine.SharedStats) float64 { return float64(s.Collected) }},
	{graphPinned, func(s *engine.SharedStats) float64 { return float64(s.Pinned) }},
}

// oneIf returns 1 if a condition holds, and 0 otherwise.
func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// graphFigures asks the engines for their figures each time the metrics are collected.
type graphFigures struct{ set *Set }

// desc returns the description of metric m of the table.
func (c *graphFigures) desc(m int) *prometheus.Desc {
	return prometheus.NewDesc(Metrics[m].Name, Metrics[m].Help, Metrics[m].Labels, nil)
}

// value returns the value of metric m of the table for a graph.
func (c *graphFigures) value(m int, v float64, graph string) prometheus.Metric {
	kind := prometheus.GaugeValue
	if Metrics[m].Kind == Counter {
		kind = prometheus.CounterValue
	}
	return prometheus.MustNewConstMetric(c.desc(m), kind, v, graph)
}

// Describe implements prometheus.Collector.
func (c *graphFigures) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range figures {
		ch <- c.desc(f.metric)
	}
	for _, f := range sharedFigures {
		ch <- c.desc(f.metric)
	}
}

// Collect implements prometheus.Collector. It sends one value for each figure of each graph.
func (c *graphFigures) Collect(ch chan<- prometheus.Metric) {
	c.set.mu.RLock()
	graphs := c.set.graphs
	c.set.mu.RUnlock()
	for _, g := range graphs {
		s := g.Stats()
		for _, f := range figures {
			ch <- c.value(f.metric, f.of(&s), g.ID())
		}
		if s.Shared == nil {
			continue
		}
		for _, f := range sharedFigures {
			ch <- c.value(f.metric, f.of(s.Shared), g.ID())
		}
	}
}
