package servedgraph

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// LogDigest returns a digest of parts of a request, for log lines that must not contain the
// parts.
func (g *Graph) LogDigest(parts ...[]byte) string { return g.record.Digest(parts...) }

// NotKnown reports a call of a tool by a name that fits no tool that the caller may see. It returns
// err.
func (g *Graph) NotKnown(ctx context.Context, err error) error {
	return g.record.Refused(ctx, "", wireerror.Missing, err)
}

// StoredNames returns the names of the graph's tools and stored queries in order. The field Tool of
// an [audit.Called] is one of the returned names or the name of a REST operation.
func (g *Graph) StoredNames() []string {
	var names []string
	for name := range g.tools {
		names = append(names, name)
	}
	for name := range g.queries {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Failure returns nil while the graph accepts writes, or else the reason why it does not.
func (g *Graph) Failure() error { return g.engine.Failure() }

// Stats returns the figures of the graph's engine.
func (g *Graph) Stats() engine.Stats { return g.engine.Stats() }
