package servedgraph

import (
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// seenQueries lists, in source order, the stored queries that the actor may know of: the
// exposed ones that are visible as in [Graph.Tools]. All code that shows names of stored
// queries to an actor uses this function.
func (g *Graph) seenQueries(actor *access.Actor) []tool.StoredQuery {
	var seen []tool.StoredQuery
	for _, q := range g.stored {
		if q.Info().Exposed && g.access.Allowed(actor, tool.Grant{Action: tool.InvokeQuery, Query: q.Info().Name}) {
			seen = append(seen, q)
		}
	}
	return seen
}
