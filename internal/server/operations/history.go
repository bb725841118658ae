package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// internalSchemaVersion is the version of the layout of a graph's own records that clients see.
// It is constant: there is one version, and the engine upgrades its files itself.
const internalSchemaVersion = 1

// The limits of pages. A request with a higher limit, or with none, gets a page of this size.
const (
	maxCommits = 10_000
	maxChanges = 10_000

	// maxChangeBytes limits the bytes of the values in a page of changes. A page always has at
	// least one change.
	maxChangeBytes = 8 << 20
)

// LookSchema returns the call that reads the source text of the schema. Its answer is a
// client.SchemaAnswer.
func LookSchema(at engine.Target) *Look {
	return &Look{At: at, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		return &client.SchemaAnswer{SchemaSource: s.Source}, nil
	}}
}

// LookSnapshot returns the call that counts the entities of each type. Its answer is a
// client.SnapshotAnswer. It names the branch of the target, or else the branch where the commit was
// made.
func LookSnapshot(at engine.Target) *Look {
	return &Look{At: at, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Snapshot(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		a := &client.SnapshotAnswer{
			GraphBranch: c.Branch, GraphManifestVersion: c.Seq, InternalSchemaVersion: internalSchemaVersion,
			GraphCommitID: c.ID, SchemaDigest: c.Schema, Datasets: []client.Dataset{},
		}
		if at.Branch != "" || at.Commit == "" {
			a.GraphBranch = orMain(at.Branch) // the head of a new branch was made on another branch
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
func LookCommit(at engine.Target) *Look {
	return &Look{At: at, Read: func(_ context.Context, _ *tool.Env, c engine.Commit) (any, error) {
		a := commitAnswer(c)
		return &a, nil
	}}
}

// LookCommits returns the call that lists a page of the commits of a branch. token is the token of
// the page, or empty; without it r.Before says where the page starts. The answer is a
// client.CommitList.
func LookCommits(at engine.Target, r engine.CommitRange, token string) *Look {
	if r.Limit <= 0 || r.Limit > maxCommits {
		r.Limit = maxCommits
	}
	return &Look{At: at, Read: func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		r := r
		if token != "" {
			var err error
			if r.Before, err = OpenCommits(env, token, orMain(at.Branch)); err != nil {
				return nil, err
			}
		}
		// The list must belong to the head in the entity tag, even if the branch has moved on.
		if r.Before == 0 || r.Before > head.Seq {
			r.Before = head.Seq + 1
		}
		commits, err := env.Graph.Commits(ctx, at.Branch, r)
		if err != nil {
			return nil, err
		}
		a := &client.CommitList{Commits: make([]client.CommitAnswer, len(commits))}
		for i, c := range commits {
			a.Commits[i] = commitAnswer(c)
		}
		if n := len(commits); n == r.Limit && commits[n-1].Seq > 1 {
			a.NextBefore = &commits[n-1].Seq
			a.NextPageToken = CommitPage{Branch: orMain(at.Branch), Before: commits[n-1].Seq}.Token(env)
		}
		return a, nil
	}}
}

func commitAnswer(c engine.Commit) client.CommitAnswer {
	a := client.CommitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: encoding.OrNil(c.Actor), CreatedAt: c.Time.UnixMicro()}
	if len(c.Parents) > 0 {
		a.ParentCommitID = &c.Parents[0]
	}
	if len(c.Parents) > 1 {
		a.MergedParentCommitID = &c.Parents[1]
	}
	return a
}

// LookChanges returns the call that lists a page of the changes of a commit. token is the token of
// the page, or empty; without it r.After says where the page starts. The answer is a
// client.ChangesAnswer.
func LookChanges(at engine.Target, r engine.ChangeRange, token string) *Look {
	if r.Limit <= 0 || r.Limit > maxChanges {
		r.Limit = maxChanges
	}
	return &Look{At: at, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		r := r
		if token != "" {
			var err error
			if r.After, err = OpenChanges(env, token, c.ID); err != nil {
				return nil, err
			}
		}
		changes, err := env.Graph.Changes(ctx, c.ID, r)
		var bad *engine.BadArgument
		switch {
		case errors.As(err, &bad):
			return nil, BadAfter(bad.Detail)
		case err != nil:
			return nil, LostChanges(err, token, c.ID)
		}
		a := changesAnswer(changes)
		if n := len(a.Changes); a.More && n > 0 {
			a.NextPageToken = ChangePage{Commit: c.ID, After: changes.List[n-1].Position()}.Token(env)
		}
		return a, nil
	}}
}

// BadAfter returns the error for a position that is not one of a list of changes.
func BadAfter(detail string) error {
	return &tool.ArgumentError{Path: "after", Detail: detail, Help: "send the last entity of the previous page: its entity_kind, type_name and id, separated by /, such as node/Person/ada"}
}

func changesAnswer(changes *engine.Changes) *client.ChangesAnswer {
	a := &client.ChangesAnswer{
		GraphCommitID: changes.Commit.ID, Nodes: client.ChangeCounts(changes.Nodes), Edges: client.ChangeCounts(changes.Edges),
		Changes: []client.EntityChange{}, More: changes.More,
	}
	bytes := 0
	for i := range changes.List {
		c := &changes.List[i]
		e := client.EntityChange{Kind: c.Kind.String(), EntityKind: c.Entity, TypeName: c.Type, ID: c.ID, From: c.From, To: c.To, Properties: []client.PropertyChange{}}
		for _, p := range c.Properties {
			values := client.PropertyChange{Name: p.Name, Old: encoding.ValueJSON(p.Old, encoding.Options{}), New: encoding.ValueJSON(p.New, encoding.Options{})}
			bytes += len(values.Old) + len(values.New)
			e.Properties = append(e.Properties, values)
		}
		if i > 0 && bytes > maxChangeBytes {
			a.More = true
			break
		}
		a.Changes = append(a.Changes, e)
	}
	return a
}
