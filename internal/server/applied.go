package server

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// addApplied adds the stored queries of the applied revision, which may be nil, to the catalogs of the options.
// It logs where the two differ.
func addApplied(o *Options, r *reconcile.Revision) error {
	if r == nil {
		return nil
	}
	catalogs := slices.Clone(o.Catalogs)
	for i := range r.Graphs {
		g := &r.Graphs[i]
		if g.Stored == nil && g.Proposed == nil || o.Cluster.Graph(g.ID) == nil {
			continue
		}
		if o.CompiledOnly {
			o.Log.Info("the server ignores the stored queries of the applied revision, because of --compiled-only", "graph", g.ID)
			continue
		}
		catalog := catalogOf(catalogs, g.ID)
		if g.Stored != nil {
			applied, err := o.appliedCatalog(g, g.Catalog, r.Number)
			if err != nil {
				return err
			}
			catalog = o.mergeApplied(g, applied, catalog, r.Number)
			g.Stored = nil // nobody needs the texts again
		}
		if g.Proposed != nil {
			proposed, err := o.appliedCatalog(g, g.ProposedCatalog, r.Number)
			if err != nil {
				return err
			}
			catalog = o.addProposed(proposed, catalog)
		}
		catalogs = append(slices.DeleteFunc(catalogs, func(c *tool.Catalog) bool { return c.Graph == g.ID }), catalog)
	}
	o.Catalogs = catalogs
	return nil
}

// appliedCatalog returns queries of a graph of a revision as tools.
func (o *Options) appliedCatalog(g *reconcile.Graph, decode func(plan.Claims) (c *tool.Catalog, outdated, err error), revision uint64) (*tool.Catalog, error) {
	c, outdated, err := decode(o.Cluster.Server.Claims)
	if outdated != nil {
		o.Log.Warn("another version of omnigraph applied the revision, so the server compiles the texts of its stored queries; apply again for a faster start", "graph", g.ID, "reason", outdated.Error(), "apply", "omnigraph cluster apply")
	}
	if err != nil {
		return nil, fmt.Errorf("graph %s: another version of omnigraph applied revision %d, and its stored queries do not compile with this version; correct them and run omnigraph cluster apply, or start with --compiled-only: %w", g.ID, revision, err)
	}
	return c, nil
}

// mergeApplied combines the compiled queries of a graph, which may be nil, with the applied ones, and logs where the two differ.
func (o *Options) mergeApplied(g *reconcile.Graph, applied, compiled *tool.Catalog, revision uint64) *tool.Catalog {
	m := merge(compiled, applied)
	differences := []any{"graph", g.ID, "revision", revision, "queries", len(applied.Queries) - m.without}
	for _, d := range []struct {
		key   string
		names []string
	}{{"replaces_compiled", m.replaced}, {"kept_for_go_handler", m.own}, {"left_out_for_their_tool", m.dropped}, {"compiled_only", m.compiled}} {
		if d.names != nil {
			differences = append(differences, d.key, d.names)
		}
	}
	o.Log.Info("stored queries come from the applied revision", differences...)
	return m.catalog
}

// addProposed returns the queries of a catalog, which may be nil, with the proposed ones. A proposed query replaces no other, and runs as
// an ad-hoc query until a policy names it; see useNamed.
func (o *Options) addProposed(proposed, to *tool.Catalog) *tool.Catalog {
	c := *proposed
	c.Queries = nil
	if to != nil {
		c = *to
		c.Queries = slices.Clone(to.Queries)
	}
	for _, q := range proposed.Queries {
		if i := slices.IndexFunc(c.Queries, func(o tool.StoredQuery) bool { return collide(o, q) }); i >= 0 {
			o.Log.Warn("a proposed query is left out, because the server has a stored query with its name; run omnigraph cluster apply --prune after comparing them", "graph", c.Graph, "query", q.Info().Name)
			continue
		}
		q.Info().AdHoc = true
		c.Queries = append(c.Queries, q)
	}
	return &c
}

// namer is a policy that knows the stored queries that its rules name.
type namer interface{ NamesQuery(name string) bool }

// useNamed makes the proposed queries that the policy names run with the rights of the policy, as other stored queries do.
func useNamed(c *tool.Catalog, authorizer access.Authorizer) {
	p, ok := authorizer.(namer)
	if !ok || c == nil {
		return
	}
	for _, q := range c.Queries {
		if i := q.Info(); i.AdHoc && p.NamesQuery(i.Name) {
			i.AdHoc = false
		}
	}
}

// merged is a catalog of the applied and of the compiled queries of a graph, with the names of queries.
type merged struct {
	catalog  *tool.Catalog
	replaced []string // compiled queries that an applied one replaces, and that differ from it
	own      []string // compiled queries with a Go handler of their own, which replace an applied one
	dropped  []string // applied queries with another name, whose tool is that of one of these
	without  int      // the number of applied queries that are not served
	compiled []string // compiled queries that the revision does not have
}

// merge combines the queries of a program with those of a revision. An applied query replaces the compiled one with
// its name or with its tool. A query with a Go handler of its own, which is of another type than
// *tool.Compiled, is never replaced. The compiled catalog may be nil.
func merge(compiled, applied *tool.Catalog) merged {
	m := merged{catalog: &tool.Catalog{Graph: applied.Graph, SchemaDigest: applied.SchemaDigest, SourceDigest: applied.SourceDigest}}
	var own, rest []tool.StoredQuery
	if compiled != nil {
		for _, q := range compiled.Queries {
			of, plain := q.(*tool.Compiled)
			same := slices.IndexFunc(applied.Queries, func(a tool.StoredQuery) bool { return collide(a, q) })
			switch {
			case !plain:
				own = append(own, q)
			case same < 0:
				rest, m.compiled = append(rest, q), append(m.compiled, of.Query.Name)
			case !equal(of, applied.Queries[same].(*tool.Compiled)):
				m.replaced = append(m.replaced, of.Query.Name)
			}
		}
	}
	placed := map[int]bool{} // by index in own
	for _, q := range applied.Queries {
		by := slices.IndexFunc(own, func(o tool.StoredQuery) bool { return collide(o, q) })
		if by < 0 {
			m.catalog.Queries = append(m.catalog.Queries, q)
			continue
		}
		m.without++
		if name := q.Info().Name; name != own[by].Info().Name {
			m.dropped = append(m.dropped, name)
		}
		if !placed[by] {
			m.own = append(m.own, own[by].Info().Name)
			m.catalog.Queries, placed[by] = append(m.catalog.Queries, own[by]), true
		}
	}
	for i, q := range own {
		if !placed[i] {
			m.catalog.Queries = append(m.catalog.Queries, q)
		}
	}
	m.catalog.Queries = append(m.catalog.Queries, rest...)
	return m
}

// collide reports whether a graph cannot serve both queries.
func collide(a, b tool.StoredQuery) bool {
	return a.Info().Name == b.Info().Name || a.Descriptor().Name == b.Descriptor().Name
}

// equal reports whether two queries have the same tool and the same plan.
func equal(a, b *tool.Compiled) bool {
	return a.Encoded == b.Encoded && reflect.DeepEqual(a.Query, b.Query) && reflect.DeepEqual(a.Enums, b.Enums) && reflect.DeepEqual(a.Tool, b.Tool)
}
