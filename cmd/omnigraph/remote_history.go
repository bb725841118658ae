package main

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/operations"
)

func (r *remote) Branches(ctx context.Context) ([]branchAnswer, error) {
	all := []branchAnswer{}
	query := url.Values{"limit": {strconv.Itoa(pageBranches)}}
	for {
		var page struct {
			Branches []string       `json:"branches"`
			Heads    []branchAnswer `json:"heads"` // heads of the branches that the caller may read
			Next     string         `json:"next_page_token"`
		}
		if err := r.into(ctx, reading("/branches", query), &page); err != nil {
			return nil, err
		}
		heads := map[string]branchAnswer{}
		for _, b := range page.Heads {
			heads[b.Name] = b
		}
		for _, name := range page.Branches {
			b := heads[name]
			b.Name = name
			all = append(all, b)
		}
		if page.Next == "" {
			return all, nil
		}
		if len(page.Branches) == 0 || page.Next == query.Get("page_token") {
			return nil, errNoProgress
		}
		query.Set("page_token", page.Next)
	}
}

// pageBranches is the number of branches that one request asks for.
const pageBranches = 1000

type branchBody struct {
	Name       string `json:"name"`
	From       string `json:"from,omitempty"`
	FromCommit string `json:"from_commit,omitempty"`
}

func (r *remote) CreateBranch(ctx context.Context, name string, from engine.Target) (*branchCreated, error) {
	q, err := posting("/branches", branchBody{Name: name, From: from.Branch, FromCommit: from.Commit})
	if err != nil {
		return nil, err
	}
	a := &branchCreated{}
	return a, r.into(ctx, q, a)
}

func (r *remote) DeleteBranch(ctx context.Context, name string) error {
	_, err := r.ask(ctx, &request{method: http.MethodDelete, path: "/branches/" + segment(name)})
	return err
}

func (r *remote) Commits(ctx context.Context, branch string, c engine.CommitRange) (all []commitAnswer, err error) {
	query := url.Values{}
	setIf(query, "branch", branch)
	before := c.Before
	for {
		if before > 0 && before <= math.MaxInt32 { // there are no commits beyond this
			query.Set("before", strconv.FormatUint(before, 10))
		}
		if c.Limit > 0 {
			query.Set("limit", strconv.Itoa(min(c.Limit-len(all), math.MaxInt32)))
		}
		var page struct {
			Commits    []commitAnswer `json:"commits"`
			NextBefore *uint64        `json:"next_before"`
		}
		if err := r.into(ctx, reading("/commits", query), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Commits...)
		if page.NextBefore == nil || len(page.Commits) == 0 || c.Limit > 0 && len(all) >= c.Limit {
			return all, nil
		}
		if before > 0 && *page.NextBefore >= before {
			return nil, errNoProgress
		}
		before = *page.NextBefore
	}
}

func (r *remote) Commit(ctx context.Context, id string) (*commitAnswer, error) {
	a := &commitAnswer{}
	return a, r.into(ctx, reading("/commits/"+segment(id), nil), a)
}

// pageChanges is the number of changed entities that one request asks for. It is the largest number
// that a server returns.
const pageChanges = 10_000

func (r *remote) Changes(ctx context.Context, commit string, c engine.ChangeRange) (*changesAnswer, error) {
	var all *changesAnswer
	query := url.Values{}
	for after := c.After; ; {
		most := pageChanges
		if all != nil && c.Limit > 0 {
			most = min(most, c.Limit-len(all.Changes))
		} else if c.Limit > 0 {
			most = min(most, c.Limit)
		}
		query.Set("limit", strconv.Itoa(most))
		if after != (engine.ChangePosition{}) {
			query.Set("after", after.Entity+"/"+after.Type+"/"+after.ID)
		}
		page := &changesAnswer{}
		if err := r.into(ctx, reading("/commits/"+segment(commit)+"/changes", query), page); err != nil {
			return nil, err
		}
		if all == nil {
			all = page
		} else {
			all.Changes, all.More = append(all.Changes, page.Changes...), page.More
		}
		n := len(page.Changes)
		if !page.More || n == 0 || c.Limit > 0 && len(all.Changes) >= c.Limit {
			return all, nil
		}
		last := &page.Changes[n-1]
		next := engine.ChangePosition{Entity: last.EntityKind, Type: last.TypeName, ID: last.ID}
		if next == after {
			return nil, errNoProgress
		}
		after = next
	}
}

type mergeBody struct {
	Source       string `json:"source"`
	Target       string `json:"target"`
	DeleteBranch bool   `json:"delete_branch,omitempty"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

func (r *remote) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*mergeAnswer, error) {
	q, err := posting("/branches/merge", mergeBody{Source: from, Target: into, DeleteBranch: remove, DryRun: opts.DryRun})
	if err != nil {
		return nil, err
	}
	q.under(engine.WriteOptions{IfCommit: opts.IfCommit, IdempotencyKey: opts.IdempotencyKey, DryRun: opts.DryRun})
	a := &mergeAnswer{}
	err = r.into(ctx, q, a)
	var refused *serverError
	if errors.As(err, &refused) && len(refused.Body.MergeConflicts) > 0 {
		c := &conflicted{n: max(refused.Body.MergeConflictCount, len(refused.Body.MergeConflicts))}
		for _, f := range refused.Body.MergeConflicts {
			c.list = append(c.list, conflictAnswer{f.Kind, f.EntityKind, f.TypeName, f.ID, f.Property, f.Message})
		}
		return nil, c
	}
	return a, err
}

func (r *remote) Verify(ctx context.Context) ([]operations.StoredFault, error) {
	q, err := posting("/verify", struct{}{})
	if err != nil {
		return nil, err
	}
	q.repeats = true
	var a struct {
		Faults []operations.StoredFault `json:"faults"`
	}
	err = r.into(ctx, q, &a)
	return a.Faults, err
}

type cleanupBody struct {
	KeepCommits int    `json:"keep_commits,omitempty"`
	KeepSince   string `json:"keep_since,omitempty"`
	DryRun      bool   `json:"dry_run,omitempty"`
}

func (r *remote) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*cleanupAnswer, error) {
	body := cleanupBody{KeepCommits: min(opts.KeepCommits, math.MaxInt32), DryRun: opts.DryRun}
	if !opts.Before.IsZero() {
		body.KeepSince = opts.Before.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	q, err := posting("/cleanup", body)
	if err != nil {
		return nil, err
	}
	q.repeats = opts.DryRun
	a := &cleanupAnswer{}
	return a, r.into(ctx, q, a)
}
