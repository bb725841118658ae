package service

import "github.com/omnigraph-go/omnigraph/server/tool"

// seenQueries lists the stored queries that the actor may know of, in source order: the
// exposed ones that are visible, as [Graph.Tools] has it. Whatever names stored queries
// to an actor asks here.
func (g *Graph) seenQueries(actor *Actor) []tool.StoredQuery {
	var seen []tool.StoredQuery
	for _, q := range g.stored {
		// The gate of a stored query is about no branch.
		if q.Info().Exposed && g.granted(actor, q, "") {
			seen = append(seen, q)
		}
	}
	return seen
}
