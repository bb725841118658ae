package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"

	"al.essio.dev/pkg/shellescape"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/provider"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// clusterFile is the file that names the graphs of a folder.
const clusterFile = "cluster.yaml"

// openStore opens the local graph that the flags name. It uses the embedding provider that the
// cluster.yaml in the current folder names for the graph. If the graph embeds texts and
// cluster.yaml has faults, openStore opens the graph without a provider and writes a note to
// `notes`.
func (e *endpoint) openStore(ctx context.Context, notes io.Writer) (engine.Graph, error) {
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
	g, err := e.openGraph(ctx, embedder)
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
		if c.Embedding == nil || reconcile.SchemaDigest(c) != schema.Digest {
			continue
		}
		// A provider can only be set when a graph is opened, so open the graph again.
		if err := g.Close(); err != nil {
			return nil, err
		}
		return e.openGraph(ctx, provider.OnUse(c.Embedding))
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

// openGraph opens the graph that the flag --store names.
func (e *endpoint) openGraph(ctx context.Context, embedder engine.Embedder) (engine.Graph, error) {
	if address.Is(e.store) {
		return openShared(ctx, e.store, e.graph, engine.OpenOptions{Embedder: embedder, ProposalKeep: e.proposalKeep})
	}
	g, err := embedded.Open(ctx, fs.OS(), e.store, embedded.Options{Embedder: embedder, ProposalKeep: e.proposalKeep})
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		err = fmt.Errorf("%w; create it with: omnigraph init --schema FILE --store %s", err, shellescape.Quote(e.store))
	}
	if err != nil {
		return nil, err // not g, because a nil *embedded.Graph is not a nil engine.Graph
	}
	return g, nil
}

// sharedGraph is a graph in shared storage that one command uses.
type sharedGraph struct {
	engine.Graph
	bucket object.Bucket
	leave  func() error // releases the lease, and ends the connection
}

// Close closes the graph and releases its lease, so that a server can write it.
func (g *sharedGraph) Close() error { return errors.Join(g.Graph.Close(), g.leave()) }

// openShared opens a graph in the shared storage of a URL.
func openShared(ctx context.Context, storage, graph string, opts engine.OpenOptions) (engine.Graph, error) {
	s, leave, err := replica.OpenForCommand(ctx, storage)
	if err != nil {
		return nil, err
	}
	g, err := s.Open(ctx, graph, opts)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		err = fmt.Errorf("%w; create it with: omnigraph init --schema FILE --store %s --graph %s", err, shellescape.Quote(storage), shellescape.Quote(graph))
	}
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	return &sharedGraph{g, s.Bucket, leave}, nil
}

// createShared makes a graph in the shared storage of a URL, and closes it.
func createShared(ctx context.Context, storage, graph, source string, schema *catalog.Schema) (err error) {
	s, leave, err := replica.OpenForCommand(ctx, storage)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	g, err := s.Create(ctx, graph, source, schema, engine.OpenOptions{})
	if err != nil {
		return err
	}
	return g.Close()
}

// pageKeys returns the keys of page tokens: those in the environment, or those of the store.
func (e *endpoint) pageKeys(ctx context.Context, g engine.Graph) (seal.Keys, error) {
	if keys, err := seal.FromEnvironment(os.Getenv); err != nil || len(keys.List) > 0 {
		return keys, err
	}
	if shared, ok := g.(*sharedGraph); ok {
		return server.SharedPageTokenKeys(ctx, shared.bucket)
	}
	return seal.FromFolder(e.store)
}

// store is an open store.
type store struct {
	engine.Graph
	served *servedgraph.Graph // checks the policy
	actor  *access.Actor      // who makes the calls
}

// newLocal returns a source for a store. It calls the handler of REST in this process, without the limits that a server
// has.
func newLocal(s *store) (*source, error) {
	api := rest.Handler(map[string]*servedgraph.Graph{s.served.ID(): s.served}, rest.Options{MaxBody: math.MaxInt64, MaxText: math.MaxInt64, MaxLoad: math.MaxInt64})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), s.actor)))
	})
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: handler}}), client.WithNumbers())
	if err != nil {
		return nil, err
	}
	return &source{client: c, graph: c.Graph(s.served.ID()), store: s}, nil
}
