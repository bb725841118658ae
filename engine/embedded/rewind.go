package embedded

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// At returns the commit that was the head of a branch at a time: the last commit of the branch that
// was made no later than that. An empty name means main. The error is a *engine.NotFound if the branch
// has no such commit.
func (v *View) At(ctx context.Context, branch string, at time.Time) (engine.Commit, error) {
	all, err := v.graph.Commits(ctx, branch, engine.CommitRange{})
	if err != nil {
		return engine.Commit{}, err
	}
	i := slices.IndexFunc(all, func(c engine.Commit) bool { return !c.Time.After(at) })
	if i < 0 {
		return engine.Commit{}, &engine.NotFound{What: "commit at or before", Name: at.Format(time.RFC3339Nano)}
	}
	return all[i], nil
}

// Readable returns an error if the state of a commit cannot be restored: a *engine.NotFound if no
// branch has the commit among its ancestors, or if a cleanup has removed the state.
func (v *View) Readable(ctx context.Context, commit string) error {
	_, err := v.graph.snapshot(ctx, engine.Target{Commit: commit})
	return err
}

// rewind makes `commit` the head of main, and removes all other branches, all proposals and all drafts. Of the
// commits with idempotency keys on main, only the ancestors of `commit` keep their keys. A checkpoint stores
// the result, so rewind writes no log record. REQUIRES: no other goroutine has access to the graph, and
// start was not called.
func (g *Graph) rewind(ctx context.Context, commit string) error {
	state, err := g.restorer.state(ctx, commit)
	if err != nil {
		return err
	}
	since, err := g.retention.runOf(nil, state)
	if err != nil {
		return err
	}
	l := &g.branches
	main := recoveredBranch(engine.MainBranch, state.Fork(), l.lsn)
	main.line.run = since
	for _, r := range l.main.keys.Current(&g.history, g.opts.time()) {
		if kept := r.Unpack(&g.history); g.history.InLine(kept.Commit.ID, commit) {
			main.keys.Add(&g.history, kept.Commit, &kept.Receipt)
		}
	}
	l.mu.Lock()
	for _, b := range slices.Clone(l.sorted) {
		b.deleted = true
		l.removeLocked(b)
	}
	l.addLocked(main)
	l.main, l.proposals, l.drafts = main, proposals{reclaimed: l.proposals.latestEvent()}, drafts{}
	l.mu.Unlock()
	g.retention.branchDeleted()
	c := &g.checkpoints
	c.mu.Lock()
	defer c.mu.Unlock()
	g.layout.Lock()
	defer g.layout.Unlock()
	cut := l.cut(g.opts.time())
	cut.rewrite = true // a server that follows the log loads this checkpoint
	if err := c.flushCutLocked(ctx, cut); err != nil {
		return errors.Join(errors.New("storing the past state"), err)
	}
	return nil
}
