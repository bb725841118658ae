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
	if c.Knobs.DryRun {
		return c.try(ctx, env)
	}
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
	return out, nil
}

// try is Run without a trace: others would see a branch, even one that is there for a
// moment only, and could write to it. Where the branch would begin, the load does the same.
func (c *LoadFrom) try(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	_, err := env.Graph.Schema(ctx, engine.Target{Branch: c.Branch})
	var missing *engine.NotFound
	if !errors.As(err, &missing) {
		return c.Load.Run(ctx, env)
	}
	if err := engine.CheckBranchName(c.Branch); err != nil {
		return nil, asArgument("branch", err)
	}
	load := *c.Load
	load.Branch = c.From
	out, err := load.Run(ctx, env)
	if err != nil {
		return nil, err
	}
	out.Load.Branch, out.Load.From = c.Branch, c.From
	return out, nil
}

// undo deletes the branch that a load made before it failed with err, unless the outcome
// of the load is unknown, or somebody has written to the branch since.
func undo(ctx context.Context, g engine.Graph, made engine.Branch, err error) error {
	var unsure *engine.Indeterminate
	if errors.As(err, &unsure) {
		return err
	}
	fault := g.DeleteBranchAt(context.WithoutCancel(ctx), made.Name, made.Head.ID)
	var written *engine.PreconditionFailed
	var missing *engine.NotFound
	if errors.As(fault, &written) || errors.As(fault, &missing) {
		return err
	}
	return errors.Join(err, fault)
}
