package servedgraph

import (
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// needsProvider reports whether an error says that the graph has no embedding provider.
func needsProvider(err error) bool {
	var unsupported *engine.Unsupported
	return errors.As(err, &unsupported) && unsupported.NoEmbedder
}

// withSetting completes an error about a missing embedding provider. It adds the name of the
// setting that configures a provider. It returns other errors unchanged.
func (g *Graph) withSetting(err error) error {
	if !needsProvider(err) {
		return err
	}
	return fmt.Errorf("%w; an operator can set graphs.%s.embedding_provider in cluster.yaml", err, g.id)
}

// LacksProvider looks for a left-out stored query whose tool is called toolName. It returns an
// error if the query is left out because the graph has no embedding provider, and the actor may
// invoke the query. Otherwise it returns nil.
func (g *Graph) LacksProvider(actor *access.Actor, toolName string) error {
	for _, q := range g.unembedded {
		if q.Info().Exposed && q.Descriptor().Name == toolName {
			return g.lacksProvider(actor, q.Info().Name)
		}
	}
	return nil
}

// lacksProvider is like [Graph.LacksProvider] but takes the name of a query.
func (g *Graph) lacksProvider(actor *access.Actor, query string) error {
	for _, q := range g.unembedded {
		if q.Info().Name == query && g.access.Permitted(actor, tool.Grant{Action: tool.InvokeQuery, Query: query}) {
			return g.withSetting(&engine.Unsupported{Construct: "stored query " + query, NoEmbedder: true})
		}
	}
	return nil
}
