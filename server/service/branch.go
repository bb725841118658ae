package service

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CreateBranch is the call that creates a branch.
type CreateBranch struct {
	Name string
	From string // the branch whose head is the start; empty for main

	// Commit, if not empty, is the commit to start at instead. It must be in the history of
	// From, or, if From is empty, be any commit that the caller may read.
	Commit string
}

// BranchCreated is the answer of CreateBranch.
type BranchCreated struct {
	Name    string  `json:"name"`
	From    string  `json:"from" jsonschema_description:"The branch that it was made from."`
	Commit  string  `json:"commit" jsonschema_description:"The commit that it starts at."`
	ActorID *string `json:"actor_id"`
}

// Grants returns the permissions to create the branch and to read its start. The second is
// needed because other actors may be able to read the same data on the new branch.
func (c *CreateBranch) Grants() []tool.Grant {
	return append([]tool.Grant{{Action: tool.BranchCreate, Branch: c.Name}}, c.start().Grants()...)
}

// start returns the lookup of the commit that the branch starts at.
func (c *CreateBranch) start() *Look {
	return &Look{At: engine.Target{Branch: c.From, Commit: c.Commit}}
}

// Run creates the branch. The error is an *engine.NotFound if Commit is not in the history
// of From.
func (c *CreateBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	from, at := orMain(c.From), engine.Target{Branch: orMain(c.From)}
	if c.Commit != "" {
		start, err := c.start().commit(ctx, env.Graph)
		if err != nil {
			return nil, err
		}
		at = engine.Target{Commit: start.ID}
		if c.From == "" {
			from = start.Branch
		}
	}
	b, err := env.Graph.CreateBranch(ctx, c.Name, at)
	if err != nil {
		return nil, asArgument("name", err)
	}
	return &tool.Outcome{
		Value:  &BranchCreated{Name: b.Name, From: from, Commit: b.Head.ID, ActorID: orNil(env.Actor)},
		Commit: b.Head.ID, Wrote: &tool.Written{Branch: b.Name},
	}, nil
}

// DeleteBranch is the call that deletes a branch.
type DeleteBranch struct {
	Name string
	At   string // if not empty, the commit that must be the branch's head
}

// BranchDeleted is the answer of DeleteBranch.
type BranchDeleted struct {
	Name    string  `json:"name"`
	ActorID *string `json:"actor_id"`
}

// Grants returns the permission to delete the branch.
func (c *DeleteBranch) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.BranchDelete, Branch: c.Name}}
}

// Run deletes the branch. The error is an *engine.PreconditionFailed if At is set and is
// not the branch's head.
func (c *DeleteBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	var err error
	if c.At == "" {
		err = env.Graph.DeleteBranch(ctx, c.Name)
	} else {
		err = env.Graph.DeleteBranchAt(ctx, c.Name, c.At)
	}
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &BranchDeleted{Name: c.Name, ActorID: orNil(env.Actor)}, Wrote: &tool.Written{Branch: c.Name}}, nil
}

// MergeBranches is the call that merges one branch into another.
type MergeBranches struct {
	Source  string
	Target  string // empty for main
	Options engine.MergeOptions
}

// BranchMerged is the answer of MergeBranches.
type BranchMerged struct {
	Source  string  `json:"source"`
	Target  string  `json:"target"`
	Outcome string  `json:"outcome" jsonschema:"enum=already_up_to_date,enum=fast_forward,enum=merged"`
	DryRun  bool    `json:"dry_run" jsonschema_description:"Nothing was committed."`
	Commit  *string `json:"commit" jsonschema_description:"The commit on the target; null when nothing changed."`
	Head    string  `json:"head" jsonschema_description:"The commit at the head of the target."`
	ActorID *string `json:"actor_id"`
}

// Grants returns the permissions to merge into the target and to read both branches. After
// the merge the target shows the data of the source, and the outcome, the counts and the
// conflicts compare both.
func (c *MergeBranches) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.BranchMerge, Branch: c.Target}, readOn(c.Source), readOn(c.Target)}
}

