package server

import (
	"context"
	"fmt"
	"os"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// embedder returns the embedding provider that a graph's configuration names, or nil if it
// names none. The API key comes from the environment; no error contains it.
func embedder(c *cluster.Embedding) (engine.Embedder, error) {
	if c == nil {
		return nil, nil
	}
	fail := func(err error) (engine.Embedder, error) {
		return nil, fmt.Errorf("embedding provider %s: %w", c.Name, err)
	}
	config := embed.Config{BaseURL: c.BaseURL, Model: c.Model}
	if c.KeyEnv != "" {
		if config.Key = os.Getenv(c.KeyEnv); config.Key == "" {
			return fail(fmt.Errorf("the environment variable %s is not set, but cluster.yaml uses it as api_key; set it", c.KeyEnv))
		}
	}
	switch c.Kind {
	case cluster.EmbedMock:
		return embed.Mock{}, nil
	case cluster.EmbedGemini:
		p, err := embed.NewGemini(config)
		if err != nil {
			return fail(err)
		}
		return p, nil
	case cluster.EmbedOpenAI:
		p, err := embed.NewOpenAI(config)
		if err != nil {
			return fail(err)
		}
		return p, nil
	}
	return fail(fmt.Errorf("the kind %q is unknown", c.Kind))
}

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
	graph string
	set   *observe.Set
}

func (c *countedEmbedder) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	start := clock.Now()
	vectors, err := c.Embedder.Embed(ctx, texts, dim)
	c.set.Embedded(c.graph, len(texts), clock.Since(start), err)
	return vectors, err
}
