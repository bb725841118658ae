package server

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// counted wraps a provider so that the metrics count its calls; it returns nil for nil.
func counted(p engine.Embedder, graph string, set *observe.Set) engine.Embedder {
	if p == nil {
		return nil
	}
	return &countedEmbedder{p, graph, set}
}

// countedEmbedder counts the calls of an embedding provider in the metrics.
type countedEmbedder struct {
	engine.Embedder
	graph string       // name of the graph in the metrics
	set   *observe.Set // counts the calls
}

// Embed embeds the texts and counts the call.
func (c *countedEmbedder) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	start := clock.Now()
	vectors, err := c.Embedder.Embed(ctx, texts, dim)
	c.set.CountEmbedding(c.graph, len(texts), clock.Since(start), err)
	return vectors, err
}
