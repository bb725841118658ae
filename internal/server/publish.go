package server

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

// publisher publishes the proposed queries of a graph in the revision. It implements [operations.QueryPublisher].
type publisher struct {
	server   *Server
	graph    string
	revision *reconcile.Revision // that the server serves, with the texts of the proposed queries alone
}

// publisherOf returns the publisher of a graph, or nil if the server serves no queries of revisions.
func publisherOf(s *Server, o *Options, graph string, r *reconcile.Revision) operations.QueryPublisher {
	if s.storage == nil || o.CompiledOnly || r.Graph(graph) == nil {
		return nil
	}
	return &publisher{s, graph, r}
}

// Draft implements [operations.QueryPublisher].
func (p *publisher) Draft(_ context.Context, q operations.QueryDraft) ([]string, error) {
	_, changes, err := p.revision.Add(p.graph, reconcile.ProposedQuery(q), p.server.options.Cluster.Server.Claims)
	said := []string{}
	for _, c := range changes {
		said = append(said, c.Message)
	}
	return said, unfit(err)
}

// Publish implements [operations.QueryPublisher]. Other servers that share the storage find the revision by themselves.
func (p *publisher) Publish(ctx context.Context, q operations.QueryDraft, actor string) error {
	if err := p.server.storage.Publish(ctx, p.graph, reconcile.ProposedQuery(q), p.server.options.Cluster.Server.Claims, actor); err != nil {
		return unfit(err)
	}
	if err := p.server.Reload(ctx); err != nil {
		p.server.log.Error("a revision with a proposed query is recorded, and the server cannot serve it yet; it tries again", "graph", p.graph, "query", q.Name, "error", err)
	}
	return nil
}

// Published implements [operations.QueryPublisher].
func (p *publisher) Published() (all []operations.QueryDraft) {
	for _, q := range p.revision.Graph(p.graph).ProposedQueries() {
		all = append(all, operations.QueryDraft(q))
	}
	return all
}

// unfit turns the faults of a query that does not compile for the revision into an error that the caller may see.
func unfit(err error) error {
	var faults diag.List
	if errors.As(err, &faults) {
		return &engine.Conflict{Reason: "the query does not fit the applied revision: " + faults.Error()}
	}
	return err
}
