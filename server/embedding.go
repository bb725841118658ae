package server

import (
	"fmt"
	"os"

	"github.com/omnigraph-go/omnigraph/engine/embed"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/server/cluster"
)

// embedder makes the provider that a graph's configuration names, nil for none. The
// secret comes from the environment, and is in no error.
func embedder(c *cluster.Embedding) (embedded.Embedder, error) {
	if c == nil {
		return nil, nil
	}
	fail := func(err error) (embedded.Embedder, error) {
		return nil, fmt.Errorf("embedding provider %s: %w", c.Name, err)
	}
	config := embed.Config{BaseURL: c.BaseURL, Model: c.Model}
	if c.KeyEnv != "" {
		if config.Key = os.Getenv(c.KeyEnv); config.Key == "" {
			return fail(fmt.Errorf("the environment variable %s is not set; cluster.yaml names it as the api_key", c.KeyEnv))
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
	return fail(fmt.Errorf("its kind is %q", c.Kind))
}
