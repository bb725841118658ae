package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Descriptors lists all tools of the graph on MCP in order, without regard to who may see
// them.
func (g *Graph) Descriptors() []*tool.Descriptor {
	var all []*tool.Descriptor
	for t := range g.all {
		all = append(all, t.Descriptor())
	}
	return all
}

// Variants lists further descriptors that callers may see in place of some of [Graph.Descriptors].
// They exist because the hints of the tool that runs stored queries depend on the queries that the
// caller may run.
func (g *Graph) Variants() []*tool.Descriptor {
	if g.meta == nil {
		return nil
	}
	return g.meta.Variants()
}

// Meta reports whether stored queries are found and run through two meta tools, instead of
// each being a tool.
func (g *Graph) Meta() bool { return g.meta != nil }

// Allowed reports whether the actor has a grant.
func (g *Graph) Allowed(actor *access.Actor, grant tool.Grant) bool {
	return g.access.Allowed(actor, grant)
}

// Permitted reports whether the policy allows the actor a grant, whatever the scopes of its token are.
func (g *Graph) Permitted(actor *access.Actor, grant tool.Grant) bool {
	return g.access.Permitted(actor, grant)
}

// CheckScopes returns a *wireerror.InsufficientScope if the actor's token lacks a scope for one of the grants.
func (g *Graph) CheckScopes(actor *access.Actor, grants []tool.Grant) error {
	return access.CheckScopes(actor, grants)
}

// AllowedSomewhere reports whether the policy allows the actor a grant on some branch; see [Graph.Tools].
// If it does not, the server need not read a large request.
func (g *Graph) AllowedSomewhere(ctx context.Context, actor *access.Actor, grant tool.Grant) (bool, error) {
	if g.access.Permitted(actor, access.OnOwnDraft(grant, "")) {
		return true, nil
	}
	return g.access.Branches(ctx).Some(func(branch tool.Branch) bool {
		grant.Branch = branch
		return g.access.Permitted(actor, grant)
	})
}

// Schema returns the current schema of main. The actor must have the right to read main.
func (g *Graph) Schema(ctx context.Context, actor *access.Actor) (*engine.Schema, error) {
	if err := g.access.Require(actor, access.ReadOn(tool.Branch{})); err != nil {
		return nil, err
	}
	part, err := g.access.Restriction(ctx, actor)
	switch {
	case err != nil:
		return nil, err
	case part != nil:
		return part.Schema(), nil
	}
	return g.engine.Schema(ctx, engine.Target{})
}

// Counts returns the number of nodes and edges of each type on main. The actor must have the right
// to read main.
func (g *Graph) Counts(ctx context.Context, actor *access.Actor) (*engine.Snapshot, error) {
	if err := g.access.Require(actor, access.ReadOn(tool.Branch{})); err != nil {
		return nil, err
	}
	part, err := g.access.Restriction(ctx, actor)
	if err != nil {
		return nil, err
	}
	if part != nil {
		if seen := part.Graph(new(access.ReadOn(tool.Branch{})), nil); seen != nil {
			return seen.Snapshot(ctx, engine.Target{})
		}
	}
	return g.engine.Snapshot(ctx, engine.Target{})
}

// Branches lists the branches that the actor may read, in name order.
func (g *Graph) Branches(ctx context.Context, actor *access.Actor) ([]engine.Branch, error) {
	if err := g.access.Require(actor, access.ReadOn(tool.Branch{})); err != nil {
		return nil, err
	}
	if err := g.ExpireDrafts(ctx); err != nil {
		return nil, err
	}
	branches, _, err := operations.Readable(ctx, g.engine, func(grant tool.Grant) bool { return g.access.Allowed(actor, grant) }, "", 0)
	return branches, err
}

// Queries lists the exposed stored queries that the actor may run on some branch, in source order.
func (g *Graph) Queries(ctx context.Context, actor *access.Actor) ([]tool.StoredQuery, error) {
	if err := g.access.Require(actor, tool.Grant{Action: tool.Read, Via: tool.AdHoc}); err != nil {
		return nil, err
	}
	return g.SeenQueries(ctx, actor), nil
}

// Invocable returns nil if the actor may know of the query, or else the error that
// [Graph.InvokeQuery] returns.
func (g *Graph) Invocable(ctx context.Context, actor *access.Actor, name string) error {
	q, ok := g.queries[name]
	hidden, denied := false, tool.Action("")
	if ok {
		denied = tool.InvokeQuery
	}
	if ok && q.Info().AdHoc {
		denied = queryrun.Tool{StoredQuery: q}.Does().Action
		if g.mayRun(ctx, actor)(q) {
			return nil
		}
		ok = false
	} else if ok = ok && g.access.Permitted(actor, tool.Grant{Action: tool.InvokeQuery, Query: name}); ok {
		var err error
		t := queryrun.Tool{StoredQuery: q}
		if hidden, err = g.access.NamesHidden(ctx, actor, t); err != nil {
			return err
		}
		denied = t.Does().Action
	}
	if !ok || hidden {
		if err := g.lacksProvider(actor, name); err != nil {
			g.record.Hidden(ctx, actor, name, "", wireerror.OfRequest, err)
			return err
		}
		err := &engine.NotFound{What: "stored query", Name: name}
		if denied == "" {
			name = ""
		}
		g.record.Hidden(ctx, actor, name, denied, wireerror.Missing, err)
		return err
	}
	return nil
}
