package operations

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// MergeBranches is the call that merges one branch into another.
type MergeBranches struct {
	Source  string              // the branch whose changes are merged
	Target  string              // empty for main
	Options engine.MergeOptions // such as a dry run
	Notes   []string            // for the answer to a model: about conditions that are null
}

// BranchMergeResult is the answer of MergeBranches.
type BranchMergeResult struct {
	Source  string  `json:"source"` // the branch that was merged
	Target  string  `json:"target"` // the branch that received the changes
	Outcome string  `json:"outcome" jsonschema:"enum=already_up_to_date,enum=fast_forward,enum=merged"`
	DryRun  bool    `json:"dry_run" jsonschema_description:"Nothing was committed."`
	Commit  *string `json:"commit" jsonschema_description:"The commit on the target; null if nothing changed."`
	Head    string  `json:"head" jsonschema_description:"The commit at the head of the target."`
	ActorID *string `json:"actor_id"` // the caller; null if it has none

	Notes []string `json:"notes,omitempty" jsonschema_description:"About conditions that are null."`
}

// Grants returns the permissions to merge into the target and to read both branches. After
// the merge the target shows the data of the source, and the outcome, the counts and the
// conflicts compare both.
func (c *MergeBranches) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.BranchMerge, Branch: c.Target}, access.ReadOn(c.Source), access.ReadOn(c.Target)}
}

// Run merges. Conflicts give an *engine.MergeConflicts.
func (c *MergeBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := c.Merge(ctx, env)
	if err != nil {
		return nil, err
	}
	return c.Outcome(env, r, &BranchMergeResult{
		Source: env.Branch(c.Source), Target: env.Branch(c.Target), Outcome: r.Outcome.String(), DryRun: c.Options.DryRun,
		Commit: encoding.OrNil(encoding.CommitID(r.Commit)), Head: r.Head.ID, ActorID: encoding.OrNil(env.Actor), Notes: c.Notes,
	}), nil
}

// Merge merges like Run but leaves the answer to the caller.
func (c *MergeBranches) Merge(ctx context.Context, env *tool.Env) (*engine.MergeResult, error) {
	opts := c.Options
	opts.Actor = env.Actor
	var r *engine.MergeResult
	write := func(heads tool.Heads) (err error) {
		opts.IfSource, opts.IfCommit = heads.Require(0, opts.IfSource), heads.Require(1, opts.IfCommit)
		r, err = env.Graph.Merge(ctx, orMain(c.Source), orMain(c.Target), opts)
		return err
	}
	var err error
	if source, target := env.Branch(c.Source), env.Branch(c.Target); opts.DryRun {
		err = write(nil)
	} else {
		what := "merge the branch " + source + " into " + target
		err = env.Confirmed(ctx, tool.Step{Action: tool.BranchMerge, What: what, Branches: []string{source, target}}, write)
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
		out.Wrote = &tool.Written{Branch: env.Branch(c.Target), Commit: r.Commit}
	}
	return out
}

// LogArguments returns the arguments of the call for the log.
func (c *MergeBranches) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Source), []byte(c.Target)}
}

// LogKey returns the idempotency key for the log.
func (c *MergeBranches) LogKey() string { return c.Options.IdempotencyKey }
