package operations

import (
	"context"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Cleanup is the call that makes old commits unreadable and frees their space.
type Cleanup struct{ Options engine.CleanupOptions }

// Needs returns the permission to administer the graph.
func (*Cleanup) Needs() []tool.Need { return []tool.Need{{Action: tool.Admin}} }

// NoTimeLimit exempts the call from the time limit, because it rewrites the data that is
// kept.
func (*Cleanup) NoTimeLimit() {}

// Run removes the data of old commits, unless it is a dry run, and reports how much that is.
func (c *Cleanup) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := env.Graph.Cleanup(ctx, c.Options)
	if err != nil {
		return nil, err
	}
	out := &tool.Outcome{Value: &client.CleanedUp{
		CommitsReclaimed: r.Commits, CommitsKept: r.Kept, FilesRemoved: r.Segments, BytesFreed: r.Bytes, DryRun: c.Options.DryRun,
	}}
	if !c.Options.DryRun {
		out.Wrote = &tool.Written{}
	}
	return out, nil
}

// LogArguments returns the arguments of the call for the log.
func (c *Cleanup) LogArguments() [][]byte {
	return [][]byte{strconv.AppendInt(nil, int64(c.Options.KeepCommits), 10), c.Options.Before.UTC().AppendFormat(nil, time.RFC3339Nano)}
}
