package operations

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ExplainQuery is the call that shows how the engine would run a query given as text. Its answer is a client.Explained.
type ExplainQuery struct {
	AdHoc        // Write is ignored
	Analyze bool // also run the read, and count its rows
}

// Needs returns the permission to read the branch. A mutation is not run, so it needs no
// more.
func (c *ExplainQuery) Needs() []tool.Need { return []tool.Need{access.ToRead(c.Branch)} }

// Run explains the query. The query's parameters are needed only with Analyze.
func (c *ExplainQuery) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branch := env.Branch(c.Branch)
	q, schema, err := c.query(ctx, env, branch, branch.At())
	if err != nil {
		return nil, err
	}
	a := &client.Explained{QueryName: q.Plan.Name, Kind: "read", Branch: branch.Name(), Touches: []client.Touched{}, Plan: []client.PlanStep{}, Caller: q.Plan.Members()}
	if q.Plan.Mutation != nil {
		a.Kind = "mutation"
		if c.Analyze {
			return nil, &tool.ArgumentError{Path: "analyze", Detail: "found true, but " + q.Plan.Name + " is a mutation, and analyzing it would run it", Help: "leave analyze out to see only the plan"}
		}
	}
	var args engine.Args
	if c.Analyze {
		if args, err = arguments.Decode(c.Params, q.Plan.Declared()); err != nil {
			var bad *tool.ArgumentError
			if errors.As(err, &bad) {
				return nil, bad.Under("params")
			}
			return nil, err
		}
		args = env.Caller.With(q.Plan.Params, args)
	}
	at := branch.At()
	if then := q.Plan.Instant(args); c.Analyze && !then.IsZero() { // the caller needs the right to read the commit
		at.AsOf = then
		commit, err := env.AsOf(ctx, at)
		if err != nil {
			return nil, err
		}
		at = engine.Target{Commit: commit}
		if q, schema, err = c.query(ctx, env, branch, at); err != nil {
			return nil, err
		}
	}
	e, err := env.Graph.Explain(ctx, q.Plan, args, at, c.Analyze)
	if err != nil {
		return nil, err
	}
	a.GraphCommitID, a.Analyzed, a.Text = e.Commit, e.Analyzed, e.String()
	for _, u := range q.Plan.Uses {
		if u.Entity != plan.Interface {
			touch(a, u.Entity, u.Type, u)
			continue
		}
		for _, n := range schema.Implementers(u.Type) {
			touch(a, plan.Node, n.Name, u)
		}
	}
	for _, o := range e.Plan {
		addStep(a, o, 0)
	}
	return &tool.Outcome{Value: a, Commit: e.Commit, Less: "explain a query with fewer clauses and columns"}, nil
}

// touch adds to the answer a type, or a property of the type, that the query uses. It adds it once, because a query may use a type
// through several interfaces.
func touch(a *client.Explained, entity plan.Entity, typ string, u plan.Use) {
	t := client.Touched{Kind: entity.String(), Type: typ, Property: u.Property, Write: u.Write}
	if !slices.Contains(a.Touches, t) {
		a.Touches = append(a.Touches, t)
	}
}

// query compiles the text against the schema at a target, and returns the query to explain, a read or a mutation, and the schema.
func (c *ExplainQuery) query(ctx context.Context, env *tool.Env, branch tool.Branch, at engine.Target) (*gq.Query, *catalog.Schema, error) {
	schema, err := env.Graph.Schema(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	queries, found, err := Compile(ctx, env, c.argument(), schema.Catalog, c.Source)
	if err != nil {
		return nil, nil, err
	}
	if found.HasErrors() {
		return nil, nil, &wireerror.Rejected{Diagnostics: found.Cut(maxFaults), Sources: map[string]string{sourceName: c.Source}, Example: exampleRead, Valid: queryNames(queries)}
	}
	either := c.AdHoc
	for _, q := range queries {
		if q.Plan.Name == c.Name || c.Name == "" && len(queries) == 1 {
			either.Write = q.Plan.Mutation != nil
		}
	}
	q, err := either.choose(queries, branch)
	return q, schema.Catalog, err
}

// addStep appends an operator at the given depth, and then the operators below it.
func addStep(a *client.Explained, o *engine.Operator, depth int) {
	a.Plan = append(a.Plan, client.PlanStep{Depth: depth, Name: o.Name, Detail: o.Detail, Estimate: o.Estimate, Rows: o.Rows, TimeNS: o.Time.Nanoseconds()})
	for _, child := range o.Children {
		addStep(a, child, depth+1)
	}
}
