package rest

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
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
		a := &client.SnapshotAnswer{
			GraphBranch: c.Branch, GraphManifestVersion: c.Seq, InternalSchemaVersion: internalSchemaVersion,
			GraphCommitID: c.ID, SchemaDigest: c.Schema, Datasets: []client.Dataset{},
		}
		if named {
			a.GraphBranch = orMain(branch) // the head of a new branch was made on another branch
		}
		add := func(kind string, counts []engine.TypeCount) {
			for _, t := range counts {
				a.Datasets = append(a.Datasets, client.Dataset{TypeName: t.Type, EntityKind: kind, EntityCount: t.Count, PublishedDatasetVersion: c.Seq, DatasetPath: t.Type})
			}
		}
		add("node", s.Nodes)
		add("edge", s.Edges)
		return a, nil
	})
}

// commits lists the commits of a branch.
func (x *exchange) commits() error {
	limit, branch, token := min(x.number("limit", maxCommits), maxCommits), x.query.Get("branch"), x.query.Get("page_token")
	if err := x.onePosition("before", token); err != nil {
		return err
	}
	return x.look(func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		before, err := operations.OpenCommits(env, token, orMain(branch))
		if err != nil {
			return nil, err
		}
		if token == "" {
			before = uint64(x.number("before", 0))
		}
		// The list must belong to the head in the entity tag, even if the branch has moved on.
		if before == 0 || before > head.Seq {
			before = head.Seq + 1
		}
		commits, err := env.Graph.Commits(ctx, branch, engine.CommitRange{Before: before, Limit: limit})
		if err != nil {
			return nil, err
		}
		a := &client.CommitList{Commits: make([]client.CommitAnswer, len(commits))}
		for i, c := range commits {
			a.Commits[i] = commitAnswer(c)
		}
		if n := len(commits); n == limit && commits[n-1].Seq > 1 {
			a.NextBefore = &commits[n-1].Seq
			a.NextPageToken = operations.CommitPage{Branch: orMain(branch), Before: commits[n-1].Seq}.Token(env)
		}
		return a, nil
	})
}

// onePosition returns an error if a request names the start of a page twice: by a page token and by
// the parameter that gives a position.
func (x *exchange) onePosition(position, token string) error {
	if token == "" || x.query.Get(position) == "" {
		return nil
	}
	return &tool.ArgumentError{Path: "page_token", Detail: "found together with " + position + ", wanted one of the two", Help: "both say where the page starts"}
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

func commitAnswer(c engine.Commit) client.CommitAnswer {
	a := client.CommitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: orNil(c.Actor), CreatedAt: c.Time.UnixMicro()}
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
	token := x.query.Get("page_token")
	if err := x.onePosition("after", token); err != nil {
		return err
	}
	if after := x.query.Get("after"); after != "" {
		var ok bool
		if r.After, ok = operations.ParseChangePosition(after); !ok {
			return badAfter("found \"" + short(after) + "\"")
		}
	}
	return x.lookAt(x.commitTarget(), func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		r := r
		if token != "" {
			var err error
			if r.After, err = operations.OpenChanges(env, token, c.ID); err != nil {
				return nil, err
			}
		}
		changes, err := env.Graph.Changes(ctx, c.ID, r)
		var bad *engine.BadArgument
		switch {
		case errors.As(err, &bad):
			return nil, badAfter(bad.Detail)
		case err != nil:
			return nil, operations.LostChanges(err, token, c.ID)
		}
		a := changesAnswer(changes)
		if n := len(a.Changes); a.More && n > 0 {
			a.NextPageToken = operations.ChangePage{Commit: c.ID, After: changes.List[n-1].Position()}.Token(env)
		}
		return a, nil
	})
}

func badAfter(detail string) error {
	return &tool.ArgumentError{Path: "after", Detail: detail, Help: "send what the page before had last: its entity_kind, type_name and id, separated by /, such as node/Person/ada"}
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
