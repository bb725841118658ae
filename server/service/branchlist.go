package service

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ListBranches is the call that lists the branches that the caller may read. It leaves out
// the others: a name tells the work of others, and a head who wrote and when.
type ListBranches struct {
	// Answer makes the answer of the branches, which are in name order.
	Answer func([]engine.Branch) any
}

// Grants returns the permission to read main.
func (*ListBranches) Grants() []tool.Grant { return []tool.Grant{readOn("")} }

// Run lists the branches.
func (c *ListBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branches, err := readable(ctx, env.Graph, func(grant tool.Grant) bool { return env.Require(grant) == nil })
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: c.Answer(branches)}, nil
}

// readable lists the branches that a caller may read; every list of branches comes from
// here.
func readable(ctx context.Context, g engine.Graph, allowed func(tool.Grant) bool) ([]engine.Branch, error) {
	branches, err := g.Branches(ctx)
	if err != nil {
		return nil, err
	}
	// The engine may keep the slice.
	return slices.DeleteFunc(slices.Clone(branches), func(b engine.Branch) bool { return !allowed(readOn(b.Name)) }), nil
}
