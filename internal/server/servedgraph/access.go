package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ExplainAccess returns the call that says what the actor `about` may do on the graph. That actor
// need not be the caller. The answer lists all MCP tools. If meta tools replace the stored queries,
// the answer lists these queries too.
func (g *Graph) ExplainAccess(about *access.Actor, name tool.BranchName) *operations.ExplainAccess {
	var tools []tool.Tool
	for t := range g.all {
		tools = append(tools, t)
	}
	if g.meta != nil {
		for _, q := range g.meta.Queries {
			tools = append(tools, queryrun.Tool{StoredQuery: q})
		}
	}
	var branches *access.Branches
	branch := tool.BranchNamed(string(name)) // of the actor, and not of the caller
	return &operations.ExplainAccess{
		Actor: about, Branch: branch, Authorizer: g.access.Authorizer(), Tools: tools,
		OwnDraft: func(ctx context.Context) (own bool, err error) {
			if g.access.OwnsDraft(about, branch) {
				return true, nil
			}
			p := branchResolver{g: g, actor: about}
			_, own, err = p.alias(ctx, name)
			return own, err
		},
		Decider: func(ctx context.Context) (func(tool.Grant) (bool, bool), error) { return g.access.Decider(ctx, about) },
		Visible: func(ctx context.Context, t tool.Tool) (bool, error) {
			if branches == nil {
				branches = g.access.Branches(ctx)
			}
			return g.visible(ctx, about, t, branches)
		},
	}
}

// LookGrowth returns the call of an actor that counts the entities of a branch at some of its commits.
func (g *Graph) LookGrowth(actor *access.Actor, branch tool.BranchName, points int) *operations.Look {
	return operations.LookGrowth(branch, points, &g.sizes, func(ctx context.Context, on tool.Branch, made string) (bool, error) {
		return g.access.ReadsStates(ctx, actor, on, tool.BranchNamed(made))
	})
}

// ReadAudit returns the call that lists a page of the audit trail.
func (g *Graph) ReadAudit(f audittrail.Filter, token string) *operations.ReadAudit {
	return &operations.ReadAudit{Trail: g.trail, Filter: f, Token: token}
}

// SummarizeAudit returns the call that counts the calls of the last day in the audit trail.
func (g *Graph) SummarizeAudit() *operations.SummarizeAudit {
	return &operations.SummarizeAudit{Trail: g.trail, Last: g.calls}
}

// DescribeQuery returns the call that describes a stored query. If the actor is not allowed to know
// that the query exists, the error is the same as that of [Graph.InvokeQuery].
func (g *Graph) DescribeQuery(ctx context.Context, actor *access.Actor, name string, branch tool.BranchName) (*operations.DescribeQuery, error) {
	if err := g.Invocable(ctx, actor, name); err != nil {
		return nil, err
	}
	return &operations.DescribeQuery{Query: g.queries[name], Branch: branch}, nil
}
