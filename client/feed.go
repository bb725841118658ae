package client

import (
	"context"
	"iter"
	"net/url"
)

// ChangeFeed is a page of the changes of a branch. A page ends after a whole commit, and then it has
// a cursor. Only a page that ends within a commit has a page token instead.
type ChangeFeed struct {
	Blocks        []ChangeBlock `json:"blocks" jsonschema_description:"The commits of the branch after the cursor of the request, the oldest first. Commits without a selected change are left out if the request has a filter."`
	CaughtUp      bool          `json:"caught_up" jsonschema_description:"The page ends at the head of the branch."`
	Cursor        *string       `json:"cursor" jsonschema_description:"Send it as cursor to continue after this page. It stays valid as long as the server keeps the history after it. Null if the page ends within a commit."`
	NextPageToken *string       `json:"next_page_token" jsonschema_description:"The page ends within a commit; send it as page_token to continue. Null if the page ends after a whole commit."`
}

// ChangeBlock has the changes of a commit, or a part of them.
type ChangeBlock struct {
	Cause        ChangeCause    `json:"cause" jsonschema_description:"The commit that made the changes."`
	SchemaChange *SchemaEvent   `json:"schema_change" jsonschema_description:"How the commit changed the schema; null if it did not. Only the first part of a commit has it."`
	Changes      []EntityChange `json:"changes" jsonschema_description:"Nodes, then edges, each by the name of the type and by id."`
}

// SchemaEvent describes how a commit changed the schema.
type SchemaEvent struct {
	SchemaDigest       string       `json:"schema_digest"` // digest of the schema after the commit
	ParentSchemaDigest *string      `json:"parent_schema_digest" jsonschema_description:"The digest of the schema before the commit; null for the first commit of the graph."`
	Steps              []SchemaStep `json:"steps"`         // the steps from the schema before to the schema after
	SchemaSource       string       `json:"schema_source"` // the text of the schema after the commit
}

// The values of FeedQuery.Start.
const (
	StartEarliest = "earliest" // the first commit of the branch
	StartLatest   = "latest"   // the first commit after the request
)

// FeedQuery selects a page of the changes of a branch.
type FeedQuery struct {
	Branch string   // the branch; main if it is empty
	Cursor string   // the Cursor of the previous page, or of a baseline
	Start  string   // where a feed without a cursor starts; StartEarliest if it is empty
	Kinds  []string // KindNode, KindEdge; none means both
	Types  []string // the names of types; none means all
	Ops    []string // OpInsert, OpUpdate, OpDelete; none means all
	Limit  int      // the maximum number of changes; 0 lists 1,000

	PageToken string // the NextPageToken of the previous page; the server then ignores Cursor and Start
}

// values returns the query string of a request for a page.
func (q *FeedQuery) values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"branch": q.Branch, "cursor": q.Cursor, "start": q.Start, "page_token": q.PageToken} {
		setText(v, name, text)
	}
	for name, list := range map[string][]string{"kind": q.Kinds, "type": q.Types, "op": q.Ops} {
		for _, text := range list {
			v.Add(name, text)
		}
	}
	setNumber(v, "limit", q.Limit)
	return v
}

// next changes the query so that it selects what follows a page.
func (q *FeedQuery) next(page *ChangeFeed) {
	q.PageToken = ""
	if page.NextPageToken != nil {
		q.PageToken = *page.NextPageToken
	} else if page.Cursor != nil {
		q.Cursor, q.Start = *page.Cursor, ""
	}
}

// ChangeFeed lists a page of the changes of a branch. If a cleanup reclaimed a state that the page
// needs, the error matches [ErrGone] and has a ChangeFeedGap; then get a new baseline with
// [Graph.Baseline].
func (g *Graph) ChangeFeed(ctx context.Context, page FeedQuery) (*ChangeFeed, error) {
	return ask[ChangeFeed](ctx, g.c, reading(g.path+"/changes", page.values()))
}

// FeedPages returns the changes of a branch up to its head, in as many pages as needed. The limit of
// the query is that of each page.
func (g *Graph) FeedPages(ctx context.Context, from FeedQuery) iter.Seq2[*ChangeFeed, error] {
	return func(yield func(*ChangeFeed, error) bool) {
		for at := from; ; {
			page, err := g.ChangeFeed(ctx, at)
			if err != nil {
				yield(nil, err)
				return
			}
			before := at
			at.next(page)
			if !yield(page, nil) || page.CaughtUp && page.NextPageToken == nil {
				return
			}
			if at.Cursor == before.Cursor && at.PageToken == before.PageToken {
				yield(nil, ErrNoProgress)
				return
			}
		}
	}
}

// The names of the events of a feed.
const (
	FeedChanges = "changes" // the data is a ChangeFeed
	FeedFault   = "fault"   // the data is an Envelope; the stream ends
	FeedEnded   = "end"     // the data is a FeedEnd; the stream ends
)

// FeedEnd is the data of the last event of a stream that the server ended without a fault.
type FeedEnd struct {
	Reason string  `json:"reason" jsonschema:"enum=stopping,enum=token_expired,enum=timeout"`
	Cursor *string `json:"cursor" jsonschema_description:"Send it as cursor to continue; null if the stream has sent no whole commit."`
}

// The values of FeedEnd.Reason.
const (
	FeedStopping     = "stopping"      // the server stops
	FeedTokenExpired = "token_expired" // the token of the subscriber has expired
	FeedTimeout      = "timeout"       // the time limit of the request has passed
)

// BaselineBody is the body of a request for a baseline.
type BaselineBody struct {
	Branch string   `json:"branch,omitempty" jsonschema_description:"The branch; the default is main."`
	Kind   []string `json:"kind,omitempty" jsonschema_description:"List only nodes (node), or only edges (edge); both by default."`
	Type   []string `json:"type,omitempty" jsonschema_description:"List only entities of these types; all types by default."`
	Op     []string `json:"op,omitempty" jsonschema_description:"The kinds of change that the subscriber reads: insert, update, delete; all by default. An entity of the baseline counts as an insert, so without insert the baseline has no entities."`
}

// BaselineLine is the last line of a baseline. The other lines are those of an export.
type BaselineLine struct {
	Baseline BaselineEnd `json:"baseline"` // where the feed continues
}

// BaselineEnd says which state a baseline shows, and where the feed continues.
type BaselineEnd struct {
	SnapshotCommitID string `json:"snapshot_commit_id"` // the commit whose entities the baseline has
	ResumeCursor     string `json:"resume_cursor"`      // send it as cursor to read the changes after the baseline
}

// Baseline returns the entities of the head of a branch as NDJSON. The last line is a BaselineLine;
// a baseline without it is incomplete.
func (g *Graph) Baseline(ctx context.Context, body BaselineBody) (*Stream, error) {
	q, err := posting(g.path+"/changes/baseline", body)
	if err != nil {
		return nil, err
	}
	q.repeats = true
	return g.stream(ctx, q, "the baseline")
}
