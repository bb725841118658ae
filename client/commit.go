package client

import (
	"context"
	"iter"
	"math"
	"net/url"
	"strconv"
	"time"
)

// CommitList is a page of the commits of a branch.
type CommitList struct {
	Commits    []CommitAnswer `json:"commits" jsonschema_description:"The newest first."`
	NextBefore *uint64        `json:"next_before" jsonschema_description:"There are older commits; send it as before to list them. Null on the last page."`

	NextPageToken string `json:"next_page_token,omitempty" jsonschema_description:"There are older commits; send it as page_token to list them."`
}

// CommitAnswer is a commit. If a caller writes to a branch that it may not read, the ids of the
// parents are null in the answer.
type CommitAnswer struct {
	GraphCommitID        string   `json:"graph_commit_id"` // id of the commit
	GraphBranch          string   `json:"graph_branch" jsonschema_description:"The branch that the commit was made on."`
	GraphManifestVersion uint64   `json:"graph_manifest_version" jsonschema_description:"Its number on its branch, from 1."`
	ParentCommitID       *string  `json:"parent_commit_id"`        // null for a first commit
	MergedParentCommitID *string  `json:"merged_parent_commit_id"` // null unless it is a merge
	ActorID              *string  `json:"actor_id"`                // who made the commit, or null
	Agents               []string `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	CreatedAt            int64    `json:"created_at" jsonschema_description:"In Unix microseconds."`
	Message              string   `json:"message,omitempty" jsonschema_description:"What its author says about it. Callers who may see a part of the branch only do not get it."`
}

// ID returns the id of the commit, or nil for no commit.
func (c *CommitAnswer) ID() *string {
	if c == nil {
		return nil
	}
	return &c.GraphCommitID
}

// SnapshotAnswer is the state of a branch or of a commit.
type SnapshotAnswer struct {
	GraphBranch           string    `json:"graph_branch"`
	GraphManifestVersion  uint64    `json:"graph_manifest_version" jsonschema_description:"The sequence number of the commit."`
	InternalSchemaVersion int       `json:"internal_schema_version" jsonschema_description:"The version of the layout of the graph's own records."`
	GraphCommitID         string    `json:"graph_commit_id"` // id of the commit with this state
	SchemaDigest          string    `json:"schema_digest" jsonschema_description:"Changes when the schema does, layout and comments aside."`
	Datasets              []Dataset `json:"datasets" jsonschema_description:"The nodes and edges by type, in schema order."`
}

// Dataset describes the entities of one type.
type Dataset struct {
	TypeName                string  `json:"type_name"` // name of the type
	EntityKind              string  `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	EntityCount             int64   `json:"entity_count"` // number of nodes or edges
	PublishedDatasetVersion uint64  `json:"published_dataset_version" jsonschema_description:"The sequence number of the commit that it is read at."`
	DatasetPath             string  `json:"dataset_path" jsonschema_description:"The name of the type."`
	NativeDatasetBranch     *string `json:"native_dataset_branch" jsonschema_description:"Null: branches share what they hold."`
}

// GrowthPoint is the size of a graph at a commit.
type GrowthPoint struct {
	GraphCommitID string `json:"graph_commit_id"` // id of the commit
	CreatedAt     int64  `json:"created_at" jsonschema_description:"When the commit was made, in Unix microseconds."`
	Nodes         int64  `json:"nodes"` // number of nodes of all types that the caller may see
	Edges         int64  `json:"edges"` // number of edges of these types
}

// Growth lists how large a branch was at some of its commits.
type Growth struct {
	Points []GrowthPoint `json:"points" jsonschema_description:"The oldest first; the last one is the head. Commits whose states a cleanup removed may be absent, and those of another branch are if the caller may not read as much there."`
}

// Growth lists how large a branch was at commits that are evenly spread over its history; 0 points means as many as the server chooses.
func (g *Graph) Growth(ctx context.Context, points int, options ...ReadOption) (*Growth, error) {
	q := g.get("/growth", options)
	setNumber(q.query, "points", points)
	return ask[Growth](ctx, g.c, q)
}

// ReadOption is an option of one read.
type ReadOption func(*request)

// OnBranch reads the head of the named branch; without it, a read uses main. For the methods that
// take the id of a commit, the commit must be on the branch or in its history.
func OnBranch(name string) ReadOption {
	return func(q *request) { setText(q.query, "branch", name) }
}

