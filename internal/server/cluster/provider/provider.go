// Package provider makes the embedding providers that cluster.yaml describes.
package provider

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// New returns the embedding provider in a graph's configuration, or nil if the configuration has
// none. The API key comes from the environment; no error contains it.
func New(c *cluster.Embedding) (engine.Embedder, error) {
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

// OnUse is like [New], but makes the provider when the first text is embedded. A command that
// embeds nothing then needs no API key. It returns nil if c is nil.
func OnUse(c *cluster.Embedding) engine.Embedder {
	if c == nil {
		return nil
	}
	return &onUse{config: c, provider: sync.OnceValues(func() (engine.Embedder, error) { return New(c) })}
}

// onUse is an engine.Embedder that makes its provider when it is first used.
type onUse struct {
	config   *cluster.Embedding              // describes the provider
	provider func() (engine.Embedder, error) // makes the provider once
}

// Model returns the name of the model. It does not make the provider.
func (u *onUse) Model() string {
	if u.config.Kind == cluster.EmbedMock {
		return embed.MockModel
	}
	return u.config.Model
}

// Embed makes the provider if this is the first call, and embeds the texts.
func (u *onUse) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	p, err := u.provider()
	if err != nil {
		return nil, err
	}
	return p.Embed(ctx, texts, dim)
}
