package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
)

// ChangesAnswer is a page of the changes that a commit made against its first parent. Across all
// pages, nodes come before edges. Nodes and edges are each sorted by the name of the type and then
// by id, byte by byte.
type ChangesAnswer struct {
	Cause         ChangeCause    `json:"cause" jsonschema_description:"The commit that made the changes."`
	Changes       []EntityChange `json:"changes" jsonschema_description:"Nodes, then edges, each by the name of the type and by id."`
	NextPageToken *string        `json:"next_page_token" jsonschema_description:"There are more changes; send it as page_token to list them. Null on the last page."`
}

// ChangeCause describes the commit that made the changes.
type ChangeCause struct {
	GraphCommitID        string   `json:"graph_commit_id"`         // id of the commit
	ParentCommitID       *string  `json:"parent_commit_id"`        // null if the commit has none
	MergedParentCommitID *string  `json:"merged_parent_commit_id"` // null unless it is a merge
	ActorID              *string  `json:"actor_id"`                // who made the commit, or null
	Agents               []string `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	AuthoredAt           int64    `json:"authored_at" jsonschema_description:"In Unix microseconds."`
	AuthoredBranch       string   `json:"authored_branch" jsonschema_description:"The branch that the commit was made on."`
	Message              string   `json:"message,omitempty" jsonschema_description:"What the author says about the commit."`
}

// EntityChange is the change that a commit made to an entity.
type EntityChange struct {
	Kind   string       `json:"kind" jsonschema:"enum=node,enum=edge"`
	Type   ChangedType  `json:"type"` // the node or edge type
	ID     string       `json:"id"`
	Op     string       `json:"op" jsonschema:"enum=insert,enum=update,enum=delete"`
	Before *EntityImage `json:"before" jsonschema_description:"The entity before the commit; null if the commit inserted it."`
	After  *EntityImage `json:"after" jsonschema_description:"The entity after the commit; null if the commit deleted it."`
}

// The values of EntityChange.Kind and EntityChange.Op.
const (
	KindNode = "node"
	KindEdge = "edge"
	OpInsert = "insert"
	OpUpdate = "update"
	OpDelete = "delete"
)

// ChangedType is the type of a changed entity.
type ChangedType struct {
	ID   string `json:"id" jsonschema_description:"Stays the same when the type is renamed."`
	Name string `json:"name" jsonschema_description:"The name at the commit."`
}

// EntityImage describes an entity as it is in one state of the graph.
type EntityImage struct {
	Properties map[string]json.RawMessage `json:"properties" jsonschema_description:"All properties of the type by name; null where the entity has no value."`
	Endpoints  *EdgeEndpoints             `json:"endpoints" jsonschema_description:"The ends of an edge; null for a node."`
}

// EdgeEndpoints are the two nodes that an edge connects.
type EdgeEndpoints struct {
	From EdgeEnd `json:"from" jsonschema_description:"The node where the edge starts: its id, or an object with its type and id if the schema declares an interface there."`
	To   EdgeEnd `json:"to" jsonschema_description:"The node where the edge ends: its id, or an object with its type and id if the schema declares an interface there."`
}

// ChangeQuery selects a page of the changes of a commit.
type ChangeQuery struct {
	Kinds []string // KindNode, KindEdge; none means both
	Types []string // the names of types; none means all
	Ops   []string // OpInsert, OpUpdate, OpDelete; none means all
	Limit int      // the maximum number of changes; 0 lists 1,000

	PageToken string // the NextPageToken of the previous page; empty for the first page
}

// values returns the parameters of a request for the page.
func (c ChangeQuery) values() url.Values {
	v := url.Values{"kind": c.Kinds, "type": c.Types, "op": c.Ops}
	setText(v, "page_token", c.PageToken)
	setNumber(v, "limit", c.Limit)
	return v
}

// Changes lists a page of the changes that a commit made against its first parent. If the commit
// has no parent or changed the schema, the error matches [ErrConflict] and has a
// ChangeDiffRefusal. If the server no longer keeps the states to compare, the error matches
// [ErrGone] and has a ChangeFeedGap.
func (g *Graph) Changes(ctx context.Context, commit string, page ChangeQuery, options ...ReadOption) (*ChangesAnswer, error) {
	q := g.get("/commits/"+segment(commit)+"/changes", options)
	for name, values := range map[string][]string{"kind": page.Kinds, "type": page.Types, "op": page.Ops} {
		for _, v := range values {
			q.query.Add(name, v)
		}
	}
	setText(q.query, "page_token", page.PageToken)
	setNumber(q.query, "limit", page.Limit)
	return ask[ChangesAnswer](ctx, g.c, q)
}

// changePage is the number of changes that ChangePages requests per page. It is the maximum that a
// server sends.
const changePage = 10_000

// ChangePages returns the changes of a commit in as many pages as needed. all.Limit is the maximum
// number of changes of all pages; 0 means all.
func (g *Graph) ChangePages(ctx context.Context, commit string, all ChangeQuery, options ...ReadOption) iter.Seq2[*ChangesAnswer, error] {
	return func(yield func(*ChangesAnswer, error) bool) {
		page, left := all, all.Limit
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
			if !yield(a, nil) || a.NextPageToken == nil || left > 0 && n >= left {
				return
			}
			if n == 0 || *a.NextPageToken == page.PageToken {
				yield(nil, ErrNoProgress)
				return
			}
			page.PageToken = *a.NextPageToken
			if left > 0 {
				left -= n
			}
		}
	}
}

// AllChanges returns the changes of [Graph.ChangePages] one at a time.
func (g *Graph) AllChanges(ctx context.Context, commit string, all ChangeQuery, options ...ReadOption) iter.Seq2[EntityChange, error] {
	return items(g.ChangePages(ctx, commit, all, options...), func(a *ChangesAnswer) []EntityChange { return a.Changes })
}
