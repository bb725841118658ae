package service

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CreateBranch is the call that makes a branch.
type CreateBranch struct {
	Name string
	From string // the branch whose head it starts at; empty for main

	// Commit, if not empty, is where it starts instead: a commit of From's line, or when
	// From is empty any that the caller may read.
	Commit string
}

// BranchCreated is the answer of CreateBranch.
type BranchCreated struct {
	Name    string  `json:"name"`
	From    string  `json:"from" jsonschema_description:"The branch that it was made from."`
	Commit  string  `json:"commit" jsonschema_description:"The commit that it starts at."`
	ActorID *string `json:"actor_id"`
}

// Grants returns the permissions to make the branch, and to read what it will share: on
// the new branch the same data may be read by others.
func (c *CreateBranch) Grants() []tool.Grant {
	return append([]tool.Grant{{Action: tool.BranchCreate, Branch: c.Name}}, c.start().Grants()...)
}

// start finds the commit that the branch is to start at.
func (c *CreateBranch) start() *Look {
	return &Look{At: engine.Target{Branch: c.From, Commit: c.Commit}}
}

// Run makes the branch. A commit that is not of the line of From is an *engine.NotFound.
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
	At   string // if not empty, the commit that the branch has to be at
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

// Run deletes the branch. When it is at another commit than At the error is a
// *engine.PreconditionFailed.
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

// MergeBranches is the call that merges a branch into another.
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

// Grants returns the permissions to merge into the target, and to read both sides: the
// target then shows the data of the source, and outcome, counts and conflicts compare the
// two.
func (c *MergeBranches) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.BranchMerge, Branch: c.Target}, readOn(c.Source), readOn(c.Target)}
}

// Run merges. Conflicts are an *engine.MergeConflicts.
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

// Merge is Run without an answer, for those that have one of their own.
func (c *MergeBranches) Merge(ctx context.Context, env *tool.Env) (*engine.MergeResult, error) {
	opts := c.Options
	opts.Actor = env.Actor
	r, err := env.Graph.Merge(ctx, orMain(c.Source), orMain(c.Target), opts)
	if err != nil {
		return nil, asArgument("source", err)
	}
	return r, nil
}

// MergeAway is Merge for those that then delete the source, by the call that it returns:
// that leaves alone what the source has besides what was merged. A merge that is repeated
// under a key may do without a source, and may find another of its name.
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

// Done is the error of the call once it is known to follow a merge of the branch: that the
// branch is gone already is what was asked for, and one that has more is kept.
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

// Outcome is the outcome of what Merge did, with its answer.
func (c *MergeBranches) Outcome(r *engine.MergeResult, answer any) *tool.Outcome {
	out := &tool.Outcome{Value: answer, Commit: r.Head.ID}
	if r.Commit != nil {
		out.Wrote = &tool.Written{Branch: orMain(c.Target), Commit: r.Commit}
	}
	return out
}

// asArgument makes a fault of the caller's argument of what the engine finds wrong with
// it: no query, and so no $parameter, is in sight of who makes or merges branches.
func asArgument(path string, err error) error {
	var bad *engine.BadArgument
	if errors.As(err, &bad) {
		return &tool.ArgumentError{Path: path, Detail: bad.Detail}
	}
	return err
}

// OnLine returns an *engine.NotFound unless the commit was made on the branch, or is one
// of those that lead to its head. Whoever may read a branch may read these; a commit id
// alone says nothing of who may read it. The error names the branch, and is the same for
// a commit of another branch as for one that does not exist.
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
