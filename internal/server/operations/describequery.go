package operations

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// DescribeQuery is the call that describes a stored query. Its answer is a client.QueryDescription.
type DescribeQuery struct {
	Query  tool.StoredQuery // the query to describe
	Branch string           // the branch for which the plan is made; empty for main
}

// Grants returns the permission to invoke the query.
func (c *DescribeQuery) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.InvokeQuery, Query: c.Query.Info().Name}}
}

// Run describes the query. If the caller may not read the branch, Run leaves out the plan, because
// the estimates in a plan depend on the stored data.
func (c *DescribeQuery) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	a := &client.QueryDescription{
		QueryEntry:  StoredQuery(c.Query),
		RunTool:     cmp.Or(env.RunTool, c.Query.Descriptor().Name),
		InputSchema: c.Query.Descriptor().InputSchema,
	}
	if env.Require(access.ReadOn(c.Branch)) == nil {
		e, err := env.Graph.Explain(ctx, c.Query.Plan(), nil, engine.Target{Branch: orMain(c.Branch)}, false)
		if err != nil {
			return nil, err
		}
		a.Plan = e.String()
	}
	return &tool.Outcome{Value: a}, nil
}
