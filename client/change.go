package client

import (
	"context"
	"encoding/json"
	"iter"
)

// ChangesAnswer is a page of the difference between a commit and its first parent.
type ChangesAnswer struct {
	GraphCommitID string         `json:"graph_commit_id"`
	Nodes         ChangeCounts   `json:"nodes" jsonschema_description:"Counts all changes of the commit, not only those on this page."`
	Edges         ChangeCounts   `json:"edges" jsonschema_description:"Counts all changes of the commit, not only those on this page."`
	Changes       []EntityChange `json:"changes" jsonschema_description:"Nodes, then edges, each by type in schema order and by id."`
	More          bool           `json:"more" jsonschema_description:"There are more changes; send the last one as after to list them."`

	NextPageToken string `json:"next_page_token,omitempty" jsonschema_description:"There are more changes; send it as page_token to list them."`
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

// ChangeQuery selects a page of the changes of a commit.
type ChangeQuery struct {
	After string // the Position of the last change of the page before; empty for the first page
	Limit int    // the maximum number of changes; 0 lists 1,000

	PageToken string // the NextPageToken of the page before, instead of After
}

// Position returns the position of the change in the list, for ChangeQuery.After.
func (c *EntityChange) Position() string { return c.EntityKind + "/" + c.TypeName + "/" + c.ID }

// Changes lists a page of the changes that a commit made against its first parent.
func (g *Graph) Changes(ctx context.Context, commit string, page ChangeQuery, options ...ReadOption) (*ChangesAnswer, error) {
	q := g.get("/commits/"+segment(commit)+"/changes", options)
	setText(q.query, "after", page.After)
	setText(q.query, "page_token", page.PageToken)
	setNumber(q.query, "limit", page.Limit)
	return ask[ChangesAnswer](ctx, g.c, q)
}

// changePage is the number of changes of a page of ChangePages. It is the largest number that a
// server sends.
const changePage = 10_000

// ChangePages returns the changes of a commit in as many pages as needed. all.Limit is the maximum
// number of changes of all pages; 0 means all.
func (g *Graph) ChangePages(ctx context.Context, commit string, all ChangeQuery, options ...ReadOption) iter.Seq2[*ChangesAnswer, error] {
	return func(yield func(*ChangesAnswer, error) bool) {
		page, left, last := all, all.Limit, all.After
		for {
			if page.Limit = changePage; left > 0 {
				page.Limit = min(page.Limit, left)
			}
			a, err := g.Changes(ctx, commit, page, options...)
			if err != nil {
				yield(nil, err)
				return
			}
			n := len(a.Changes)
			if !yield(a, nil) || !a.More || n == 0 || left > 0 && n >= left {
				return
			}
			next := a.Changes[n-1].Position()
			if next == last {
				yield(nil, ErrNoProgress)
				return
			}
			last = next
			page.After, page.PageToken = next, ""
			if a.NextPageToken != "" {
				page.After, page.PageToken = "", a.NextPageToken
			}
			if left > 0 {
				left -= n
			}
		}
	}
}

// AllChanges is [Graph.ChangePages] change by change.
func (g *Graph) AllChanges(ctx context.Context, commit string, all ChangeQuery, options ...ReadOption) iter.Seq2[EntityChange, error] {
	return items(g.ChangePages(ctx, commit, all, options...), func(a *ChangesAnswer) []EntityChange { return a.Changes })
}
