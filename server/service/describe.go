package service

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Descriptors lists all tools that MCP knows, whoever may see them, in their order.
func (g *Graph) Descriptors() []*tool.Descriptor {
	var all []*tool.Descriptor
	for t := range g.all {
		all = append(all, t.Descriptor())
	}
	return all
}

// Variants lists the further forms in which callers may see the tools of [Graph.Descriptors]:
// the hints of one that runs any stored query are those of what the caller may run.
func (g *Graph) Variants() []*tool.Descriptor {
	if g.pair == nil {
		return nil
	}
	return g.pair.runs[:]
}

// Meta reports whether stored queries are found and run by a pair of tools, instead of
// being tools themselves.
func (g *Graph) Meta() bool { return g.pair != nil }

// Allowed reports whether the actor has a grant. An empty branch is main.
func (g *Graph) Allowed(actor *Actor, grant tool.Grant) bool { return g.allowed(actor, grant) }

// AllowedSomewhere reports whether the actor has a grant on some branch, see
// [Graph.Tools]. Where it has not, there is no need to read a request that is large.
func (g *Graph) AllowedSomewhere(ctx context.Context, actor *Actor, grant tool.Grant) (bool, error) {
	return g.askedBranches(ctx).some(func(branch string) bool {
		grant.Branch = branch
		return g.allowed(actor, grant)
	})
}

// Schema returns the schema in force on a branch, main if it is empty.
func (g *Graph) Schema(ctx context.Context, actor *Actor, branch string) (*engine.Schema, error) {
	if err := g.require(actor, tool.Grant{Action: tool.Read, Branch: branch, Via: tool.AdHoc}); err != nil {
		return nil, err
	}
	return g.engine.Schema(ctx, engine.Target{Branch: branch})
}

// Branches lists the branches that the actor may read, in name order.
func (g *Graph) Branches(ctx context.Context, actor *Actor) ([]engine.Branch, error) {
	if err := g.require(actor, readOn("")); err != nil {
		return nil, err
	}
	branches, _, err := readable(ctx, g.engine, func(grant tool.Grant) bool { return g.allowed(actor, grant) }, "", 0)
	return branches, err
}

// Queries lists the exposed stored queries that the actor may invoke, in source order.
func (g *Graph) Queries(actor *Actor) ([]tool.StoredQuery, error) {
	if err := g.require(actor, tool.Grant{Action: tool.Read, Via: tool.AdHoc}); err != nil {
		return nil, err
	}
	return g.seenQueries(actor), nil
}

// Invocable returns the error of [Graph.InvokeQuery] for a query that the actor may
// not know of, or nil.
func (g *Graph) Invocable(actor *Actor, name string) error {
	if _, ok := g.queries[name]; !ok || !g.allowed(actor, tool.Grant{Action: tool.InvokeQuery, Query: name}) {
		err := &engine.NotFound{What: "stored query", Name: name}
		g.tell("", Missing, err, 0, 0, 0)
		return err
	}
	return nil
}
