package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// deprecatedReadBody is the body of the deprecated route /read. In it, both the text and the name
// of the query to run can be given under two member names.
type deprecatedReadBody struct {
	Query       string `json:"query,omitempty" jsonschema:"oneof_required=query" jsonschema_description:"The GQ text; it may contain several queries. Send either query or query_source."`
	QuerySource string `json:"query_source,omitempty" jsonschema:"oneof_required=query_source" jsonschema_description:"Another name for query."`
	Name        string `json:"name,omitempty" jsonschema_description:"The name of the query to run, if the text contains several."`
	QueryName   string `json:"query_name,omitempty" jsonschema_description:"Another name for name."`
	Params      any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The query's parameters by name, without the $."`
	Branch      string `json:"branch,omitempty" jsonschema_description:"The branch to read; the default is main."`
	Snapshot    string `json:"snapshot,omitempty" jsonschema_description:"The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it."`
	MaxRows     int32  `json:"max_rows,omitempty" jsonschema:"minimum=1" jsonschema_description:"The maximum number of rows; the default is as many as fit in one answer."`
	PageToken   string `json:"page_token,omitempty" jsonschema_description:"The next_page_token of the previous page."`
}

// deprecatedReadAnswer is the answer of the deprecated route /read, which has no graph_commit_id.
type deprecatedReadAnswer struct {
	client.ReadRows
	client.ReadMore
}

// runRead is runQuery for the deprecated route.
func (x *exchange) runRead() error {
	var b deprecatedReadBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := adHoc(o, b.Query, b.QuerySource, b.Name, b.QueryName)
	call.Branch = tool.BranchName(b.Branch)
	call.Options = queryrun.Options{Snapshot: b.Snapshot, PageToken: b.PageToken}
	oneTarget(o, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	enc := rowsAtMost(b.MaxRows)
	enc.NoCommit = true
	return x.answer(call, enc)
}
