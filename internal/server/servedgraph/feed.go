package servedgraph

import (
	"cmp"
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// headInterval is the time between two looks at the head of a branch. The engine answers such a look
// from memory, also on a server that follows the log of another one.
const headInterval = 50 * time.Millisecond

// AwaitCommit waits until the head of a branch is another commit than `seen`. An empty branch means
// main. AwaitCommit reads no data and asks no policy; the caller then reads the commit through [Graph.Do].
func (g *Graph) AwaitCommit(ctx context.Context, branch, seen string) error {
	tick := time.NewTicker(headInterval)
	defer tick.Stop()
	for {
		head, err := g.engine.Commits(ctx, cmp.Or(branch, engine.MainBranch), engine.CommitRange{Limit: 1})
		if err != nil {
			return err
		}
		if len(head) > 0 && head[0].ID != seen {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
