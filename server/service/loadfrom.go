package service

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Unhurried says that a load may take as long as its client needs to send it.
func (c *Load) Unhurried() {}

// LoadFrom is a load into a branch that is made for it when it does not exist. Its grants
// are those of the load.
type LoadFrom struct {
	*Load
	From string // the branch to make it from
}

// Run makes the branch, which the caller needs the permission for, and loads the data. A
// branch that it made is gone again when the load fails. Into a branch that is there it
// is a Load, which needs no more than that does.
func (c *LoadFrom) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	_, err := env.Graph.Schema(ctx, engine.Target{Branch: c.Branch})
	var missing *engine.NotFound
	switch {
	case err == nil:
		return c.Load.Run(ctx, env)
	case !errors.As(err, &missing):
		return nil, err
	}
	if err := env.Require((&CreateBranch{Name: c.Branch, From: c.From}).Grants()...); err != nil {
		return nil, err
	}
	if c.Knobs.DryRun {
		return c.try(ctx, env)
	}
	made, err := env.Graph.CreateBranch(ctx, orMain(c.Branch), engine.Target{Branch: c.From})
	var exists *engine.Conflict
	switch {
	case errors.As(err, &exists): // by now
		return c.Load.Run(ctx, env)
	case err != nil:
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
