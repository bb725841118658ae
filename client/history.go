package client

import (
	"context"
	"math"
	"net/url"
	"strconv"
)

// NodeHistory is a page of the history of a node on a branch.
type NodeHistory struct {
	Versions []NodeVersion `json:"versions" jsonschema_description:"The commits that changed the node, the newest first."`
	Examined int           `json:"examined" jsonschema_description:"The number of commits in which the server looked for changes."`

	NextBefore *uint64 `json:"next_before" jsonschema_description:"There are older commits; send it as before to continue with them. Null if there are none, and if their state was reclaimed."`
	Reclaimed  bool    `json:"reclaimed" jsonschema_description:"A cleanup reclaimed the state of older commits, so the history does not go back to the first commit."`
}

// NodeVersion is a change that a commit made to a node.
type NodeVersion struct {
	Commit CommitAnswer `json:"commit"` // the commit that made the change
	Op     string       `json:"op" jsonschema:"enum=insert,enum=update,enum=delete"`
	Before *EntityImage `json:"before" jsonschema_description:"The node before the commit, without Blobs; null if the commit inserted it."`
	After  *EntityImage `json:"after" jsonschema_description:"The node after the commit, without Blobs; null if the commit deleted it."`
}

// HistoryQuery selects a page of the history of a node.
type HistoryQuery struct {
	Type, ID string // type and id of the node
	Branch   string // the branch; main if it is empty
	Before   uint64 // look only at commits with a smaller GraphManifestVersion; 0 starts at the head
	Limit    int    // the maximum number of commits to look at; 0 for the server's default
}

// History lists the commits of a branch that changed a node, the newest first. A page may be empty
// although older commits changed the node: NextBefore says whether there are more commits to look
// at.
func (g *Graph) History(ctx context.Context, page HistoryQuery) (*NodeHistory, error) {
	q := reading(g.path+"/node/history", url.Values{})
	setText(q.query, "type", page.Type)
	setText(q.query, "id", page.ID)
	setText(q.query, "branch", page.Branch)
	setNumber(q.query, "limit", min(page.Limit, math.MaxInt32))
	// No commit has a number above MaxInt32, so a greater limit excludes nothing and is left out.
	if page.Before > 0 && page.Before <= math.MaxInt32 {
		setText(q.query, "before", strconv.FormatUint(page.Before, 10))
	}
	return ask[NodeHistory](ctx, g.c, q)
}
