package main

import (
	"context"
	"math"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
)

// parameters returns the parameters in the form of a body, or nil for none.
func (s *statement) parameters() any {
	if s.params == nil {
		return nil
	}
	return s.params
}

func (r *remote) Query(ctx context.Context, s *statement) (*client.ReadAnswer, error) {
	if err := s.check(false); err != nil {
		return nil, err
	}
	a, err := answered(r.graph.QueryAll(ctx, client.QueryBody{
		Query: s.text, Name: s.name, Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)),
	}))
	return a, atFile(err, s.file, s.text)
}

func (r *remote) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.MutationAnswer, error) {
	if err := s.check(true); err != nil {
		return nil, err
	}
	a, err := answered(r.graph.Mutate(ctx, client.MutateBody{
		Query: s.text, Name: s.name, Params: s.parameters(), Branch: opts.Branch, DryRun: opts.DryRun,
	}, conditions(opts)...))
	return a, atFile(err, s.file, s.text)
}

func (r *remote) Queries(ctx context.Context) ([]client.QueryEntry, error) {
	list, err := answered(r.graph.Queries(ctx))
	if err != nil {
		return nil, err
	}
	return list.Queries, nil
}

func (r *remote) Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.InvokeAnswer, error) {
	return answered(r.graph.InvokeAll(ctx, s.name, client.InvokeBody{
		Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)), DryRun: opts.DryRun,
	}, conditions(opts)...))
}
