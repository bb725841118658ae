package operations

import (
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// InternalSchemaVersion is the version of the layout of a graph's own records that clients see.
// It is constant: there is one version, and the engine upgrades its files itself.
const InternalSchemaVersion = 1

// maxCommits is the largest page of commits. A request with a higher limit, or with none, gets a
// page of this size.
const maxCommits = 10_000

// LookSchema returns the call that reads the source text of the schema. Its answer is a
// client.SchemaAnswer.
func LookSchema(branch tool.BranchName, commit string) *Look {
	return &Look{Branch: branch, Commit: commit, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		source, err := restricted.Source(s, "the text of the schema")
		if err != nil {
			return nil, err
		}
		return &client.SchemaAnswer{SchemaSource: source}, nil
	}}
}

// LookSnapshot returns the call that counts the entities of each type. Its answer is a
// client.SnapshotAnswer. The answer contains the branch of the target, or else the branch where the
// commit was made.
func LookSnapshot(branch tool.BranchName, commit string) *Look {
	return &Look{Branch: branch, Commit: commit, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Snapshot(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		a := &client.SnapshotAnswer{
			GraphBranch: c.Branch, GraphManifestVersion: c.Seq, InternalSchemaVersion: InternalSchemaVersion,
			GraphCommitID: c.ID, SchemaDigest: c.Schema, Datasets: []client.Dataset{},
		}
		if branch != "" || commit == "" {
			a.GraphBranch = env.Branch(branch).Name() // the head of a new branch was made on another branch
		}
		add := func(kind string, counts []engine.TypeCount) {
			for _, t := range counts {
				a.Datasets = append(a.Datasets, client.Dataset{TypeName: t.Type, EntityKind: kind, EntityCount: t.Count, PublishedDatasetVersion: c.Seq, DatasetPath: t.Type})
			}
		}
		add("node", s.Nodes)
		add("edge", s.Edges)
		return a, nil
	}}
}

// LookCommit returns the call that describes a commit. Its answer is a client.CommitAnswer.
func LookCommit(branch tool.BranchName, commit string) *Look {
	return &Look{Branch: branch, Commit: commit, Read: func(_ context.Context, _ *tool.Env, c engine.Commit) (any, error) {
		a := encoding.Commit(c)
		return &a, nil
	}}
}

// ListedCommits is a page of the commits of a branch.
type ListedCommits struct {
	Branch        tool.Branch
	Commits       []engine.Commit // the newest first
	NextBefore    *uint64         // the next page has smaller sequence numbers only; nil on the last page
	NextPageToken string          // the same as a page token
}

// LookCommits returns the call that lists a page of the commits of a branch. The argument `token`
// is the token of the page, or empty; if it is empty, r.Before says where the page starts. If `grep` is not empty, only
// commits whose message contains it are listed; a page looks at no more than maxCommits commits, so it may be empty
// although there are older ones. The function `answer` makes the answer.
func LookCommits(branch tool.BranchName, r engine.CommitRange, token, grep string, answer func(*ListedCommits) any) *Look {
	if r.Limit <= 0 || r.Limit > maxCommits {
		r.Limit = maxCommits
	}
	return &Look{Branch: branch, Token: token, Less: "set a smaller limit", Read: func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		r, page := r, &ListedCommits{Branch: env.Branch(branch)}
		if token != "" {
			var err error
			if r.Before, err = openCommits(env, token, page.Branch); err != nil {
				return nil, err
			}
		}
		// The list must belong to the head in the entity tag, even if the branch has moved on.
		if r.Before == 0 || r.Before > head.Seq {
			r.Before = head.Seq + 1
		}
		limit := r.Limit
		if grep != "" {
			r.Limit = maxCommits
		}
		examined, err := env.Graph.Commits(ctx, page.Branch.Name(), r)
		if err != nil {
			return nil, err
		}
		var last uint64 // the number of the last commit that the page is about
		for _, c := range examined {
			if len(page.Commits) == limit {
				break
			}
			if last = c.Seq; strings.Contains(c.Message, grep) {
				page.Commits = append(page.Commits, c)
			}
		}
		if last > 1 && (len(page.Commits) == limit || len(examined) == r.Limit) {
			page.NextBefore = &last
			page.NextPageToken = CommitPage{Branch: page.Branch, Before: last}.Token(env)
		}
		return answer(page), nil
	}}
}

// CommitList returns a page in the form of REST, as a *client.CommitList.
func CommitList(page *ListedCommits) any {
	a := &client.CommitList{Commits: make([]client.CommitAnswer, len(page.Commits)), NextBefore: page.NextBefore, NextPageToken: page.NextPageToken}
	for i, c := range page.Commits {
		a.Commits[i] = encoding.Commit(c)
	}
	return a
}
