package rest

import (
	"context"
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// internalSchemaVersion is the version of the layout of a graph's own records that clients see.
// It is constant: there is one version, and the engine upgrades its files itself.
const internalSchemaVersion = 1

// The limits of pages.
const (
	maxCommits     = 10_000 // applies even without a limit in the request
	defaultChanges = 1000
	maxChanges     = 10_000

	// maxChangeBytes limits the bytes of the values in a page of changes. A page always has at
	// least one change.
	maxChangeBytes = 8 << 20
)

// look resolves the target of the URL to a commit and then reads it. If the client already has
// the answer for that commit, look answers 304 and reads nothing.
func (x *exchange) look(read func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error)) error {
	return x.lookAt(x.target(), read)
}

func (x *exchange) lookAt(at engine.Target, read func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error)) error {
	return x.answer(&operations.Look{At: at, Unless: x.held, Read: read}, encoding.Options{})
}

// snapshot answers with the number of entities per type.
func (x *exchange) snapshot() error {
	branch := x.query.Get("branch")
	named := branch != "" || !x.query.Has("snapshot")
	return x.look(func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Snapshot(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		a := &SnapshotAnswer{
			GraphBranch: c.Branch, GraphManifestVersion: c.Seq, InternalSchemaVersion: internalSchemaVersion,
			GraphCommitID: c.ID, SchemaDigest: c.Schema, Datasets: []Dataset{},
		}
		if named {
			a.GraphBranch = orMain(branch) // the head of a new branch was made on another branch
		}
		add := func(kind string, counts []engine.TypeCount) {
			for _, t := range counts {
				a.Datasets = append(a.Datasets, Dataset{TypeName: t.Type, EntityKind: kind, EntityCount: t.Count, PublishedDatasetVersion: c.Seq, DatasetPath: t.Type})
			}
		}
		add("node", s.Nodes)
		add("edge", s.Edges)
		return a, nil
	})
}

// commits lists the commits of a branch.
func (x *exchange) commits() error {
	before, limit := uint64(x.number("before", 0)), min(x.number("limit", maxCommits), maxCommits)
	return x.look(func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		// The list must belong to the head in the entity tag, even if the branch has moved on.
		if before == 0 || before > head.Seq {
			before = head.Seq + 1
		}
		commits, err := env.Graph.Commits(ctx, x.query.Get("branch"), engine.CommitRange{Before: before, Limit: limit})
		if err != nil {
			return nil, err
		}
		a := &CommitList{Commits: make([]CommitAnswer, len(commits))}
		for i, c := range commits {
			a.Commits[i] = commitAnswer(c)
		}
		if n := len(commits); n == limit && commits[n-1].Seq > 1 {
			a.NextBefore = &commits[n-1].Seq
		}
		return a, nil
	})
}

// commit answers with the metadata of a commit.
func (x *exchange) commit() error {
	return x.lookAt(x.commitTarget(), func(_ context.Context, _ *tool.Env, c engine.Commit) (any, error) {
		a := commitAnswer(c)
		return &a, nil
	})
}

// commitTarget returns the commit in the path, and the branch of the query string if there is
// one.
func (x *exchange) commitTarget() engine.Target {
	return engine.Target{Branch: x.query.Get("branch"), Commit: x.r.PathValue("commit")}
}

func commitAnswer(c engine.Commit) CommitAnswer {
	a := CommitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: orNil(c.Actor), CreatedAt: c.Time.UnixMicro()}
	if len(c.Parents) > 0 {
		a.ParentCommitID = &c.Parents[0]
	}
	if len(c.Parents) > 1 {
		a.MergedParentCommitID = &c.Parents[1]
	}
	return a
}

// changes lists the changes of a commit.
func (x *exchange) changes() error {
	r := engine.ChangeRange{Limit: min(x.number("limit", defaultChanges), maxChanges)}
	if after := x.query.Get("after"); after != "" {
		parts := strings.SplitN(after, "/", 3)
		if len(parts) != 3 || parts[0] != "node" && parts[0] != "edge" {
			return badAfter("found \"" + short(after) + "\"")
		}
		r.After = engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]}
	}
	return x.lookAt(x.commitTarget(), func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		changes, err := env.Graph.Changes(ctx, c.ID, r)
		var bad *engine.BadArgument
		switch {
		case errors.As(err, &bad):
			return nil, badAfter(bad.Detail)
		case err != nil:
			return nil, err
		}
		return changesAnswer(changes), nil
	})
}

func badAfter(detail string) error {
	return &tool.ArgumentError{Path: "after", Detail: detail, Help: "send what the page before had last: its entity_kind, type_name and id, separated by /, such as node/Person/ada"}
}

func changesAnswer(changes *engine.Changes) *ChangesAnswer {
	a := &ChangesAnswer{
		GraphCommitID: changes.Commit.ID, Nodes: ChangeCounts(changes.Nodes), Edges: ChangeCounts(changes.Edges),
		Changes: []EntityChange{}, More: changes.More,
	}
	bytes := 0
	for i := range changes.List {
		c := &changes.List[i]
		e := EntityChange{Kind: c.Kind.String(), EntityKind: c.Entity, TypeName: c.Type, ID: c.ID, From: c.From, To: c.To, Properties: []PropertyChange{}}
		for _, p := range c.Properties {
			values := PropertyChange{Name: p.Name, Old: encoding.ValueJSON(p.Old, encoding.Options{}), New: encoding.ValueJSON(p.New, encoding.Options{})}
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
