package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

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
