package main

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
)

// collected returns all items of a list that is read page by page.
func collected[T any](all iter.Seq2[T, error]) ([]T, error) {
	list := []T{}
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

func (r *remote) Branches(ctx context.Context) ([]client.BranchHead, error) {
	return answered(collected(r.graph.AllBranches(ctx)))
}

func (r *remote) CreateBranch(ctx context.Context, name string, from engine.Target) (*client.BranchCreated, error) {
	return answered(r.graph.CreateBranch(ctx, client.BranchBody{Name: name, From: from.Branch, FromCommit: from.Commit}))
}

func (r *remote) DeleteBranch(ctx context.Context, name string) error {
	_, err := answered(r.graph.DeleteBranch(ctx, name))
	return err
}

func (r *remote) Commits(ctx context.Context, branch string, c engine.CommitRange) ([]client.CommitAnswer, error) {
	return answered(collected(r.graph.AllCommits(ctx, client.CommitQuery{Branch: branch, Before: c.Before, Limit: c.Limit})))
}

func (r *remote) Commit(ctx context.Context, id string) (*client.CommitAnswer, error) {
	return answered(r.graph.Commit(ctx, id))
}

func (r *remote) Changes(ctx context.Context, commit string, c engine.ChangeRange) (*client.ChangesAnswer, error) {
	query := client.ChangeQuery{Limit: c.Limit}
	if c.After != (engine.ChangePosition{}) {
		after := client.EntityChange{EntityKind: c.After.Entity, TypeName: c.After.Type, ID: c.After.ID}
		query.After = after.Position()
	}
	var all *client.ChangesAnswer
	for page, err := range r.graph.ChangePages(ctx, commit, query) {
		switch {
		case err != nil:
			return answered[*client.ChangesAnswer](nil, err)
		case all == nil:
			all = page
		default:
			all.Changes, all.More = append(all.Changes, page.Changes...), page.More
		}
	}
	all.NextPageToken = "" // the command continues after a position
	return all, nil
}

func (r *remote) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*client.MergeAnswer, error) {
	body := client.MergeBody{Source: from, Target: into, DeleteBranch: remove, DryRun: opts.DryRun}
	a, err := answered(r.graph.MergeBranches(ctx, body, conditions(engine.WriteOptions{IfCommit: opts.IfCommit, IdempotencyKey: opts.IdempotencyKey})...))
	var refused *client.Error
	if errors.As(err, &refused) && len(refused.MergeConflicts) > 0 {
		return nil, &conflicted{n: max(refused.MergeConflictCount, len(refused.MergeConflicts)), list: refused.MergeConflicts}
	}
	return a, err
}

func (r *remote) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	body := client.CleanupBody{KeepCommits: int32(min(opts.KeepCommits, math.MaxInt32)), DryRun: opts.DryRun}
	if !opts.Before.IsZero() {
		body.KeepSince = &opts.Before
	}
	return answered(r.graph.Cleanup(ctx, body))
}
