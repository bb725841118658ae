package service

import "github.com/omnigraph-go/omnigraph/server/tool"

// SeenQueries is what texts may name to an actor.
func (g *Graph) SeenQueries(actor *Actor) []tool.StoredQuery { return g.seenQueries(actor) }

// Withheld is what an actor that may not read is told of an error.
func Withheld(err error) error { return withheld(err, false) }
