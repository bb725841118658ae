package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"

	"al.essio.dev/pkg/shellescape"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/provider"
)

// openStore opens the local graph that the flags name. It uses the embedding provider that the
// cluster.yaml in the current folder names for the graph. If the graph embeds texts and
// cluster.yaml has faults, openStore opens the graph without a provider and writes a note to
// `notes`.
func (e *endpoint) openStore(ctx context.Context, notes io.Writer) (*embedded.Graph, error) {
	cfg, faults := cluster.Read(clusterFile)
	if errors.Is(faults, iofs.ErrNotExist) {
		cfg, faults = &cluster.Config{}, nil
	}
	var embedder engine.Embedder
	found := false
	if cfg != nil {
		if c := e.configured(cfg); c != nil {
			embedder, found = provider.OnUse(c.Embedding), true
		}
	}
	g, err := openFolder(ctx, e.store, embedder)
	if err != nil || found {
		return g, err
	}
	schema, err := g.Schema(ctx, engine.Target{})
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if faults != nil {
		if embeds(schema.Catalog) {
			fmt.Fprintf(notes, "omnigraph: %s has errors, so this command works without an embedding provider; run omnigraph cluster validate to see the errors\n", clusterFile)
		}
		return g, nil
	}
	for i := range cfg.Graphs {
		c := &cfg.Graphs[i]
		if c.Embedding == nil || digestOf(c) != schema.Digest {
			continue
		}
		// A provider can only be set when a graph is opened, so open the graph again.
		if err := g.Close(); err != nil {
			return nil, err
		}
		return openFolder(ctx, e.store, provider.OnUse(c.Embedding))
	}
	return g, nil
}

// configured returns the graph in cluster.yaml that --graph names. Without --graph, it returns the
// graph whose folder is the store. It returns nil if there is no such graph.
func (e *endpoint) configured(cfg *cluster.Config) *cluster.Graph {
	if e.graph != "" {
		return cfg.Graph(e.graph)
	}
	store, err := os.Stat(e.store)
	if err != nil {
		return nil // opening the store reports this
	}
	for i := range cfg.Graphs {
		folder, err := os.Stat(filepath.Join(cfg.Storage, cfg.Graphs[i].ID))
		if err == nil && os.SameFile(store, folder) {
			return &cfg.Graphs[i]
		}
	}
	return nil
}

// embeds reports whether a schema has a property whose vectors are computed from texts.
func embeds(s *catalog.Schema) bool {
	computed := func(properties []*catalog.Property) bool {
		for _, p := range properties {
			if p.Embed != nil {
				return true
			}
		}
		return false
	}
	for _, n := range s.Nodes {
		if computed(n.Properties) {
			return true
		}
	}
	for _, e := range s.Edges {
		if computed(e.Properties) {
			return true
		}
	}
	return false
}

// openFolder opens the local graph in a folder.
func openFolder(ctx context.Context, dir string, embedder engine.Embedder) (*embedded.Graph, error) {
	g, err := embedded.Open(ctx, fs.OS(), dir, embedded.Options{Embedder: embedder})
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		err = fmt.Errorf("%w; create it with: omnigraph init --schema FILE --store %s", err, shellescape.Quote(dir))
	}
	return g, err
}
