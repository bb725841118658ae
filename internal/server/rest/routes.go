package rest

import (
	"net/http"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The tags that group the routes in documents.
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
	keyParam      = Param{Name: headerIdempotency, In: Header, Kind: Text, Max: 255, Description: "A request with the same key within a day answers as the first did, and changes nothing."}
	ifCommitParam = Param{Name: headerIfCommit, In: Header, Kind: Text, Max: 255, Description: "Write only if this is the last commit of the branch that is written to; otherwise the answer is 412."}

	dryRunParam = Param{Name: "dry_run", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "Commit nothing; say what would be done."}
	lineParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "A branch that the caller may read, and of whose line the commit is. Left out, the commit has to have been made on a branch that the caller may read."}

	writing    = []Param{keyParam, ifCommitParam}
	mustCommit = func() []Param {
		required := ifCommitParam
		required.Required = true
		return []Param{keyParam, required}
	}()
)

// selecting says when a mutation given as text needs the right read in addition to the right change.
const selecting = "A mutation that updates or deletes, and every dry run, needs read on the branch too: its answer depends on stored data."

// routes is the table of all routes.
var routes = []Route{
	{
		Method: http.MethodGet, Path: "/healthz", Operation: "health", Tag: tagServer,
		Summary: "Say that the server answers, which version it is, and how many graphs it serves.",
		Answer:  client.Health{}, handle: (*exchange).health,
	},
	{
		Method: http.MethodGet, Path: "/readyz", Operation: "ready", Tag: tagServer,
		Summary: "Say whether the server serves everything that it is to serve.",
		Description: "Without a token it tells how many graphs are served and quarantined, and how many queries are left out; with one whose actor has graph_list, which, and why. " +
			"It answers 503, with the same body, while a graph is quarantined and once the server is told to stop.",
		Answer: client.Readiness{}, Refusals: map[int]any{http.StatusServiceUnavailable: client.Readiness{}},
		Statuses: []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, Open: true, Elsewhere: true,
	},
	{
		Method: http.MethodGet, Path: "/metrics", Operation: "metrics", Tag: tagServer,
		Summary:     "Get the metrics, in the text format of Prometheus.",
		Description: "They name all graphs and tools.",
		AnswerMedia: mediaText, Action: tool.GraphList,
		Statuses: []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, Elsewhere: true,
	},
	metadataOf("", "get_resource_metadata", "the server"),
	metadataOf("/graphs/{id}", "get_graph_resource_metadata", "a graph"),
	metadataOf("/graphs/{id}/mcp", "get_mcp_resource_metadata", "a graph over MCP"),
	{
		Method: http.MethodGet, Path: "/openapi.json", Operation: "get_openapi", Tag: tagServer,
		Summary:     "Get the OpenAPI document of these routes.",
		Description: "It tells nothing of graphs or policies; whoever has a token may read it.",
		Answer:      map[string]any{}, Statuses: []int{http.StatusUnauthorized, http.StatusTooManyRequests}, handle: (*exchange).openapi,
	},
	{
		Method: http.MethodGet, Path: "/graphs", Operation: "list_graphs", Tag: tagServer,
		Summary: "List the graphs of the server.",
		Answer:  client.GraphList{}, Action: tool.GraphList, handle: (*exchange).listGraphs,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/snapshot", Operation: "get_snapshot", Tag: tagData,
		Summary: "Describe the state of a branch: its last commit, and how many nodes and edges of each type it has.",
		Params:  []Param{branchParam, snapshotParam, ifNoneParam}, Answer: client.SnapshotAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).snapshot,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/query", Operation: "query", Tag: tagQueries,
		Summary: "Run a read that is given as GQ text.",
		Body:    client.QueryBody{}, BodyRequired: true, Answer: client.ReadAnswer{},
		Statuses: []int{http.StatusConflict}, Action: tool.Read, Tagged: true, handle: (*exchange).runQuery,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate", Operation: "mutate", Tag: tagQueries,
		Summary:     "Run a mutation that is given as GQ text.",
		Description: selecting,
		Params:      writing, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate/if-graph-commit", Operation: "mutate_if_graph_commit", Tag: tagQueries,
		Summary:     "Run a mutation if the branch is still at a commit.",
		Description: selecting,
		Params:      mustCommit, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/read", Operation: "read", Tag: tagQueries, Successor: "/graphs/{id}/query",
		Summary: "Run a read, under the names that query has taken the place of.",
		Body:    deprecatedReadBody{}, BodyRequired: true, Answer: deprecatedReadAnswer{},
		Statuses: []int{http.StatusConflict}, Action: tool.Read, Tagged: true, handle: (*exchange).runRead,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/change", Operation: "change", Tag: tagQueries, Successor: "/graphs/{id}/mutate",
		Summary:     "Run a mutation, under the name that mutate has taken the place of.",
		Description: selecting,
		Params:      writing, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).runMutate,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/queries", Operation: "list_queries", Tag: tagQueries,
		Summary: "List the stored queries that the caller may invoke, hidden ones aside.",
		Answer:  client.QueryList{}, Action: tool.Read, handle: (*exchange).listQueries,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}", Operation: "invoke_query", Tag: tagQueries,
		Summary:     "Run a stored query.",
		Description: "What the query does is asked for as well: read or change, via stored. A query that the caller may not invoke is not found, like one that does not exist.",
		Params:      writing, Body: client.InvokeBody{}, Answer: OneOf{client.ReadAnswer{}, client.MutationAnswer{}},
		Action: tool.InvokeQuery, Also: []tool.Action{tool.Read, tool.Change}, Writes: true, Tagged: true, handle: (*exchange).runStored,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}/if-graph-commit", Operation: "invoke_query_if_graph_commit", Tag: tagQueries,
		Summary:     "Run a stored mutation if the branch is still at a commit.",
		Description: "The same as without the condition in all else; of a stored read it is refused.",
		Params:      mustCommit, Body: client.InvokeBody{}, Answer: client.MutationAnswer{},
		Action: tool.InvokeQuery, Also: []tool.Action{tool.Change}, Writes: true, handle: (*exchange).runStored,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/schema", Operation: "get_schema", Tag: tagSchema,
		Summary: "Get the schema as its source text.",
		Params:  []Param{branchParam, snapshotParam, ifNoneParam}, Answer: client.SchemaAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).schema,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load/ndjson", Operation: "load_ndjson", Tag: tagData,
		Summary: "Load nodes and edges as NDJSON, as one commit or not at all.",
		Description: "A line is {\"type\": …, \"data\": {…}} or {\"edge\": …, \"from\": …, \"to\": …, \"data\": {…}}. " +
			"With from the branch is made if it does not exist, which needs branch_create, and read on from; it is gone again when the load fails. A dry run needs read on the branch.",
		Params: slices.Concat([]Param{
			{Name: "branch", In: Query, Kind: Text, Description: "The branch to load into; main when it is left out."},
			{Name: "from", In: Query, Kind: Text, Description: "The branch to make branch from, if it does not exist."},
			{Name: "mode", In: Query, Kind: Text, Enum: modes, Description: "merge, also when it is left out, replaces entities that exist; append fails on them; overwrite first removes every entity of the types that occur in the data."},
			dryRunParam,
		}, writing),
		BodyMedia: mediaNDJSON, BodyRequired: true, Answer: client.LoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, handle: (*exchange).loadLines,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load", Operation: "load", Tag: tagData,
		Summary:     "Load NDJSON that is a member of the body, as one commit or not at all.",
		Description: "With from the branch is made if it does not exist, which needs branch_create, and read on from; it is gone again when the load fails. A dry run needs read on the branch.",
		Params:      writing, Body: client.LoadBody{}, BodyRequired: true, Answer: client.TextLoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, handle: (*exchange).loadText,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/ingest", Operation: "ingest", Tag: tagData, Successor: "/graphs/{id}/load",
		Summary:     "Load NDJSON into a branch that is made from main if it does not exist.",
		Description: "To make the branch needs branch_create, and read on the branch that it starts from. A dry run needs read on the branch.",
		Params:      writing, Body: client.LoadBody{}, BodyRequired: true, Answer: client.TextLoadAnswer{},
		Action: tool.Change, Also: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, handle: (*exchange).ingest,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/export", Operation: "export", Tag: tagData,
		Summary:     "Export the entities of one commit as NDJSON that a load takes.",
		Description: "Nodes, then edges, each with its id. The answer is written while it is made: one that breaks off is not whole.",
		Body:        client.ExportBody{}, AnswerMedia: mediaNDJSON,
		Action: tool.Export, Tagged: true, handle: (*exchange).export,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/blob", Operation: "get_blob", Tag: tagData,
		Summary:     "Get the bytes of a Blob, or a part of them.",
		Description: "The graph itself holds every Blob, so the answer never redirects to another place.",
		Params: []Param{
			{Name: "entity", In: Query, Kind: Text, Enum: []string{"node", "edge"}, Required: true, Description: "What has the property."},
			{Name: "type", In: Query, Kind: Text, Required: true, Description: "The name of its type."},
			{Name: "id", In: Query, Kind: Text, Required: true, Description: "Its id."},
			{Name: "property", In: Query, Kind: Text, Required: true, Description: "The name of the property."},
			branchParam, snapshotParam, ifNoneParam,
			{Name: "Range", In: Header, Kind: Text, Description: "The part to send, such as bytes=0-99."},
			{Name: headerIfMatch, In: Header, Kind: Text, Many: true, Description: "Send the bytes only if one of these is the entity tag; otherwise the answer is 412."},
			{Name: "If-Range", In: Header, Kind: Text, Description: "Send the part only if this is the entity tag, and otherwise the whole."},
		},
		AnswerMedia: mediaBytes,
		Statuses:    []int{http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable},
		Action:      tool.Read, Tagged: true, handle: (*exchange).blob,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/schema/apply", Operation: "apply_schema", Tag: tagSchema,
		Summary:     "Make a schema the one in force on a branch, as one commit, and bring the data along.",
		Description: "A type or property is renamed with @rename_from. A dry run needs read on the branch. A server whose graphs follow the configuration of a cluster answers 409.",
		Params:      writing, Body: client.SchemaBody{}, BodyRequired: true, Answer: client.SchemaApplied{},
		Action: tool.SchemaApply, Also: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).applySchema,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/branches", Operation: "list_branches", Tag: tagBranches,
		Summary: "List the branches that the caller may read.",
		Params: []Param{
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The most branches; all when it is left out."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the answer before."},
		},
		Answer: client.BranchList{}, Action: tool.Read, handle: (*exchange).listBranches,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/branches", Operation: "create_branch", Tag: tagBranches,
		Summary:     "Make a branch, which shares all data with where it starts.",
		Description: "Needs read where it starts as well: on the branch others may read the same data.",
		Body:        client.BranchBody{}, BodyRequired: true, Answer: client.BranchCreated{},
		Action: tool.BranchCreate, Also: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).createBranch,
	},
	{
		Method: http.MethodDelete, Path: "/graphs/{id}/branches/{branch}", Operation: "delete_branch", Tag: tagBranches,
		Summary: "Delete a branch, and with it what was not merged into another.",
		Answer:  client.BranchDeleted{}, Action: tool.BranchDelete, Writes: true, handle: (*exchange).deleteBranch,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/branches/merge", Operation: "merge_branches", Tag: tagBranches,
		Summary:     "Bring what a branch changed into another one, as one commit or not at all.",
		Description: "Needs read on the source and the target, and with delete_branch also branch_delete. Where both changed the same, the answer is 409 with every conflict.",
		Params:      writing, Body: client.MergeBody{}, BodyRequired: true, Answer: client.MergeAnswer{},
		Action: tool.BranchMerge, Also: []tool.Action{tool.Read, tool.BranchDelete}, Writes: true, handle: (*exchange).mergeBranches,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits", Operation: "list_commits", Tag: tagHistory,
		Summary: "List the commits of a branch, the newest first.",
		Params: []Param{
			{Name: "branch", In: Query, Kind: Text, Description: "The branch whose commits to list; main when it is left out."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The most commits; 10,000 when it is left out, and never more."},
			{Name: "before", In: Query, Kind: Number, Min: 1, Description: "Leave out the commits from this sequence number on."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the answer before, instead of before."},
			ifNoneParam,
		},
		Answer: client.CommitList{}, Action: tool.Read, Tagged: true, handle: (*exchange).commits,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits/{commit}", Operation: "get_commit", Tag: tagHistory,
		Summary: "Get a commit: who made it, when, and from what.",
		Params:  []Param{lineParam, ifNoneParam}, Answer: client.CommitAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).commit,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits/{commit}/changes", Operation: "list_changes", Tag: tagHistory,
		Summary: "List what a commit changed against its first parent.",
		Description: "Each change has the entity before and after. The answer is 409, with the reason in change_diff_refusal, for a commit without a parent and for one that changed the schema. " +
			"It is 410, with change_feed_gap, when a cleanup has reclaimed the state of the commit or of its parent.",
		Params: []Param{
			lineParam,
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The most entities; 1,000 when it is left out, and never more than 10,000."},
			{Name: "kind", In: Query, Kind: Text, Enum: []string{client.KindNode, client.KindEdge}, Many: true, Description: "List only changes of nodes, or only those of edges; both when it is left out."},
			{Name: "type", In: Query, Kind: Text, Many: true, Description: "List only changes of entities of this type, by its name at the commit; all types when it is left out."},
			{Name: "op", In: Query, Kind: Text, Enum: []string{client.OpInsert, client.OpUpdate, client.OpDelete}, Many: true, Description: "List only changes of this kind; all when it is left out."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the answer before."},
			ifNoneParam,
		},
		Statuses: []int{http.StatusConflict, http.StatusGone},
		Answer:   client.ChangesAnswer{}, Action: tool.Read, Tagged: true, handle: (*exchange).changes,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/verify", Operation: "verify", Tag: tagAdmin,
		Summary: "Read everything that is stored, and list each fault with its object.",
		Body:    client.VerifyBody{}, Answer: client.Verified{}, Action: tool.Admin, handle: (*exchange).verify,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/cleanup", Operation: "cleanup", Tag: tagAdmin,
		Summary:     "Make commits of the past unreadable, and reclaim what only they need.",
		Description: "The heads of branches and the merge bases of every two always stay readable.",
		Body:        client.CleanupBody{}, BodyRequired: true, Answer: client.CleanedUp{},
		Action: tool.Admin, Writes: true, handle: (*exchange).cleanup,
	},
}
