package operations

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// LookTypes returns the call that describes the types of the schema. Its answer is a
// client.TypeList.
func LookTypes(branch tool.BranchName, commit string) *Look {
	return &Look{Branch: branch, Commit: commit, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		queries := env.Queries(ctx)
		list := &client.TypeList{Types: []client.TypeEntry{}}
		for _, n := range s.Catalog.Nodes {
			list.Types = append(list.Types, client.TypeEntry{
				Kind: client.KindNode, Name: n.Name, Description: n.Description, Implements: n.Implements, Key: n.Key,
				Rules: append([]string{}, n.Rules()...), Properties: propertyEntries(n.Properties), Queries: queriesUsing(queries, plan.Node, n.Name, n.Implements),
			})
		}
		for _, e := range s.Catalog.Edges {
			list.Types = append(list.Types, client.TypeEntry{
				Kind: client.KindEdge, Name: e.Name, Description: e.Description, From: e.From, To: e.To,
				Rules: append([]string{}, e.Rules()...), Properties: propertyEntries(e.Properties), Queries: queriesUsing(queries, plan.Edge, e.Name, nil),
			})
		}
		return list, nil
	}}
}

// propertyEntries describes the properties of a type.
func propertyEntries(properties []*catalog.Property) []client.PropertyEntry {
	entries := make([]client.PropertyEntry, len(properties))
	for i, p := range properties {
		entries[i] = client.PropertyEntry{
			Name: p.Name, Type: p.Type.String(), Kind: p.Type.Kind.String(), List: p.Type.List, Enum: p.Type.Enum, Description: p.Description,
		}
	}
	return entries
}

// queriesUsing returns the names of the stored queries that use a type or one of the interfaces that it
// implements.
func queriesUsing(queries []tool.StoredQuery, entity plan.Entity, name string, implements []string) []string {
	names := []string{}
	for _, q := range queries {
		if slices.ContainsFunc(q.Plan().Uses, func(u plan.Use) bool { return u.Covers(entity, name, implements) }) {
			names = append(names, q.Info().Name)
		}
	}
	return names
}
