package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// Changes lists what a commit changed against its first parent. After the states of both
// are reached, it takes the time of what changed, and of a look at each page of 256
// entities.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (_ *engine.Changes, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	was, is, err := g.before(ctx, commit)
	if err != nil {
		return nil, err
	}
	d, err := version.Compare(ctx, was, is)
	if err != nil {
		return nil, err
	}
	out := &engine.Changes{Commit: is.Commit, Nodes: d.Nodes, Edges: d.Edges}
	out.List, out.More, err = d.Page(r.After, r.Limit)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// before returns the state of a commit's first parent, nil for the first commit, and its
// own.
func (g *Graph) before(ctx context.Context, commit string) (was, is *version.Snapshot, err error) {
	if !g.reachable(commit) {
		return nil, nil, &engine.NotFound{What: "commit", Name: commit}
	}
	c, _, _ := g.history.Get(commit)
	if len(c.Parents) > 0 {
		if was, err = g.state(ctx, c.Parents[0]); err != nil {
			return nil, nil, err
		}
	}
	// It is made of its parent's, which is in memory by now, unless it is there itself.
	is, err = g.state(ctx, commit)
	return was, is, err
}
