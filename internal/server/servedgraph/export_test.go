package servedgraph

import (
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SeenQueries returns the stored queries that texts may name to an actor.
func (g *Graph) SeenQueries(actor *access.Actor) []tool.StoredQuery { return g.seenQueries(actor) }
