package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SeenQueries lists, in source order, the stored queries that the actor may know of: the exposed
// queries that the actor sees, by the rule of [Graph.Tools]. All code that shows names of stored
// queries to an actor uses this function.
func (g *Graph) SeenQueries(ctx context.Context, actor *access.Actor) []tool.StoredQuery {
	var seen []tool.StoredQuery
	may := g.mayRun(ctx, actor)
	part, err := g.access.Restriction(ctx, actor)
	if err != nil {
		return nil
	}
	for _, q := range g.stored {
		if q.Info().Exposed && may(q) {
			seen = append(seen, g.seen(part, q))
		}
	}
	return seen
}

// mayRun returns a function that reports whether the actor may run a stored query on some branch: it may
// invoke the query, and may read or change what the query does. If the branches cannot be listed, it reports
// false.
func (g *Graph) mayRun(ctx context.Context, actor *access.Actor) func(tool.StoredQuery) bool {
	branches := g.access.Branches(ctx)
	return func(q tool.StoredQuery) bool {
		ok, err := g.access.Visible(actor, queryrun.Tool{StoredQuery: q}, branches)
		return ok && err == nil
	}
}

// IsStored reports whether a tool runs one stored query.
func (g *Graph) IsStored(name string) bool {
	_, ok := g.tools[name].(queryrun.Tool)
	return ok
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
