package client

import (
	"context"
	"net/url"
)

// CheckResult is the outcome of one check: a stored query that must return no row.
type CheckResult struct {
	Query    string  `json:"query" jsonschema_description:"The stored query; empty if the caller may not invoke it."`
	Title    string  `json:"title" jsonschema_description:"What the check demands, such as: Every decision rests on a document."`
	Outcome  string  `json:"outcome" jsonschema:"enum=passed,enum=failed,enum=unfinished" jsonschema_description:"failed: the query returned rows. unfinished: the query reached a limit or could not run, so the check counts as not passed."`
	Reason   *string `json:"reason" jsonschema_description:"Why the check is unfinished; null otherwise."`
	Rows     []Row   `json:"rows,omitempty" jsonschema_description:"The first rows that a failed check returned, at most 20. Left out if the caller may not invoke the query."`
	MoreRows bool    `json:"more_rows,omitempty" jsonschema_description:"The query returned more rows."`
}

// The values of CheckResult.Outcome.
const (
	CheckPassed     = "passed"
	CheckFailed     = "failed"
	CheckUnfinished = "unfinished"
)

// ChecksAnswer has the outcomes of the checks of a graph on one branch.
type ChecksAnswer struct {
	Branch        string        `json:"branch"`
	GraphCommitID string        `json:"graph_commit_id"` // the checked commit
	Checks        []CheckResult `json:"checks" jsonschema_description:"In the order of the stored queries. Empty if the graph has no checks."`
}

// Checks runs the checks of the graph on the head of a branch. An empty branch means main.
func (g *Graph) Checks(ctx context.Context, branch string) (*ChecksAnswer, error) {
	query := url.Values{}
	setText(query, "branch", branch)
	return ask[ChecksAnswer](ctx, g.c, reading(g.path+"/checks", query))
}
