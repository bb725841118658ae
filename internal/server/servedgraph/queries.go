package servedgraph

import (
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SeenQueries lists, in source order, the stored queries that the actor may know of: the exposed
// queries that the actor sees, by the rule of [Graph.Tools]. All code that shows names of stored
// queries to an actor uses this function.
func (g *Graph) SeenQueries(actor *access.Actor) []tool.StoredQuery {
	var seen []tool.StoredQuery
	for _, q := range g.stored {
		if q.Info().Exposed && g.access.Allowed(actor, tool.Grant{Action: tool.InvokeQuery, Query: q.Info().Name}) {
			seen = append(seen, q)
		}
	}
	return seen
}

// HowToCall returns the name of the MCP tool that runs a stored query, and a text that shows how to
// call it; see [queryrun.HowToCall].
func (g *Graph) HowToCall(q tool.StoredQuery) (name, call string) {
	return queryrun.HowToCall(q, g.runTool())
}

// runTool returns the tool that runs stored queries by their names, or "" if each is a tool.
func (g *Graph) runTool() string {
	if g.meta == nil {
		return ""
	}
	return metatools.RunQuery
}
