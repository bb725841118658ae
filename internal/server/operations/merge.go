package operations

import (
	"cmp"
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// MergeBranches is the call that merges one branch into another.
type MergeBranches struct {
	Source  tool.BranchName     // the branch whose changes are merged
	Target  tool.BranchName     // the branch that receives them
	Options engine.MergeOptions // such as a dry run
	Notes   []string            // for the answer to a model: about conditions that are null
}

// BranchMergeResult is the answer of MergeBranches.
type BranchMergeResult struct {
	Source        string  `json:"source"` // the branch that was merged
	Target        string  `json:"target"` // the branch that received the changes
	Outcome       string  `json:"outcome" jsonschema:"enum=already_up_to_date,enum=fast_forward,enum=merged"`
	DryRun        bool    `json:"dry_run" jsonschema_description:"Nothing was committed."`
	GraphCommitID *string `json:"graph_commit_id" jsonschema_description:"The commit on the target; null if nothing changed."`
	Head          string  `json:"head" jsonschema_description:"The commit at the head of the target."`
	ActorID       *string `json:"actor_id"` // the caller; null if it has none

	Notes []string `json:"notes,omitempty" jsonschema_description:"About conditions that are null."`
}

// Needs returns the permissions to merge into the target and to read both branches. After
// the merge the target shows the data of the source, and the outcome, the counts and the
// conflicts compare both.
func (c *MergeBranches) Needs() []tool.Need {
	return []tool.Need{{Action: tool.BranchMerge, Branch: c.Target}, access.ToRead(c.Source), access.ToRead(c.Target)}
}

// Run merges. Conflicts give an *engine.MergeConflicts.
func (c *MergeBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := c.Merge(ctx, env)
	if err != nil {
		return nil, err
	}
	return c.Outcome(env, r, &BranchMergeResult{
		Source: env.Branch(c.Source).Name(), Target: env.Branch(c.Target).Name(), Outcome: r.Outcome.String(), DryRun: c.Options.DryRun,
		GraphCommitID: encoding.OrNil(encoding.CommitID(r.Commit)), Head: r.Head.ID, ActorID: encoding.ActorID(env.Actor), Notes: c.Notes,
	}), nil
}

// Merge merges like Run but leaves the answer to the caller.
func (c *MergeBranches) Merge(ctx context.Context, env *tool.Env) (*engine.MergeResult, error) {
	opts := c.Options
	opts.Actor, opts.Tool, opts.Message = env.Actor, env.Tool, cmp.Or(opts.Message, env.Message)
	source, target := env.Branch(c.Source), env.Branch(c.Target)
	var r *engine.MergeResult
	write := func(heads tool.Heads) (err error) {
		opts.IfSource, opts.IfCommit = heads.Require(0, opts.IfSource), heads.Require(1, opts.IfCommit)
		r, err = env.Graph.Merge(ctx, source.Name(), target.Name(), opts)
		return err
	}
	var err error
	if opts.DryRun {
		err = write(nil)
	} else {
		what := "merge the branch " + source.Name() + " into " + target.Name()
		err = env.Confirmed(ctx, tool.Step{Action: tool.BranchMerge, What: what, Branches: []tool.Branch{source, target}}, write)
	}
	if err != nil {
		return nil, asArgument("source", err)
	}
	return r, nil
}

// Outcome returns the outcome of a merge with the given answer.
func (c *MergeBranches) Outcome(env *tool.Env, r *engine.MergeResult, answer any) *tool.Outcome {
	out := &tool.Outcome{Value: answer, Commit: r.Head.ID}
	if r.Commit != nil {
		out.Wrote = &tool.Written{Branch: new(env.Branch(c.Target)), Commit: r.Commit}
	}
	return out
}

// LogArguments returns the arguments of the call for the log.
func (c *MergeBranches) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Source), []byte(c.Target)}
}

// LogKey returns the idempotency key for the log.
func (c *MergeBranches) LogKey() string { return c.Options.IdempotencyKey }

// MergeAndDelete is the call that merges a branch, and may delete the source afterwards. The answer is a
// *client.MergeAnswer.
type MergeAndDelete struct {
	MergeBranches
	Delete bool // delete the source after the merge

	answer *client.MergeAnswer // set by Run
	gone   DeleteBranch        // the deletion of the source; complete after Run
}

// Needs returns the permissions to merge, and if the source is to be deleted, also to delete it: a caller without
// the right to delete merges nothing.
func (c *MergeAndDelete) Needs() []tool.Need {
	needs := c.MergeBranches.Needs()
	if c.Delete {
		needs = append(needs, (&DeleteBranch{Name: c.Source}).Needs()...)
	}
	return needs
}

// Run merges. It also decides at which commit the source may be deleted: a source that got more commits since the
// merge is kept. If a merge is repeated with its idempotency key, the source may no longer exist, or may be a new
// branch of the same name.
func (c *MergeAndDelete) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	before, err := env.Graph.Commits(ctx, env.Branch(c.Source).Name(), engine.CommitRange{Limit: 1})
	var missing *engine.NotFound
	if err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	r, err := c.Merge(ctx, env)
	if err != nil {
		return nil, err
	}
	c.gone = DeleteBranch{Name: c.Source}
	switch {
	case r.Commit != nil && len(r.Commit.Parents) == 2:
		c.gone.At = r.Commit.Parents[1]
	case len(before) > 0:
		c.gone.At = before[0].ID
	}
	c.answer = &client.MergeAnswer{
		Source: env.Branch(c.Source).Name(), Target: env.Branch(c.Target).Name(), Outcome: r.Outcome.String(), AffectedNodes: r.Nodes, AffectedEdges: r.Edges,
		GraphCommitID: encoding.OrNil(encoding.CommitID(r.Commit)), ActorID: encoding.ActorID(env.Actor), DryRun: c.Options.DryRun,
	}
	return c.Outcome(env, r, c.answer), nil
}

// Do merges with the function `do`, which runs a call of the named operation, and then deletes the source with it. If the
// deletion fails, the merge stays, and the answer has what `text` returns for the error.
func (c *MergeAndDelete) Do(do func(operation string, call tool.Call) error, text func(error) string) (*client.MergeAnswer, error) {
	if err := do("merge_branches", c); err != nil {
		return nil, err
	}
	if !c.Delete || c.Options.DryRun {
		return c.answer, nil
	}
	if err := c.gone.done(do("delete_branch", &c.gone)); err != nil {
		c.answer.BranchDeleteError = encoding.OrNil(text(err))
	} else {
		c.answer.BranchDeleted = true
	}
	return c.answer, nil
}

// done converts the error of the deletion after a merge. A branch that is already deleted
// is a success. A branch with further commits is kept, and the error is an
// *engine.Conflict.
func (c *DeleteBranch) done(err error) error {
	var missing *engine.NotFound
	var closed *engine.DraftClosed // the merge has ended the draft
	var written *engine.PreconditionFailed
	switch {
	case errors.As(err, &missing), errors.As(err, &closed):
		return nil
	case errors.As(err, &written):
		return &engine.Conflict{Reason: "branch " + string(c.Name) + " is at commit " + written.Actual + ", but only commit " + written.Expected + " is merged; merge the later commits, then delete the branch"}
	}
	return err
}