// AtTime reads the last commit of the branch at or before an instant, which must not be in the future.
func AtTime(t time.Time) ReadOption { return AtSnapshot(t.UTC().Format(time.RFC3339Nano)) }

// AtSnapshot reads a commit instead of a branch.
func AtSnapshot(commit string) ReadOption {
	return func(q *request) { setText(q.query, "snapshot", commit) }
}

// IfChanged makes a read fail if the state to read is still the given commit. The error then
// matches [ErrNotModified].
func IfChanged(commit string) ReadOption {
	return func(q *request) { q.header.Set("If-None-Match", strconv.Quote(commit)) }
}

// get returns a GET request with the options.
func (g *Graph) get(path string, options []ReadOption) *request {
	q := reading(g.path+path, url.Values{})
	for _, o := range options {
		o(q)
	}
	return q
}

// Snapshot describes the state of a branch: its last commit, and the number of nodes and edges of
// each type.
func (g *Graph) Snapshot(ctx context.Context, options ...ReadOption) (*SnapshotAnswer, error) {
	return ask[SnapshotAnswer](ctx, g.c, g.get("/snapshot", options))
}

// CommitQuery selects a page of the commits of a branch.
type CommitQuery struct {
	Branch string // the branch; main if it is empty
	Before uint64 // list only commits with a smaller GraphManifestVersion; 0 starts at the head
	Limit  int    // the maximum number of commits; 0 lists as many as the server allows
	Grep   string // list only commits whose message contains this text; a page may then be empty although NextBefore is set

	PageToken string // the NextPageToken of the previous page, instead of Before
}

// Commits lists a page of the commits of a branch, the newest first.
func (g *Graph) Commits(ctx context.Context, page CommitQuery, options ...ReadOption) (*CommitList, error) {
	q := g.get("/commits", options)
	setText(q.query, "branch", page.Branch)
	setText(q.query, "page_token", page.PageToken)
	setText(q.query, "grep", page.Grep)
	setNumber(q.query, "limit", min(page.Limit, math.MaxInt32))
	if page.Before > 0 && page.Before <= math.MaxInt32 { // no commit has a greater number
		setText(q.query, "before", strconv.FormatUint(page.Before, 10))
	}
	return ask[CommitList](ctx, g.c, q)
}

// AllCommits returns the commits of a branch, the newest first. It asks for as many pages as
// needed. all.Limit is the maximum number of commits; 0 means all.
func (g *Graph) AllCommits(ctx context.Context, all CommitQuery) iter.Seq2[CommitAnswer, error] {
	return items(g.commitPages(ctx, all), func(l *CommitList) []CommitAnswer { return l.Commits })
}

// commitPages yields the page of commits that `page` describes, and all pages after it. page.Limit is the
// maximum number of commits on all pages together; 0 means all. commitPages yields ErrNoProgress if the server
// repeats a page.
func (g *Graph) commitPages(ctx context.Context, page CommitQuery) iter.Seq2[*CommitList, error] {
	return func(yield func(*CommitList, error) bool) {
		page, before := page, page.Before // a copy, so that the sequence can be ranged over again
		for {
			list, err := g.Commits(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			n := len(list.Commits)
			if page.Limit > 0 && n > page.Limit {
				list.Commits, n = list.Commits[:page.Limit], page.Limit
			}
			if !yield(list, nil) {
				return
			}
			switch {
			case list.NextBefore == nil: // the last page
				return
			case n == 0 && page.Grep == "": // only a filter makes an empty page before the last one
				return
			case page.Limit > 0 && n == page.Limit: // the limit is reached
				return
			}
			if before > 0 && *list.NextBefore >= before {
				yield(nil, ErrNoProgress)
				return
			}
			before = *list.NextBefore
			page.Before, page.PageToken = before, ""
			if list.NextPageToken != "" {
				page.Before, page.PageToken = 0, list.NextPageToken
			}
			if page.Limit > 0 {
				page.Limit -= n
			}
		}
	}
}

// Commit returns a commit. Without [OnBranch] the caller needs the right to read the branch where
// the commit was made.
func (g *Graph) Commit(ctx context.Context, id string, options ...ReadOption) (*CommitAnswer, error) {
	return ask[CommitAnswer](ctx, g.c, g.get("/commits/"+segment(id), options))
}
