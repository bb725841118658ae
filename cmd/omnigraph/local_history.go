package main

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func (l *local) Branches(ctx context.Context) (list []client.BranchHead, err error) {
	err = l.call(ctx, "list_branches", &operations.ListBranches{Answer: func(branches []engine.Branch, _ string) any {
		heads := make([]client.BranchHead, len(branches))
		for i, b := range branches {
			heads[i] = operations.BranchHead(b)
		}
		return heads
	}}, &list)
	return list, err
}

func (l *local) CreateBranch(ctx context.Context, name string, from engine.Target) (*client.BranchCreated, error) {
	a := &client.BranchCreated{}
	return a, l.call(ctx, "create_branch", &operations.CreateBranch{Name: name, From: from.Branch, Commit: from.Commit}, a)
}

func (l *local) DeleteBranch(ctx context.Context, name string) error {
	return l.call(ctx, "delete_branch", &operations.DeleteBranch{Name: name}, &struct{}{})
}

// Commits asks for as many pages as needed, like the iterators of package client.
func (l *local) Commits(ctx context.Context, branch string, r engine.CommitRange) (list []client.CommitAnswer, err error) {
	for most := r.Limit; ; {
		if most > 0 {
			r.Limit = most - len(list)
		}
		page := client.CommitList{}
		if err := l.call(ctx, "list_commits", operations.LookCommits(engine.Target{Branch: branch}, r, ""), &page); err != nil {
			return nil, err
		}
		list = append(list, page.Commits...)
		if page.NextBefore == nil || most > 0 && len(list) >= most {
			return list, nil
		}
		r.Before = *page.NextBefore
	}
}

func (l *local) Commit(ctx context.Context, id string) (*client.CommitAnswer, error) {
	a := &client.CommitAnswer{}
	return a, l.call(ctx, "get_commit", operations.LookCommit(engine.Target{Commit: id}), a)
}

// Merge checks all permissions first. So an actor that may not delete the branch is refused before
// the branch is merged.
func (l *local) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*client.MergeAnswer, error) {
	m, gone := &operations.MergeBranches{Source: from, Target: into, Options: opts}, &operations.DeleteBranch{Name: from}
	grants := m.Grants()
	if remove {
		grants = append(grants, gone.Grants()...)
	}
	a := &client.MergeAnswer{}
	err := l.call(ctx, "merge_branches", &operation{grants, func(ctx context.Context, env *tool.Env) (any, error) {
		r, merged, err := m.MergeAway(ctx, env)
		if err != nil {
			return nil, err
		}
		gone = merged
		return m.Merged(env, r), nil
	}}, a)
	var conflicts *engine.MergeConflicts
	switch {
	case errors.As(err, &conflicts):
		return nil, conflictsOf(conflicts)
	case err != nil:
		return nil, err
	}
	if remove && !opts.DryRun {
		if err := gone.Done(l.call(ctx, "delete_branch", gone, &struct{}{})); err != nil {
			a.BranchDeleteError = encoding.OrNil(err.Error())
		} else {
			a.BranchDeleted = true
		}
	}
	return a, nil
}

// Changes asks for as many pages as needed, like the iterators of package client.
func (l *local) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*client.ChangesAnswer, error) {
	var all *client.ChangesAnswer
	for most := r.Limit; ; {
		page := &client.ChangesAnswer{}
		if err := l.call(ctx, "list_changes", operations.LookChanges(engine.Target{Commit: commit}, r, ""), page); err != nil {
			return nil, err
		}
		if all == nil {
			all = page
		} else {
			all.Changes, all.More = append(all.Changes, page.Changes...), page.More
		}
		n := len(all.Changes)
		if !page.More || most > 0 && n >= most {
			all.NextPageToken = "" // the command continues after a position
			return all, nil
		}
		if most > 0 {
			r.Limit = most - n
		}
		last := all.Changes[n-1]
		r.After = engine.ChangePosition{Entity: last.EntityKind, Type: last.TypeName, ID: last.ID}
	}
}

func (l *local) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	a := &client.CleanedUp{}
	return a, l.call(ctx, "cleanup", &operations.Cleanup{Options: opts}, a)
}

func (l *local) Verify(ctx context.Context) ([]client.StoredFault, error) {
	a := &client.Verified{}
	err := l.call(ctx, "verify", &operations.Verify{}, a)
	return a.Faults, err
}
