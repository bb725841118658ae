package rest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SnapshotAnswer is the state of a branch or of a commit.
type SnapshotAnswer struct {
	GraphBranch           string    `json:"graph_branch"`
	GraphManifestVersion  uint64    `json:"graph_manifest_version" jsonschema_description:"The sequence number of the commit."`
	InternalSchemaVersion int       `json:"internal_schema_version" jsonschema_description:"The version of the layout of the graph's own records."`
	GraphCommitID         string    `json:"graph_commit_id"`
	SchemaDigest          string    `json:"schema_digest" jsonschema_description:"Changes when the schema does, layout and comments aside."`
	Datasets              []Dataset `json:"datasets" jsonschema_description:"The nodes and edges by type, in schema order."`
}

// Dataset describes the entities of one type.
type Dataset struct {
	TypeName                string  `json:"type_name"`
	EntityKind              string  `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	EntityCount             int64   `json:"entity_count"`
	PublishedDatasetVersion uint64  `json:"published_dataset_version" jsonschema_description:"The sequence number of the commit that it is read at."`
	DatasetPath             string  `json:"dataset_path" jsonschema_description:"The name of the type."`
	NativeDatasetBranch     *string `json:"native_dataset_branch" jsonschema_description:"Null: branches share what they hold."`
}

// internalSchemaVersion is the version of the layout of a graph's own records that clients see.
// It is constant: there is one version, and the engine upgrades its files itself.
const internalSchemaVersion = 1

// CommitList is a page of the commits of a branch.
type CommitList struct {
	Commits    []CommitAnswer `json:"commits" jsonschema_description:"The newest first."`
	NextBefore *uint64        `json:"next_before" jsonschema_description:"There are older ones; send it as before to see them. Null at the end."`
}

// CommitAnswer is a commit.
type CommitAnswer struct {
	GraphCommitID        string  `json:"graph_commit_id"`
	GraphBranch          string  `json:"graph_branch" jsonschema_description:"The branch that it was made on."`
	GraphManifestVersion uint64  `json:"graph_manifest_version" jsonschema_description:"Its number on its branch, from 1."`
	ParentCommitID       *string `json:"parent_commit_id"`
	MergedParentCommitID *string `json:"merged_parent_commit_id"`
	ActorID              *string `json:"actor_id"`
	CreatedAt            int64   `json:"created_at" jsonschema_description:"In Unix microseconds."`
}

// ChangesAnswer is the difference between a commit and its first parent.
type ChangesAnswer struct {
	GraphCommitID string         `json:"graph_commit_id"`
	Nodes         ChangeCounts   `json:"nodes" jsonschema_description:"Of all of the commit's changes, whatever the page."`
	Edges         ChangeCounts   `json:"edges" jsonschema_description:"Of all of the commit's changes, whatever the page."`
	Changes       []EntityChange `json:"changes" jsonschema_description:"Nodes, then edges, each by type in schema order and by id."`
	More          bool           `json:"more" jsonschema_description:"There are changes behind the last; send that as after to see them."`
}

// ChangeCounts counts the nodes, or the edges, that a commit changed.
type ChangeCounts struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
}

// EntityChange is the change that a commit made to an entity.
type EntityChange struct {
	Kind       string           `json:"kind" jsonschema:"enum=inserted,enum=updated,enum=deleted"`
	EntityKind string           `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string           `json:"type_name"`
	ID         string           `json:"id"`
	From       string           `json:"from,omitempty" jsonschema_description:"Of an edge: the id of its source."`
	To         string           `json:"to,omitempty" jsonschema_description:"Of an edge: the id of its target."`
	Properties []PropertyChange `json:"properties" jsonschema_description:"Those with another value than before; of an inserted or deleted entity those that are not null."`
}

// PropertyChange is a property whose value a commit changed.
type PropertyChange struct {
	Name string          `json:"name"`
	Old  json.RawMessage `json:"old" jsonschema_description:"Null where there was none."`
	New  json.RawMessage `json:"new" jsonschema_description:"Null where there is none."`
}

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
