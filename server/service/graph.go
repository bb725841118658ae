package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Config is what a served graph is made of.
type Config struct {
	ID         string // as in the URL
	Graph      engine.Graph
	Catalog    *tool.Catalog // nil for a graph without stored queries
	Builtins   []tool.Tool
	Authorizer Authorizer
	Limits     Limits // of results over MCP; zero fields take the defaults
	Version    string // of the server
	Logger     *slog.Logger
}

// Graph is one served graph. It is safe for concurrent use. It does not own the
// engine's graph: whoever opened that closes it.
type Graph struct {
	id         string
	engine     engine.Graph
	authorizer Authorizer
	limits     Limits
	version    string
	log        *slog.Logger

	builtins []tool.Tool
	stored   []tool.StoredQuery          // those that fit the schema, in source order
	tools    map[string]tool.Tool        // by tool name: built-ins and exposed queries
	queries  map[string]tool.StoredQuery // by query name, hidden ones included
	leftOut  []LeftOut

	catalogDigest string
}

// LeftOut is a stored query that is not served.
type LeftOut struct {
	Query  string
	Reason string
}

// NewGraph checks every compiled plan against the live schema of main and returns the
// served graph. Queries that do not fit are logged and left out; see [Graph.LeftOut].
// It fails when the schema cannot be read, or when two tools share a name.
func NewGraph(ctx context.Context, c Config) (*Graph, error) {
	g := &Graph{
		id: c.ID, engine: c.Graph, authorizer: c.Authorizer, limits: c.Limits.withDefaults(),
		version: c.Version, log: c.Logger, builtins: c.Builtins,
		tools: map[string]tool.Tool{}, queries: map[string]tool.StoredQuery{},
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.log = g.log.With("graph", c.ID)
	for _, t := range c.Builtins {
		if err := g.register(t); err != nil {
			return nil, err
		}
	}
	if c.Catalog != nil {
		for _, q := range c.Catalog.Queries {
			if err := g.admit(ctx, q); err != nil {
				return nil, err
			}
		}
	}
	g.catalogDigest = g.digest()
	return g, nil
}

// ID returns the name of the graph in URLs.
func (g *Graph) ID() string { return g.id }

// Version returns the version of the server.
func (g *Graph) Version() string { return g.version }

// LeftOut lists the stored queries that do not fit the live schema, with the reasons.
func (g *Graph) LeftOut() []LeftOut { return g.leftOut }

// Logger returns where the graph's operations are logged.
func (g *Graph) Logger() *slog.Logger { return g.log }

// CatalogDigest returns the digest, sha256:…, of all that clients can learn of tools:
// it changes when cached tool schemas are out of date.
func (g *Graph) CatalogDigest() string { return g.catalogDigest }

// SchemaDigest returns the digest of the live schema of main.
func (g *Graph) SchemaDigest(ctx context.Context) (string, error) {
	s, err := g.engine.Schema(ctx, engine.Target{})
	if err != nil {
		return "", err
	}
	return s.Digest, nil
}

// admit takes a stored query into the catalog if its plan fits the live schema.
func (g *Graph) admit(ctx context.Context, q tool.StoredQuery) error {
	name := q.Info().Name
	if err := g.engine.Bind(ctx, q.Plan(), engine.Target{}); err != nil {
		var mismatch *engine.SchemaMismatch
		var unsupported *engine.Unsupported
		if !errors.As(err, &mismatch) && !errors.As(err, &unsupported) {
			return fmt.Errorf("checking stored query %s: %w", name, err)
		}
		g.leftOut = append(g.leftOut, LeftOut{Query: name, Reason: err.Error()})
		g.log.WarnContext(ctx, "stored query left out", "query", name, "reason", err.Error())
		return nil
	}
	if _, taken := g.queries[name]; taken {
		return fmt.Errorf("stored query %s occurs twice in the catalog", name)
	}
	if q.Info().Exposed {
		if err := g.register(q); err != nil {
			return err
		}
	}
	g.queries[name] = q
	g.stored = append(g.stored, q)
	return nil
}

func (g *Graph) register(t tool.Tool) error {
	name := t.Descriptor().Name
	if _, taken := g.tools[name]; taken {
		return fmt.Errorf("two tools are called %s; rename one with @mcp(tool_name: …)", name)
	}
	g.tools[name] = t
	return nil
}

// all yields the tools that MCP knows in their stable order: built-ins, then stored
// queries.
func (g *Graph) all(yield func(tool.Tool) bool) {
	for _, t := range g.builtins {
		if !yield(t) {
			return
		}
	}
	for _, t := range g.stored {
		if t.Info().Exposed && !yield(t) {
			return
		}
	}
}

func (g *Graph) digest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for t := range g.all {
		// A descriptor is strings, bools and JSON from the generator: it always encodes.
		if err := enc.Encode(t.Descriptor()); err != nil {
			panic(fmt.Sprintf("service: descriptor of %s: %v", t.Descriptor().Name, err))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
