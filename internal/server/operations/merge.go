package operations

import (
	"cmp"
	"context"

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
