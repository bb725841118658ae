package operations

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ExplainQuery is the call that shows how the engine would run a query given as text.
type ExplainQuery struct {
	AdHoc        // Write is ignored
	Analyze bool // also run the read, and count its rows
}

// Explained is the answer of ExplainQuery.
type Explained struct {
	QueryName     string     `json:"query_name"` // name of the explained query
	Kind          string     `json:"kind" jsonschema:"enum=read,enum=mutation"`
	Branch        string     `json:"branch"` // the branch whose schema and data the plan is for
	GraphCommitID string     `json:"graph_commit_id" jsonschema_description:"The commit whose data the estimates are for."`
	Analyzed      bool       `json:"analyzed" jsonschema_description:"The server ran the read, so rows and time_ns are set."`
	Caller        []string   `json:"caller,omitempty" jsonschema_description:"What the query uses of its caller, such as actor().id. The rows are those of the caller."`
	Touches       []Touched  `json:"touches" jsonschema_description:"The parts of the schema that the query reads or changes."`
	Plan          []PlanStep `json:"plan" jsonschema_description:"The operators, starting with the one that returns the result. An operator reads the rows of the operators that follow it one level deeper."`
	Text          string     `json:"text" jsonschema_description:"The plan as an indented tree."`
}

// Touched is a type, or a property of a type, that a query uses.
type Touched struct {
	Kind     string `json:"kind" jsonschema:"enum=node,enum=edge"`
	Type     string `json:"type"`               // name of the type
	Property string `json:"property,omitempty"` // empty for the type as a whole
	Write    bool   `json:"write" jsonschema_description:"The query may change it."`
}

// PlanStep is one operator of a plan.
type PlanStep struct {
	Depth    int     `json:"depth"` // distance from the root of the plan
	Name     string  `json:"name"`  // name of the operator
	Detail   string  `json:"detail,omitempty" jsonschema_description:"What the operator reads: type, index, direction, condition."`
	Estimate float64 `json:"estimate" jsonschema_description:"The number of rows that the engine expects from the operator."`
	Rows     *int64  `json:"rows,omitempty" jsonschema_description:"The number of rows that it returned."`
	TimeNS   int64   `json:"time_ns,omitempty" jsonschema_description:"The nanoseconds that the operator took, without the operators below it."`
}

// Needs returns the permission to read the branch. A mutation is not run, so it needs no
// more.
func (c *ExplainQuery) Needs() []tool.Need { return []tool.Need{access.ToRead(c.Branch)} }

// Run explains the query. The query's parameters are needed only with Analyze.
func (c *ExplainQuery) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branch := env.Branch(c.Branch)
	q, schema, err := c.query(ctx, env, branch)
	if err != nil {
		return nil, err
	}
	a := &Explained{QueryName: q.Plan.Name, Kind: "read", Branch: branch.Name(), Touches: []Touched{}, Plan: []PlanStep{}, Caller: q.Plan.Members()}
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
	e, err := env.Graph.Explain(ctx, q.Plan, args, branch.At(), c.Analyze)
	if err != nil {
		return nil, err
	}
	a.GraphCommitID, a.Analyzed, a.Text = e.Commit, e.Analyzed, e.String()
	for _, u := range q.Plan.Uses {
		if u.Entity != plan.Interface {
			a.touch(u.Entity, u.Type, u)
			continue
		}
		for _, n := range schema.Implementers(u.Type) {
			a.touch(plan.Node, n.Name, u)
		}
	}
	for _, o := range e.Plan {
		a.add(o, 0)
	}
	return &tool.Outcome{Value: a, Commit: e.Commit, Less: "explain a query with fewer clauses and columns"}, nil
}

// touch adds a type, or a property of the type, that the query uses. It adds it once, because a query may use a type
// through several interfaces.
func (a *Explained) touch(entity plan.Entity, typ string, u plan.Use) {
	t := Touched{Kind: entity.String(), Type: typ, Property: u.Property, Write: u.Write}
	if !slices.Contains(a.Touches, t) {
		a.Touches = append(a.Touches, t)
	}
}

// query compiles the text and returns the query to explain, a read or a mutation, and the schema.
func (c *ExplainQuery) query(ctx context.Context, env *tool.Env, branch tool.Branch) (*gq.Query, *catalog.Schema, error) {
	schema, err := env.Graph.Schema(ctx, branch.At())
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

// add appends an operator at the given depth, and then the operators below it.
func (a *Explained) add(o *engine.Operator, depth int) {
	a.Plan = append(a.Plan, PlanStep{Depth: depth, Name: o.Name, Detail: o.Detail, Estimate: o.Estimate, Rows: o.Rows, TimeNS: o.Time.Nanoseconds()})
	for _, child := range o.Children {
		a.add(child, depth+1)
	}
}
