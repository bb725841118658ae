package service

import "github.com/omnigraph-go/omnigraph/server/tool"

// SeenQueries returns the stored queries that texts may name to an actor.
func (g *Graph) SeenQueries(actor *Actor) []tool.StoredQuery { return g.seenQueries(actor) }

// Withheld returns the error of a write for an actor that may not read.
func Withheld(err error) error { return withheld(err, false) }
