package operations

import (
	"context"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Upload is the call that receives data for a later load, or that asks about such data. It changes nothing in the graph.
type Upload struct {
	Branch tool.BranchName // the branch that the data is for
	Do     func(ctx context.Context, env *tool.Env) error
}

// Needs returns the permission that the load will need, so that only those who may load can occupy storage.
func (c *Upload) Needs() []tool.Need {
	return []tool.Need{{Action: tool.Change, Branch: c.Branch, Via: tool.AdHoc}}
}

// NoTimeLimit exempts the call from the time limit: it may take as long as the client needs to send the data.
func (*Upload) NoTimeLimit() {}

// Run receives the data.
func (c *Upload) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return &tool.Outcome{Value: struct{}{}}, c.Do(ctx, env)
}

// LogArguments returns the arguments of the call for the log.
func (*Upload) LogArguments() [][]byte { return [][]byte{} }
