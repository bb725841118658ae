package rest

import (
	"net/http"
	"slices"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The tags that routes are listed under.
const (
	tagServer   = "Server"
	tagQueries  = "Queries"
	tagData     = "Data"
	tagSchema   = "Schema"
	tagBranches = "Branches"
	tagHistory  = "History"
	tagAdmin    = "Administration"
)

// The parameters that several routes share.
var (
	branchParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "The branch to read; main when it is left out."}
	snapshotParam = Param{Name: "snapshot", In: Query, Kind: Text, Description: "The commit to read, instead of a branch."}
	ifNoneParam   = Param{Name: headerIfNone, In: Header, Kind: Text, Description: "Entity tags of answers that the client has; if the answer would be one of them, it is 304 and empty."}
	keyParam      = Param{Name: headerIdempotency, In: Header, Kind: Text, Description: "A request with the same key within a day answers as the first did, and changes nothing."}
	ifCommitParam = Param{Name: headerIfCommit, In: Header, Kind: Text, Description: "Write only if this is the last commit of the branch that is written to; otherwise the answer is 412."}

	writing    = []Param{keyParam, ifCommitParam}
	mustCommit = func() []Param {
		required := ifCommitParam
		required.Required = true
		return []Param{keyParam, required}
	}()
)

// routes is the one table of routes.
var routes = []Route{
	{
		Method: http.MethodGet, Path: "/healthz", Operation: "health", Tag: tagServer,
		Summary: "Say that the server answers, and how many graphs it serves.",
		Answer:  health{}, handle: (*exchange).health,
	},
	{
		Method: http.MethodGet, Path: "/openapi.json", Operation: "get_openapi", Tag: tagServer,
		Summary:     "Get the OpenAPI document of these routes.",
		Description: "It tells nothing of graphs or policies; whoever has a token may read it.",
		Statuses:    []int{http.StatusUnauthorized, http.StatusTooManyRequests}, handle: (*exchange).openapi,
	},
	{
		Method: http.MethodGet, Path: "/graphs", Operation: "list_graphs", Tag: tagServer,
		Summary: "List the graphs of the server.",
		Answer:  graphList{}, Action: tool.GraphList, handle: (*exchange).listGraphs,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/query", Operation: "query", Tag: tagQueries,
		Summary: "Run a read that is given as GQ text.",
		Body:    queryBody{}, BodyRequired: true, Answer: ReadAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).runQuery,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate", Operation: "mutate", Tag: tagQueries,
		Summary: "Run a mutation that is given as GQ text.",
		Params:  writing, Body: mutateBody{}, BodyRequired: true, Answer: MutationAnswer{},
		Action: tool.Change, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate/if-graph-commit", Operation: "mutate_if_graph_commit", Tag: tagQueries,
		Summary: "Run a mutation if the branch is still at a commit.",
		Params:  mustCommit, Body: mutateBody{}, BodyRequired: true, Answer: MutationAnswer{},
		Action: tool.Change, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/read", Operation: "read", Tag: tagQueries, Successor: "/graphs/{id}/query",
		Summary: "Run a read, under the names that query has taken the place of.",
		Body:    readBody{}, BodyRequired: true, Answer: deprecatedReadAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).runRead,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/change", Operation: "change", Tag: tagQueries, Successor: "/graphs/{id}/mutate",
		Summary: "Run a mutation, under the name that mutate has taken the place of.",
		Params:  writing, Body: mutateBody{}, BodyRequired: true, Answer: MutationAnswer{},
		Action: tool.Change, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/queries", Operation: "list_queries", Tag: tagQueries,
		Summary: "List the stored queries that the caller may invoke, hidden ones aside.",
		Answer:  queryList{}, Action: tool.Read, handle: (*exchange).listQueries,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}", Operation: "invoke_query", Tag: tagQueries,
		Summary:     "Run a stored query.",
		Description: "What the query does is asked for as well: read or change, via stored. A query that the caller may not invoke is not found, like one that does not exist.",
		Params:      writing, Body: invokeBody{}, Answer: OneOf{ReadAnswer{}, MutationAnswer{}},
		Action: tool.InvokeQuery, Also: []tool.Action{tool.Read, tool.Change}, Writes: true, Tagged: true, handle: (*exchange).runStored,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}/if-graph-commit", Operation: "invoke_query_if_graph_commit", Tag: tagQueries,
		Summary:     "Run a stored mutation if the branch is still at a commit.",
		Description: "The same as without the condition in all else; of a stored read it is refused.",
		Params:      mustCommit, Body: invokeBody{}, Answer: MutationAnswer{},
		Action: tool.InvokeQuery, Also: []tool.Action{tool.Change}, Writes: true, handle: (*exchange).runStored,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/schema", Operation: "get_schema", Tag: tagSchema,
		Summary: "Get the schema as its source text.",
		Params:  []Param{branchParam, snapshotParam, ifNoneParam}, Answer: schemaAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).schema,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load/ndjson", Operation: "load_ndjson", Tag: tagData,
		Summary: "Load nodes and edges as NDJSON, as one commit or not at all.",
		Description: "A line is {\"type\": …, \"data\": {…}} or {\"edge\": …, \"from\": …, \"to\": …, \"data\": {…}}. " +
			"With from the branch is made if it does not exist, which needs branch_create; it is gone again when the load fails.",
		Params: slices.Concat([]Param{
			{Name: "branch", In: Query, Kind: Text, Description: "The branch to load into; main when it is left out."},
			{Name: "from", In: Query, Kind: Text, Description: "The branch to make branch from, if it does not exist."},
			{Name: "mode", In: Query, Kind: Text, Enum: modes, Description: "merge, also when it is left out, replaces entities that exist; append fails on them; overwrite first removes every entity of the types that occur in the data."},
			dryRunParam,
		}, writing),
		BodyMedia: mediaNDJSON, BodyRequired: true, Answer: service.LoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate}, Writes: true, handle: (*exchange).loadLines,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load", Operation: "load", Tag: tagData,
		Summary:     "Load NDJSON that is a member of the body, as one commit or not at all.",
		Description: "With from the branch is made if it does not exist, which needs branch_create; it is gone again when the load fails.",
		Params:      writing, Body: loadBody{}, BodyRequired: true, Answer: LoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate}, Writes: true, handle: (*exchange).loadText,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/ingest", Operation: "ingest", Tag: tagData, Successor: "/graphs/{id}/load",
		Summary:     "Load NDJSON into a branch that is made from main if it does not exist.",
		Description: "To make the branch needs branch_create.",
		Params:      writing, Body: loadBody{}, BodyRequired: true, Answer: LoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate}, Writes: true, handle: (*exchange).ingest,
	},
}

var dryRunParam = Param{Name: "dry_run", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "Commit nothing; say what would be done."}
