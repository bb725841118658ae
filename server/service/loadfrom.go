package service

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Unhurried says that a load may take as long as its client needs to send it.
func (c *Load) Unhurried() {}

// LoadFrom is a load into a branch that is made for it when it does not exist.
type LoadFrom struct {
	*Load
	From string // the branch to make it from
}

// Grants returns the permissions to change the branch and to make it.
func (c *LoadFrom) Grants() []tool.Grant {
	return append(c.Load.Grants(), (&CreateBranch{Name: c.Branch, From: c.From}).Grants()...)
}

// Run makes the branch and loads the data. A branch that it made is gone again when the
// load fails.
func (c *LoadFrom) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	made, err := env.Graph.CreateBranch(ctx, orMain(c.Branch), engine.Target{Branch: c.From})
	var exists *engine.Conflict
	if errors.As(err, &exists) {
		return c.Load.Run(ctx, env)
	}
	if err != nil {
		return nil, asArgument("branch", err)
	}
	out, err := c.Load.Run(ctx, env)
	if err != nil {
		return nil, undo(ctx, env.Graph, made, err)
	}
	out.Load.From = c.From
	if c.Knobs.DryRun {
		return out, undo(ctx, env.Graph, made, nil)
	}
	return out, nil
}

// undo deletes the branch that a load made before it failed with err, or was a dry run,
// unless the outcome of the load is unknown, or somebody has written to the branch since.
func undo(ctx context.Context, g engine.Graph, made engine.Branch, err error) error {
	var unsure *engine.Indeterminate
	if errors.As(err, &unsure) {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	now, gone := g.Snapshot(ctx, engine.Target{Branch: made.Name})
	if gone != nil || now.Commit.ID != made.Head.ID {
		return err
	}
	return errors.Join(err, g.DeleteBranch(ctx, made.Name))
}
