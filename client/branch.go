package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// BranchList is a page of the branches of a graph.
type BranchList struct {
	Branches []string     `json:"branches" jsonschema_description:"The names of the branches that the caller may read, in order."`
	Heads    []BranchHead `json:"heads" jsonschema_description:"The last commit of each branch."`

	NextPageToken string `json:"next_page_token,omitempty" jsonschema_description:"There are more branches; send it as page_token to list them."`
}

// BranchHead is a branch with its last commit.
type BranchHead struct {
	Name          string   `json:"name"`            // name of the branch
	GraphCommitID string   `json:"graph_commit_id"` // id of the branch's last commit
	ActorID       *string  `json:"actor_id" jsonschema_description:"The actor who made the commit; null if the commit has none."`
	Agents        []string `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	CreatedAt     int64    `json:"created_at" jsonschema_description:"The time of the commit in Unix microseconds."`

	Draft *BranchDraft `json:"draft,omitempty" jsonschema_description:"Only if the branch is a draft."`
}

// BranchBody is the body of a request to create a branch.
type BranchBody struct {
	Name       string `json:"name" jsonschema:"minLength=1,maxLength=200,pattern=^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$" jsonschema_description:"Letters, digits and _ - . in segments separated by /, such as review/june."`
	From       string `json:"from,omitempty" jsonschema_description:"The branch whose head the new branch starts from; the default is main."`
	FromCommit string `json:"from_commit,omitempty" jsonschema_description:"A commit to start from instead of a head. It must be in the history of from or, without from, made on a branch that the caller may read."`
}

// BranchCreated is the answer to a request to create a branch.
type BranchCreated struct {
	URI     string  `json:"uri"`      // identifies the graph, such as omnigraph://people
	From    string  `json:"from"`     // the branch that the new branch starts from
	Name    string  `json:"name"`     // the new branch
	ActorID *string `json:"actor_id"` // who created the branch; null if not known

	GraphCommitID string `json:"graph_commit_id" jsonschema_description:"The commit that the branch starts from."`
}

// BranchDeleted is the answer to a request to delete a branch.
type BranchDeleted struct {
	URI     string  `json:"uri"`      // identifies the graph, such as omnigraph://people
	Name    string  `json:"name"`     // the deleted branch
	ActorID *string `json:"actor_id"` // who deleted the branch; null if not known
}

// MergeBody is the body of a merge.
type MergeBody struct {
	Source       string `json:"source" jsonschema_description:"The branch to merge."`
	Target       string `json:"target,omitempty" jsonschema_description:"The branch to merge into; the default is main."`
	DeleteBranch bool   `json:"delete_branch,omitempty" jsonschema_description:"Delete the source after the merge; this needs branch_delete."`
	DryRun       bool   `json:"dry_run,omitempty" jsonschema_description:"Report what the merge would do, including conflicts, and change nothing."`
}

// MergeAnswer is the answer to a merge.
type MergeAnswer struct {
	Source            string  `json:"source"` // the branch that was merged
	Target            string  `json:"target"` // the branch that it was merged into
	Outcome           string  `json:"outcome" jsonschema:"enum=already_up_to_date,enum=fast_forward,enum=merged"`
	BranchDeleted     bool    `json:"branch_deleted" jsonschema_description:"The source was deleted."`
	BranchDeleteError *string `json:"branch_delete_error" jsonschema_description:"Why the server could not delete the source after the merge; null if it did not fail."`
	AffectedNodes     int64   `json:"affected_nodes"` // number of nodes that the merge changed
	AffectedEdges     int64   `json:"affected_edges"` // number of edges that the merge changed
	GraphCommitID     *string `json:"graph_commit_id" jsonschema_description:"The commit on the target; null if nothing changed, and in a dry run."`
	ActorID           *string `json:"actor_id"` // who merged; null if not known
	DryRun            bool    `json:"dry_run,omitempty" jsonschema_description:"Nothing was committed; the answer says what the write would do."`
}

// BranchQuery selects a page of the branches.
type BranchQuery struct {
	Limit     int    // the maximum number of branches on a page; 0 lists all on one page
	PageToken string // the NextPageToken of the previous page
}

// Branches lists a page of the branches that the caller may read.
func (g *Graph) Branches(ctx context.Context, page BranchQuery) (*BranchList, error) {
	query := url.Values{}
	setNumber(query, "limit", page.Limit)
	setText(query, "page_token", page.PageToken)
	return ask[BranchList](ctx, g.c, reading(g.path+"/branches", query))
}

// BranchPages returns the page that Branches would return, and all pages after it.
func (g *Graph) BranchPages(ctx context.Context, page BranchQuery) iter.Seq2[*BranchList, error] {
	return func(yield func(*BranchList, error) bool) {
		page := page
		for {
			list, err := g.Branches(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(list, nil) || list.NextPageToken == "" {
				return
			}
			if len(list.Branches) == 0 || list.NextPageToken == page.PageToken {
				yield(nil, ErrNoProgress)
				return
			}
			page.PageToken = list.NextPageToken
		}
	}
}

// branchPage is the number of branches that AllBranches requests per page.
const branchPage = 1000

// AllBranches returns all branches that the caller may read, each with its head.
func (g *Graph) AllBranches(ctx context.Context) iter.Seq2[BranchHead, error] {
	return items(g.BranchPages(ctx, BranchQuery{Limit: branchPage}), func(l *BranchList) []BranchHead { return l.Heads })
}

// CreateBranch creates a branch. It shares all data with the branch or commit that it starts from.
func (g *Graph) CreateBranch(ctx context.Context, body BranchBody) (*BranchCreated, error) {
	q, err := posting(g.path+"/branches", body)
	if err != nil {
		return nil, err
	}
	return ask[BranchCreated](ctx, g.c, q)
}

// DeleteBranch deletes a branch. Changes that were not merged into another branch are lost.
func (g *Graph) DeleteBranch(ctx context.Context, name string) (*BranchDeleted, error) {
	q := reading(g.path+"/branches/"+segment(name), nil)
	q.method, q.repeats = http.MethodDelete, false
	return ask[BranchDeleted](ctx, g.c, q)
}

// MergeBranches merges a branch into another one, as one commit. If both branches changed the same
// property, the server merges nothing: the error matches [ErrConflict], and its MergeConflicts list
// the conflicts. If the merge succeeds and the deletion of the source fails, the error is nil and
// the answer contains the reason.
func (g *Graph) MergeBranches(ctx context.Context, body MergeBody, options ...WriteOption) (*MergeAnswer, error) {
	q, err := posting(g.path+"/branches/merge", body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	if body.DeleteBranch && q.ownKey {
		// A merge that commits nothing leaves no receipt on the server, but can still delete the
		// source. A repeated request could then find another branch of that name. So the client
		// never repeats such a request; the caller decides.
		q.repeats = false
	}
	return ask[MergeAnswer](ctx, g.c, q)
}

// setText sets a parameter of the query string, unless the value is empty.
func setText(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// setNumber sets a parameter of the query string, unless the value is 0.
func setNumber(query url.Values, name string, n int) {
	if n != 0 {
		query.Set(name, strconv.Itoa(n))
	}
}
