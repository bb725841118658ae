package servedgraph

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file chooses the plan of a stored query by the schema of main. An apply changes the schema before it records the revision, and a
// server serves the revision some time later. Meanwhile, a query of one revision runs with the plan of the other one.

// onSchema is a graph whose Query and Mutate fail if the schema is another one.
type onSchema struct {
	engine.Graph
	digest string
}

// Unwrap returns the graph with any schema, so that package restricted finds the rights of the call.
func (g onSchema) Unwrap() engine.Graph { return g.Graph }

// Query implements engine.Graph.
func (g onSchema) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	at.Schema = g.digest
	return g.Graph.Query(ctx, q, args, at)
}

// Mutate implements engine.Graph.
func (g onSchema) Mutate(ctx context.Context, q *plan.Query, args engine.Args, o engine.WriteOptions) (engine.Change, error) {
	o.Schema = g.digest
	return g.Graph.Mutate(ctx, q, args, o)
}

// maxSchemas is how many schemas a call meets at most, if applies follow each other fast.
const maxSchemas = 3

// runPlanned runs the call. A stored query on the head of main runs with the plan for its schema. If there is none, and on other
// targets and times, the plan binds by names, unless a rename has given a name to something else.
func (r *running) runPlanned(ctx context.Context) (*tool.Outcome, error) {
	c := storedRead(r.call)
	if c == nil || r.g.applied == "" || c.Options.Snapshot != "" || c.Options.PageToken != "" || c.Query.Plan().AsOf != nil || !r.env.Branch(c.Branch).IsMain() {
		return r.call.Run(ctx, r.env)
	}
	graph, name := r.env.Graph, c.Query.Info().Name
	run := func(digest string) (*tool.Outcome, error) {
		r.env.Graph = onSchema{graph, digest}
		defer func() { r.env.Graph = graph }()
		return r.call.Run(ctx, r.env)
	}
	out, err := run(r.g.applied)
	for range maxSchemas {
		var mismatch *engine.SchemaMismatch
		if !errors.As(err, &mismatch) {
			return out, err
		}
		if mismatch.Schema == "" {
			return out, err
		}
		live := mismatch.Schema // the head can still have the schema before
		q, renamed := r.g.queryOn(ctx, live, name)
		switch {
		case q == nil && renamed:
			return out, err
		case q == nil:
			return r.call.Run(ctx, r.env)
		}
		if w, ok := r.call.(*operations.ReadWatch); ok {
			w.Query = q // each call is made for one run
		} else {
			own := *c
			own.Query = q
			r.call = &own
		}
		if part, failed := r.g.access.Restriction(ctx, r.actor); failed != nil {
			return nil, failed
		} else if base := r.base(); part != nil && base != nil {
			if err := r.reduce(part, *base); err != nil {
				return nil, err
			}
		}
		out, err = run(live)
	}
	return out, err
}

// storedRead returns the call of a stored query that a call is, or that a call about a watch evaluates, or nil.
func storedRead(call tool.Call) *queryrun.Call {
	switch c := call.(type) {
	case *queryrun.Call:
		return c
	case *operations.ReadWatch:
		return &c.Call
	}
	return nil
}

// queryOn returns a stored query with the plan for another schema of main, or nil if there is none with the same contract. It also reports
// whether the query must not bind by names; see [Plans].
func (g *Graph) queryOn(ctx context.Context, digest, name string) (other tool.StoredQuery, renamed bool) {
	q := g.queries[name]
	if q == nil || g.plans == nil {
		return nil, false
	}
	return g.planOf(ctx, digest, q)
}

// planOf is like queryOn for a query.
func (g *Graph) planOf(ctx context.Context, digest string, q tool.StoredQuery) (other tool.StoredQuery, renamed bool) {
	if digest == g.applied {
		return q, false
	}
	other, renamed = g.plans(ctx, digest, q)
	if other == nil || !sameContract(q, other) {
		return nil, renamed
	}
	return other, renamed
}

// sameContract reports whether two queries take the same parameters and return the same columns.
func sameContract(a, b tool.StoredQuery) bool {
	x, y := a.Descriptor(), b.Descriptor()
	return a.Info().Mutation == b.Info().Mutation && reflect.DeepEqual(a.Params(), b.Params()) &&
		bytes.Equal(x.InputSchema, y.InputSchema) && bytes.Equal(x.OutputSchema, y.OutputSchema)
}
