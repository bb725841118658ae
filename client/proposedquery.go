package client

import (
	"context"
	"encoding/json"
)

// QueryProposalBody is the body of a request to propose a stored query.
type QueryProposalBody struct {
	Name        string   `json:"name" jsonschema_description:"The name of the query, and of its tool."`
	Query       string   `json:"query" jsonschema_description:"The GQ text of one read without annotations of the query. Each required parameter has an @example, which the example answer uses."`
	Description string   `json:"description" jsonschema_description:"What the query answers and when to use it: the description of its tool."`
	Questions   []string `json:"questions,omitempty" jsonschema_description:"Questions that the query answers. The search for tools uses them."`
	Why         string   `json:"why" jsonschema_description:"Why the query should be stored, for the reviewer."`
}

// ProposedQuery describes the query of a proposal to a viewer, with the viewer's own rights.
type ProposedQuery struct {
	Name      string        `json:"name"`
	Text      string        `json:"text" jsonschema_description:"The text with the description and the questions, as gq pull writes it."`
	Cost      float64       `json:"cost" jsonschema_description:"The number of rows that the operators of the plan are expected to yield, in total."`
	Plan      string        `json:"plan" jsonschema_description:"The plan with its estimates as an indented tree; empty if the query does not fit the schema."`
	Example   *QueryExample `json:"example" jsonschema_description:"An answer that the server computed for this viewer, on main; null if the query does not fit the schema."`
	Resembles []string      `json:"resembles" jsonschema_description:"Names of the stored queries that the viewer may run and that resemble it most."`
	Findings  []string      `json:"findings" jsonschema_description:"What gq lint says of the text."`
	Changes   []string      `json:"changes" jsonschema_description:"What gq breaking says of the merge."`
}

// QueryExample is an answer of a proposed query.
type QueryExample struct {
	Params   json.RawMessage `json:"params" jsonschema_description:"The arguments: the first @example of each parameter, or its default."`
	Rows     []Row           `json:"rows" jsonschema_description:"The first rows, at most 10."`
	MoreRows bool            `json:"more_rows"`
	Error    string          `json:"error,omitempty" jsonschema_description:"Why there are no rows: the read failed, or took too long."`
}

// PublishedQuery is a proposed query that was merged and that no build or apply has taken over.
type PublishedQuery struct {
	Name       string `json:"name"`
	Text       string `json:"text"`
	ProposalID string `json:"proposal_id"`
}

// PublishedQueries lists the proposed queries of a graph that were merged and that the caller may run.
type PublishedQueries struct {
	Queries []PublishedQuery `json:"queries" jsonschema_description:"By name."`
}

// ProposeQuery proposes a stored query. If the caller has an open proposal of a query with this name, ProposeQuery changes it.
func (g *Graph) ProposeQuery(ctx context.Context, body QueryProposalBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.path+"/proposed-queries", body)
}

// PublishedQueries lists the proposed queries of the graph that were merged and that the caller may run.
func (g *Graph) PublishedQueries(ctx context.Context) (*PublishedQueries, error) {
	return ask[PublishedQueries](ctx, g.c, reading(g.path+"/proposed-queries", nil))
}
