package operations

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// DescribeQuery is the call that describes a stored query. Its answer is a client.QueryDescription.
type DescribeQuery struct {
	Query  tool.StoredQuery // the query to describe
	Branch tool.BranchName  // the branch for which the plan is made
}

// Needs returns the permission to invoke the query, or to read the branch if it runs as an ad-hoc one.
func (c *DescribeQuery) Needs() []tool.Need {
	if c.Query.Info().AdHoc {
		return []tool.Need{access.ToRead(c.Branch)}
	}
	return []tool.Need{{Action: tool.InvokeQuery, Query: c.Query.Info().Name}}
}

// Run describes the query. If the caller may not read the branch with queries of its own, Run leaves out
// the plan, because the estimates in a plan depend on the stored data.
func (c *DescribeQuery) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	a := &client.QueryDescription{
		QueryEntry:  StoredQuery(c.Query),
		RunTool:     cmp.Or(env.RunTool, c.Query.Descriptor().Name),
		InputSchema: c.Query.Descriptor().InputSchema,
	}
	if branch := env.Branch(c.Branch); env.Require(access.ReadOn(branch)) == nil {
		// The caller may read less with queries of its own, and then gets the plan only if it names nothing hidden from them.
		if q := restricted.Plan(env.Graph, c.Query.Plan()); q != nil {
			e, err := env.Graph.Explain(ctx, q, nil, branch.At(), false)
			if err != nil {
				return nil, err
			}
			a.Plan = e.String()
		}
	}
	return &tool.Outcome{Value: a}, nil
}