// Run merges. Conflicts give an *engine.MergeConflicts.
func (c *MergeBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := c.Merge(ctx, env)
	if err != nil {
		return nil, err
	}
	return c.Outcome(r, &BranchMerged{
		Source: orMain(c.Source), Target: orMain(c.Target), Outcome: r.Outcome.String(), DryRun: c.Options.DryRun,
		Commit: orNil(commitID(r.Commit)), Head: r.Head.ID, ActorID: orNil(env.Actor),
	}), nil
}

// Merge merges like Run but leaves the answer to the caller.
func (c *MergeBranches) Merge(ctx context.Context, env *tool.Env) (*engine.MergeResult, error) {
	opts := c.Options
	opts.Actor = env.Actor
	r, err := env.Graph.Merge(ctx, orMain(c.Source), orMain(c.Target), opts)
	if err != nil {
		return nil, asArgument("source", err)
	}
	return r, nil
}

// MergeAway merges like Merge and also returns the call that deletes the source afterwards.
// That call does not delete a source that got more commits since the merge. If a merge is
// repeated with its idempotency key, the source may no longer exist, or may be a new branch
// of the same name.
func (c *MergeBranches) MergeAway(ctx context.Context, env *tool.Env) (r *engine.MergeResult, gone *DeleteBranch, err error) {
	gone = &DeleteBranch{Name: c.Source}
	before, err := env.Graph.Commits(ctx, c.Source, engine.CommitRange{Limit: 1})
	var missing *engine.NotFound
	if err != nil && !errors.As(err, &missing) {
		return nil, nil, err
	}
	if r, err = c.Merge(ctx, env); err != nil {
		return nil, nil, err
	}
	switch {
	case r.Commit != nil && len(r.Commit.Parents) == 2:
		gone.At = r.Commit.Parents[1]
	case len(before) > 0:
		gone.At = before[0].ID
	}
	return r, gone, nil
}

// Done converts the error of the deletion after a merge. A branch that is already deleted
// is a success. A branch with further commits is kept, and the error is an
// *engine.Conflict.
func (c *DeleteBranch) Done(err error) error {
	var missing *engine.NotFound
	var written *engine.PreconditionFailed
	switch {
	case errors.As(err, &missing):
		return nil
	case errors.As(err, &written):
		return &engine.Conflict{Reason: "branch " + c.Name + " is at commit " + written.Actual + ", of which commit " + written.Expected + " is merged; it is kept for what it has besides"}
	}
	return err
}

// Outcome returns the outcome of a merge with the given answer.
func (c *MergeBranches) Outcome(r *engine.MergeResult, answer any) *tool.Outcome {
	out := &tool.Outcome{Value: answer, Commit: r.Head.ID}
	if r.Commit != nil {
		out.Wrote = &tool.Written{Branch: orMain(c.Target), Commit: r.Commit}
	}
	return out
}

// asArgument converts an *engine.BadArgument to a *tool.ArgumentError at path. The engine's
// text speaks of a query's $parameter, which a caller that creates or merges branches does
// not have.
func asArgument(path string, err error) error {
	var bad *engine.BadArgument
	if errors.As(err, &bad) {
		return &tool.ArgumentError{Path: path, Detail: bad.Detail}
	}
	return err
}

// OnLine returns an *engine.NotFound unless the commit was made on the branch or is an
// ancestor of its head. An actor that may read a branch may read these commits; the id of a
// commit alone does not show which actors may read it. The error names the branch. It is
// the same for a commit of another branch as for a commit that does not exist.
func OnLine(ctx context.Context, g engine.Graph, branch, commit string) error {
	c, err := g.Commit(ctx, commit)
	if err == nil {
		if c.Branch == orMain(branch) {
			return nil
		}
		_, err = g.Schema(ctx, engine.Target{Branch: branch, AtLeast: commit})
	}
	var missing *engine.NotFound
	if errors.As(err, &missing) && missing.Name == commit {
		return &engine.NotFound{What: "on branch " + orMain(branch) + ", commit", Name: commit}
	}
	return err
}

func orMain(branch string) string {
	if branch == "" {
		return engine.MainBranch
	}
	return branch
}
