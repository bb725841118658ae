package rest

import (
	"net/http"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
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
	tagProposal = "Proposals"
	tagAdmin    = "Administration"
	tagAccess   = "Access"
)

// The parameters that several routes share.
var (
	branchParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "The branch to read; the default is main."}
	snapshotParam = Param{Name: "snapshot", In: Query, Kind: Text, Description: "The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it."}
	ifNoneParam   = Param{Name: headerIfNone, In: Header, Kind: Text, Description: "The entity tags of answers that the client already has. If the answer would have one of these tags, the server answers 304 without a body."}
	keyParam      = Param{Name: headerIdempotency, In: Header, Kind: Text, Max: 255, Description: "A key for the write. A repeated request with the same key within 24 hours gets the first answer again, and changes nothing."}
	ifCommitParam = Param{Name: headerIfCommit, In: Header, Kind: Text, Max: 255, Description: "Write only if this is the last commit of the branch; otherwise the answer is 412."}
	messageParam  = Param{Name: headerMessage, In: Header, Kind: Text, Max: 3 * engine.MaxMessage, Description: "The message of the commit: at most 1,024 bytes of UTF-8, percent-encoded as in a path. Newlines are the only control characters."}

	atLeastParam = Param{Name: headerAtLeast, In: Header, Kind: Text, Max: 255, Description: "A commit that the caller has seen, or latest for every commit that was acknowledged before the request. A server that follows another one waits until it has that commit."}

	// Clients of the older server read numbers, so the server cannot require the header. A generated client
	// must send it, because the documents give 64-bit integers the type string.
	integersParam = Param{Name: headerIntegers, In: Header, Kind: Text, Enum: []string{client.IntegersString}, Declared: true, Description: "With string, the answer has all values of the types I64 and U64 as strings of digits. Without the header they are JSON numbers, which many clients round beyond ±(2^53−1)."}

	dryRunParam = Param{Name: "dry_run", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "Commit nothing; report what the write would do."}
	lineParam   = Param{Name: "branch", In: Query, Kind: Text, Description: "A branch that contains the commit and that the caller may read. Without it, the branch that the commit was made on must be one that the caller may read."}

	// The parameters of routes that write: `writing` for most, and `mustCommit` for those that need
	// the header for the last commit.
	writing    = []Param{keyParam, ifCommitParam, messageParam}
	mustCommit = func() []Param {
		required := ifCommitParam
		required.Required = true
		return []Param{keyParam, required, messageParam}
	}()
)

// selecting says when a mutation given as text needs the permission read in addition to the
// permission change.
const selecting = "A mutation that updates or deletes, and every dry run, also needs read on the branch, because its answer depends on stored data."

// ofProposal is the sentence in the documentation of a route about a stored proposal that says when
// the answer is 404.
const ofProposal = "If the caller may not read both branches of the proposal, the answer is 404, as for a proposal that does not exist."

// routes is the table of all routes.
var routes = []Route{
	{
		Method: http.MethodGet, Path: "/healthz", Operation: "health", Tag: tagServer,
		Summary: "Check that the server answers, and get its version and the number of graphs that it serves.",
		Answer:  client.Health{}, handle: (*exchange).health,
	},
	{
		Method: http.MethodGet, Path: "/readyz", Operation: "ready", Tag: tagServer,
		Summary: "Check whether the server is ready and serves all of its graphs.",
		Description: "Without a token, the answer has the numbers of served graphs, quarantined graphs and queries that are left out. With a token whose actor has graph_list, it also has their names and the reasons. " +
			"The status is 503, with the same body, while a graph is quarantined and after the server received the signal to stop.",
		Answer: client.Readiness{}, Refusals: map[int]any{http.StatusServiceUnavailable: client.Readiness{}},
		Statuses: []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, Open: true, Elsewhere: true,
	},
	{
		Method: http.MethodGet, Path: "/metrics", Operation: "metrics", Tag: tagServer,
		Summary:     "Get the metrics, in the text format of Prometheus.",
		Description: "The metrics name all graphs and tools.",
		AnswerMedia: mediaText, Action: tool.GraphList,
		Statuses: []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, Elsewhere: true,
	},
	metadataOf("", "get_resource_metadata", "the server"),
	metadataOf("/graphs/{id}", "get_graph_resource_metadata", "a graph"),
	metadataOf("/graphs/{id}/mcp", "get_mcp_resource_metadata", "a graph over MCP"),
	{
		Method: http.MethodGet, Path: "/openapi.json", Operation: "get_openapi", Tag: tagServer,
		Summary:     "Get the OpenAPI document of these routes.",
		Description: "The document contains nothing about graphs or policies, so every caller with a token may read it.",
		Answer:      map[string]any{}, Statuses: []int{http.StatusUnauthorized, http.StatusTooManyRequests}, handle: (*exchange).openapi,
	},
	{
		Method: http.MethodGet, Path: "/actor", Operation: "get_actor", Tag: tagAccess,
		Summary:     "Say who the caller is: the actor of the token.",
		Description: "Every caller with a token may ask. On a server without authentication the actor is anonymous.",
		Answer:      client.ActorAnswer{}, Statuses: []int{http.StatusUnauthorized, http.StatusTooManyRequests}, handle: (*exchange).whoami,
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
		Action: tool.Read, Tagged: true, handle: reads(operations.LookSnapshot),
		example: example{params: map[string]string{"branch": "main"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/query", Operation: "query", Tag: tagQueries,
		Summary: "Run a read from GQ text.",
		Body:    client.QueryBody{}, BodyRequired: true, Answer: client.ReadAnswer{},
		Statuses: []int{http.StatusConflict}, Action: tool.Read, Tagged: true, Columns: true, Values: true, handle: (*exchange).runQuery,
		example: example{body: `{"query": "query lines($path: String) { match { $p: Package { path: $path } } return { $p.lines as lines } }", "params": {"path": "example.com/shop/stock"}}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/explain", Operation: "explain_query", Tag: tagQueries,
		Summary:     "Show the plan of a query, and with analyze where the time of a read goes.",
		Description: "The server runs the query only with analyze, and never a mutation.",
		Body:        client.ExplainBody{}, BodyRequired: true, Answer: client.Explained{}, Action: tool.Read, handle: (*exchange).explain,
		example: example{body: `{"query": "query lines($path: String) { match { $p: Package { path: $path } } return { $p.lines as lines } }", "params": {"path": "example.com/shop/stock"}, "analyze": true}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/assist", Operation: "assist", Tag: tagQueries,
		Summary:     "Help to write GQ text: list its faults with fixes, or complete or describe what is at a place.",
		Description: "The server does not run the text. The answer has only names that the caller may see.",
		Body:        client.AssistBody{}, BodyRequired: true, Answer: client.AssistAnswer{}, Action: tool.Read, handle: (*exchange).assist,
		example: example{body: `{"text": "query all() { match { $p: Pack", "ask": "completion", "position": 30}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate", Operation: "mutate", Tag: tagQueries,
		Summary:     "Run a mutation from GQ text.",
		Description: selecting,
		Params:      writing, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: (*exchange).runMutate,
		example: example{body: `{"query": "query note($slug: String) { insert Note { slug: $slug, text: \"read me\", created: now() } }", "params": {"slug": "first"}, "branch": "trial"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/mutate/if-graph-commit", Operation: "mutate_if_graph_commit", Tag: tagQueries,
		Summary:     "Run a mutation only if the branch is still at the given commit.",
		Description: selecting,
		Params:      mustCommit, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: (*exchange).runMutate,
		example: example{params: map[string]string{headerIfCommit: ExampleCommit}, body: `{"query": "query forget() { delete Note where slug = \"first\" }"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/read", Operation: "read", Tag: tagQueries, Successor: "/graphs/{id}/query",
		Summary: "Run a read. This is the old name of the route query.",
		Body:    deprecatedReadBody{}, BodyRequired: true, Answer: deprecatedReadAnswer{},
		Statuses: []int{http.StatusConflict}, Action: tool.Read, Tagged: true, Values: true, handle: (*exchange).runRead,
		example: example{body: `{"query_source": "query all() { match { $p: Package } return { $p.path as path } }", "branch": "main"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/change", Operation: "change", Tag: tagQueries, Successor: "/graphs/{id}/mutate",
		Summary:     "Run a mutation. This is the old name of the route mutate.",
		Description: selecting,
		Params:      writing, Body: client.MutateBody{}, BodyRequired: true, Answer: client.MutationAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: (*exchange).runMutate,
		example: example{body: `{"query_source": "query forget() { delete Note where slug = \"first\" }", "branch": "trial"}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/queries", Operation: "list_queries", Tag: tagQueries,
		Summary: "List the stored queries that the caller may invoke, except hidden ones.",
		Answer:  client.QueryList{}, Action: tool.Read, handle: (*exchange).listQueries,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/queries/{name}", Operation: "describe_query", Tag: tagQueries,
		Summary: "Describe a stored query: its parameters, the JSON Schema of its arguments, and its plan.",
		Description: "The server does not run the query. The answer has the plan only if the caller may read the branch via adhoc. " +
			"If the caller may not invoke the query, the answer is 404, as for a query that does not exist.",
		Params: []Param{{Name: "branch", In: Query, Kind: Text, Description: "The branch that the plan is for; the default is main."}},
		Answer: client.QueryDescription{}, Action: tool.InvokeQuery, ExtraActions: []tool.Action{tool.Read}, handle: (*exchange).describeQuery,
		example: example{params: map[string]string{"name": "get_package"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/openapi.json", Operation: "get_graph_openapi", Tag: tagQueries,
		Summary:     "Get an OpenAPI document in which each stored query is an operation with its own types.",
		Description: "The document has the queries that the caller may invoke, except hidden ones; it may have none.",
		Answer:      map[string]any{}, Statuses: []int{http.StatusUnauthorized, http.StatusTooManyRequests}, handle: (*exchange).graphOpenAPI,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}", Operation: "invoke_query", Tag: tagQueries,
		Summary:     "Run a stored query.",
		Description: "The caller also needs the permission for what the query does: read or change, via stored. If the caller may not invoke the query, the answer is 404, as for a query that does not exist.",
		Params:      writing, Body: client.InvokeBody{}, Answer: OneOf{client.ReadAnswer{}, client.MutationAnswer{}},
		Action: tool.InvokeQuery, ExtraActions: []tool.Action{tool.Read, tool.Change}, Writes: true, Tagged: true, Columns: true, Values: true, handle: (*exchange).runStored,
		example: example{params: map[string]string{"name": "get_package"}, body: `{"params": {"path": "example.com/shop/stock"}}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/queries/{name}/if-graph-commit", Operation: "invoke_query_if_graph_commit", Tag: tagQueries,
		Summary:     "Run a stored mutation only if the branch is still at the given commit.",
		Description: "Apart from the condition, this is the same as the route without it. The server refuses the condition for a stored read.",
		Params:      mustCommit, Body: client.InvokeBody{}, Answer: client.MutationAnswer{},
		Action: tool.InvokeQuery, ExtraActions: []tool.Action{tool.Change}, Writes: true, Values: true, handle: (*exchange).runStored,
		example: example{params: map[string]string{"name": "add_note", headerIfCommit: ExampleCommit}, body: `{"params": {"slug": "second", "symbol": "example.com/shop/stock.Shelf", "text": "read me"}}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/schema", Operation: "get_schema", Tag: tagSchema,
		Summary: "Get the schema as its source text.",
		Params:  []Param{branchParam, snapshotParam, ifNoneParam}, Answer: client.SchemaAnswer{},
		Action: tool.Read, Tagged: true, handle: reads(operations.LookSchema),
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/schema/types", Operation: "list_types", Tag: tagSchema,
		Summary: "Describe the node and edge types of the schema, and list the stored queries that use each type.",
		Params:  []Param{branchParam, snapshotParam}, Answer: client.TypeList{},
		Action: tool.Read, handle: reads(operations.LookTypes),
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load/ndjson", Operation: "load_ndjson", Tag: tagData,
		Summary: "Load nodes and edges as NDJSON, as one commit or not at all.",
		Description: "A line is {\"type\": …, \"data\": {…}} or {\"edge\": …, \"from\": …, \"to\": …, \"data\": {…}}. " +
			"The ends from and to are ids of nodes, or objects with type and id where the schema names an interface. " +
			"With the parameter from, the server creates the branch if it does not exist, and deletes it again if the load fails; this needs branch_create, and read on from. A dry run needs read on the branch.",
		Params: slices.Concat([]Param{
			{Name: "branch", In: Query, Kind: Text, Description: "The branch to load into; the default is main."},
			{Name: "from", In: Query, Kind: Text, Description: "The branch from which the server creates branch, if branch does not exist."},
			{Name: "mode", In: Query, Kind: Text, Enum: modes, Description: "merge, the default, replaces entities that exist; patch changes only the properties in the data, and null clears; append fails on entities that exist; overwrite first removes every entity of the types that occur in the data; sync does as patch, and lets go of what its source claimed before and lacks now."},
			{Name: "new_edges", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "With merge and patch: edges without an id are new edges if no @unique(src, dst) identifies them."},
			{Name: "last_wins", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "With merge and patch: of several lines with one entity the last stands. Otherwise they are a fault."},
			{Name: "source", In: Query, Kind: Text, Description: "With sync: the name of the source. With patch and followed: the source that claims the lines."},
			{Name: "types", In: Query, Kind: Text, Description: "With sync: the types, with commas, in which what the source claimed, and the data lack, is let go; it is deleted if a source created it and none claims it any more."},
			{Name: "yield", In: Query, Kind: Text, Description: "With sync: properties, as Type.property with commas, that stay as they are where another source owns them."},
			{Name: "cascade", In: Query, Kind: Text, Enum: []string{"true", "false"}, Description: "With sync: delete nodes together with edges that the source does not own."},
			{Name: "approve_deletes", In: Query, Kind: Number, Description: "With sync: the number of entities to delete, if it is more than a fifth of a type's claimed entities."},
			{Name: "followed", In: Query, Kind: Text, Description: "With merge and patch, and for a copy sync: the name of a database that the graph follows. The lines are its changes; they may also delete entities, move edges, and change keys."},
			{Name: "after", In: Query, Kind: Text, Description: "With followed: the position that the branch has; otherwise the answer is a conflict."},
			{Name: "position", In: Query, Kind: Text, Description: "With followed: the new position, which is stored with the changes. Without it and without lines, the load reports the position."},
			dryRunParam,
			{Name: "upload", In: Query, Kind: Text, Description: "The id of a complete upload for the branch, which is loaded instead of a body."},
		}, writing),
		BodyMedia: mediaNDJSON, Answer: client.LoadAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, Streamed: true, handle: (*exchange).loadLines,
		example: example{params: map[string]string{"branch": "trial", "mode": "merge"}, body: `{"type": "Package", "data": {"path": "example.com/new", "name": "new", "files": 1, "lines": 20}}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/uploads", Operation: "open_upload", Tag: tagData,
		Summary:     "Open an upload: data for a load, which the client sends in pieces and can resume.",
		Description: "The protocol is tus 1.0 with creation, creation-defer-length and termination. Location in the answer is the path of the upload. Only the caller can use it, for this branch, for a day. When it is complete, the client loads it with the parameter upload of /load/ndjson.",
		Params:      slices.Concat([]Param{{Name: "branch", In: Query, Kind: Text, Description: "The branch to load into; the default is main."}}, tusParams, []Param{{Name: headerUploadDefer, In: Header, Kind: Text, Enum: []string{"1"}, Description: "The client will say the length of the data with its last piece."}}),
		Success:     http.StatusCreated, Action: tool.Change, AtWriter: true, handle: (*exchange).openUpload,
		example: example{params: map[string]string{headerUploadLength: "100"}},
	},
	{
		Method: http.MethodPatch, Path: "/graphs/{id}/uploads/{upload}", Operation: "append_upload", Tag: tagData,
		Summary:     "Append a piece to an upload.",
		Description: "The upload keeps what arrives, even if the connection breaks. If Upload-Offset is not the number of bytes that have arrived, the answer is 409.",
		Params:      slices.Concat([]Param{{Name: headerUploadOffset, In: Header, Kind: Text, Required: true, Description: "How many bytes of the data come before the piece."}}, tusParams),
		BodyMedia:   mediaPiece, BodyRequired: true, Success: http.StatusNoContent, Statuses: []int{http.StatusConflict}, Action: tool.Change, AtWriter: true, Streamed: true, handle: (*exchange).appendUpload,
		example: example{params: map[string]string{"upload": exampleUpload, headerUploadOffset: "0"}, body: "{}"},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/uploads/{upload}", Operation: "get_upload", Tag: tagData,
		Summary:     "Get how many bytes of an upload have arrived.",
		Description: "A piece that is still arriving is cut off, so that the client can send the rest.",
		Answer:      client.Upload{}, Action: tool.Change, AtWriter: true, handle: (*exchange).getUpload,
		example: example{params: map[string]string{"upload": exampleUpload}},
	},
	{
		Method: http.MethodDelete, Path: "/graphs/{id}/uploads/{upload}", Operation: "delete_upload", Tag: tagData,
		Summary: "Delete an upload.",
		Success: http.StatusNoContent, Statuses: []int{http.StatusConflict}, Action: tool.Change, AtWriter: true, handle: (*exchange).deleteUpload,
		example: example{params: map[string]string{"upload": exampleUpload}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/load", Operation: "load", Tag: tagData,
		Summary:     "Load NDJSON from a member of the JSON body, as one commit or not at all.",
		Description: "With from, the server creates the branch if it does not exist, and deletes it again if the load fails; this needs branch_create, and read on from. A dry run needs read on the branch.",
		Params:      writing, Body: client.LoadBody{}, BodyRequired: true, Answer: client.TextLoadAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, handle: (*exchange).loadText,
		example: example{body: `{"data": "{\"type\": \"Package\", \"data\": {\"path\": \"example.com/new\", \"name\": \"new\", \"files\": 1, \"lines\": 20}}\n", "branch": "trial"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/ingest", Operation: "ingest", Tag: tagData, Successor: "/graphs/{id}/load",
		Summary:     "Load NDJSON into a branch, and create the branch from main if it does not exist.",
		Description: "Creating the branch needs branch_create, and read on the branch that it starts from. A dry run needs read on the branch.",
		Params:      writing, Body: client.LoadBody{}, BodyRequired: true, Answer: client.TextLoadAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.BranchCreate, tool.Read}, Writes: true, handle: (*exchange).ingest,
		example: example{body: `{"data": "{\"edge\": \"Imports\", \"from\": \"example.com/new\", \"to\": \"example.com/shop/stock\"}\n", "branch": "trial"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/export", Operation: "export", Tag: tagData,
		Summary:     "Export the entities of one commit as NDJSON that can be loaded again.",
		Description: "The answer has the nodes, then the edges, each with its id. The server sends the answer while it reads the graph, so an answer that ends early is incomplete. An Arrow stream has one table, so type_names must name exactly one type.",
		Body:        client.ExportBody{}, AnswerMedia: mediaNDJSON,
		Action: tool.Export, Tagged: true, Columns: true, Values: true, handle: (*exchange).exportGraph,
		example: example{body: `{"branch": "main", "type_names": ["Package"]}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/blob", Operation: "get_blob", Tag: tagData,
		Summary:     "Get the bytes of a Blob, or some of them.",
		Description: "The graph itself stores every Blob, so the answer is never a redirect.",
		Params: []Param{
			{Name: "entity", In: Query, Kind: Text, Enum: []string{"node", "edge"}, Required: true, Description: "The kind of entity that has the property."},
			{Name: "type", In: Query, Kind: Text, Required: true, Description: "The name of the entity's type."},
			{Name: "id", In: Query, Kind: Text, Required: true, Description: "The id of the entity."},
			{Name: "property", In: Query, Kind: Text, Required: true, Description: "The name of the property."},
			branchParam, snapshotParam, ifNoneParam,
			{Name: "Range", In: Header, Kind: Text, Description: "The range of bytes to send, such as bytes=0-99."},
			{Name: headerIfMatch, In: Header, Kind: Text, Many: true, Description: "Send the bytes only if one of these is the entity tag; otherwise the answer is 412."},
			{Name: "If-Range", In: Header, Kind: Text, Description: "Send the range only if this is the entity tag of the value; otherwise send the whole value."},
		},
		AnswerMedia: mediaBytes,
		Statuses:    []int{http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable},
		Action:      tool.Read, Tagged: true, handle: (*exchange).blob,
		example: example{params: map[string]string{"entity": "node", "type": "Attachment", "id": "a", "property": "content", "Range": "bytes=0-3"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/schema/apply", Operation: "apply_schema", Tag: tagSchema,
		Summary:     "Apply a schema to a branch, and convert the stored data to it, as one commit.",
		Description: "To rename a type or property, write @rename_from in the schema. A dry run needs read on the branch. If the configuration of a cluster sets the schema of the graph, the answer is 409.",
		Params:      writing, Body: client.SchemaBody{}, BodyRequired: true, Answer: client.SchemaApplied{},
		Action: tool.SchemaApply, ExtraActions: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).applySchema,
		example: example{body: `{"schema_source": "node Person {\n  name: String @key\n}\n", "dry_run": true}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/branches", Operation: "list_branches", Tag: tagBranches,
		Summary: "List the branches that the caller may read.",
		Params: []Param{
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of branches; the default is all."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous answer."},
		},
		Answer: client.BranchList{}, Action: tool.Read, handle: (*exchange).listBranches,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/branches", Operation: "create_branch", Tag: tagBranches,
		Summary:     "Create a branch. It shares all data with the branch or commit that it starts from.",
		Description: "The caller also needs read on the branch that it starts from, because the new branch shows the same data to other actors.",
		Body:        client.BranchBody{}, BodyRequired: true, Answer: client.BranchCreated{},
		Action: tool.BranchCreate, ExtraActions: []tool.Action{tool.Read}, Writes: true, handle: (*exchange).createBranch,
		example: example{body: `{"name": "trial", "from": "main"}`},
	},
	{
		Method: http.MethodDelete, Path: "/graphs/{id}/branches/{branch}", Operation: "delete_branch", Tag: tagBranches,
		Summary: "Delete a branch, including its changes that are not merged into another branch.",
		Answer:  client.BranchDeleted{}, Action: tool.BranchDelete, Writes: true, handle: (*exchange).deleteBranch,
		example: example{params: map[string]string{"branch": "trial"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/branches/merge", Operation: "merge_branches", Tag: tagBranches,
		Summary:     "Merge the changes of a branch into another branch, as one commit or not at all.",
		Description: "The caller needs read on the source and the target, and with delete_branch also branch_delete. If both branches changed the same data in different ways, the answer is 409 with every conflict.",
		Params:      writing, Body: client.MergeBody{}, BodyRequired: true, Answer: client.MergeAnswer{},
		Action: tool.BranchMerge, ExtraActions: []tool.Action{tool.Read, tool.BranchDelete}, Writes: true, handle: (*exchange).mergeBranches,
		example: example{body: `{"source": "trial", "target": "main"}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits", Operation: "list_commits", Tag: tagHistory,
		Summary: "List the commits of a branch, newest first.",
		Params: []Param{
			{Name: "branch", In: Query, Kind: Text, Description: "The branch whose commits to list; the default is main."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of commits; at most 10,000, which is the default."},
			{Name: "before", In: Query, Kind: Number, Min: 1, Description: "List only commits with a lower sequence number than this."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous answer; send it instead of before."},
			{Name: "grep", In: Query, Kind: Text, Description: "List only commits whose message contains this text. The server looks at 10,000 commits for a page, which may be empty although next_before is set."},
			ifNoneParam,
		},
		Answer: client.CommitList{}, Action: tool.Read, Tagged: true, handle: (*exchange).commits,
		example: example{params: map[string]string{"limit": "10"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits/{commit}", Operation: "get_commit", Tag: tagHistory,
		Summary: "Get a commit: who made it, when, and its parents.",
		Params:  []Param{lineParam, ifNoneParam}, Answer: client.CommitAnswer{},
		Action: tool.Read, Tagged: true, handle: (*exchange).commit,
		example: example{params: map[string]string{"commit": ExampleCommit}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/commits/{commit}/changes", Operation: "list_changes", Tag: tagHistory,
		Summary: "List what a commit changed against its first parent.",
		Description: "Each change has the entity before and after. The answer is 409, with the reason in change_diff_refusal, for a commit without a parent and for one that changed the schema. " +
			"It is 410, with change_feed_gap, when a cleanup has reclaimed the state of the commit or of its parent.",
		Params: []Param{
			lineParam,
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of entities, 1,000 by default. The answer to more than 10,000 is 413."},
			{Name: "kind", In: Query, Kind: Text, Enum: []string{client.KindNode, client.KindEdge}, Many: true, Description: "List only changes of nodes, or only changes of edges; both by default."},
			{Name: "type", In: Query, Kind: Text, Many: true, Description: "List only changes of entities of this type, by its name at the commit; all types by default."},
			{Name: "op", In: Query, Kind: Text, Enum: []string{client.OpInsert, client.OpUpdate, client.OpDelete}, Many: true, Description: "List only changes of this kind; all by default."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous answer."},
			ifNoneParam,
		},
		Statuses: []int{http.StatusConflict, http.StatusGone},
		Answer:   client.ChangesAnswer{}, Action: tool.Read, Tagged: true, Values: true, handle: (*exchange).changes,
		example: example{params: map[string]string{"commit": ExampleCommit, "limit": "100"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/changes", Operation: "get_change_feed", Tag: tagHistory,
		Summary: "List what the commits of a branch changed, the oldest commit first, after a cursor.",
		Description: "Each block has the changes of one commit against its first parent, with the entities before and after, and the change of the schema if there is one. " +
			"A page ends after a whole commit and has a cursor, which the subscriber stores and sends with the next request. Only a commit with more changes than the limit takes several pages; page_token continues within it. " +
			"The answer is 410, with change_feed_gap, when a cleanup has reclaimed a state that the feed needs; the subscriber then gets a new baseline. " +
			"With `Accept: text/event-stream` the server sends pages as events, and goes on when the branch gets new commits. The id of an event goes into Last-Event-ID to resume after the event. Subscriptions have limits of their own.",
		Params: []Param{
			branchParam,
			{Name: "cursor", In: Query, Kind: Text, Max: 255, Description: "The cursor of the previous page, or the resume_cursor of a baseline."},
			{Name: "start", In: Query, Kind: Text, Enum: []string{client.StartEarliest, client.StartLatest}, Description: "Where the feed starts without a cursor: before the first commit of the branch (earliest, the default), or after its head (latest)."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of changes in a page, 1,000 by default. The answer to more than 10,000 is 413. A page also ends after 1,000 commits."},
			{Name: "kind", In: Query, Kind: Text, Enum: []string{client.KindNode, client.KindEdge}, Many: true, Description: "List only changes of nodes, or only changes of edges; both by default."},
			{Name: "type", In: Query, Kind: Text, Many: true, Description: "List only changes of entities of this type, by its name before or after the commit; all types by default."},
			{Name: "op", In: Query, Kind: Text, Enum: []string{client.OpInsert, client.OpUpdate, client.OpDelete}, Many: true, Description: "List only changes of this kind; all by default. Changes of the schema are always listed."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous page; the server then ignores cursor and start."},
			{Name: headerLastEvent, In: Header, Kind: Text, Max: maxEventID, Description: "The id of the last event that the subscriber has. The server then ignores cursor, start and page_token. Only for a stream of events."},
		},
		Statuses: []int{http.StatusGone},
		Answer:   client.ChangeFeed{}, Action: tool.Read, Events: true, Values: true, handle: (*exchange).changeFeed,
		example: example{params: map[string]string{"cursor": ExampleCommit, "limit": "100"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/changes/baseline", Operation: "get_change_baseline", Tag: tagHistory,
		Summary:     "Export the entities of the head of a branch as NDJSON, with the cursor that continues the change feed after them.",
		Description: "The lines are those of an export. The last line has the member baseline, with snapshot_commit_id and resume_cursor; an answer without it is incomplete.",
		Body:        client.BaselineBody{}, AnswerMedia: mediaNDJSON,
		Action: tool.Export, Tagged: true, Values: true, handle: (*exchange).baseline,
		example: example{body: `{"branch": "main", "type": ["Package"]}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/node/history", Operation: "get_node_history", Tag: tagHistory,
		Summary: "List the commits of a branch that changed a node, with the node before and after each.",
		Description: "The server looks for changes in the commits of the branch itself; what a merge brought in is one change. " +
			"A page may have no versions although older commits changed the node: while next_before is not null, continue with it.",
		Params: []Param{
			{Name: "type", In: Query, Kind: Text, Required: true, Description: "The name of the node type."},
			{Name: "id", In: Query, Kind: Text, Required: true, Description: "The id of the node."},
			branchParam,
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of commits in which the server looks for changes; at most 1,000, and 100 by default."},
			{Name: "before", In: Query, Kind: Number, Min: 1, Description: "Look only at commits with a lower sequence number than this."},
			ifNoneParam,
		},
		Answer: client.NodeHistory{}, Action: tool.Read, Tagged: true, Values: true, handle: (*exchange).nodeHistory,
		example: example{params: map[string]string{"type": "Package", "id": "example.com/shop/stock"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/access", Operation: "explain_access", Tag: tagAccess,
		Summary:     "Say what an actor may do on the graph, and which rules of the policy decide it.",
		Description: "The answer has a decision for each action and for each tool. Nothing is run as the actor.",
		Params: []Param{
			{Name: "actor", In: Query, Kind: Text, Required: true, Max: 256, Description: "The name of the actor; \"ada via bot\" for an agent that acts for an actor."},
			{Name: "group", In: Query, Kind: Text, Many: true, Max: 256, Description: "A group that the actor's token contains, as the issuer names it."},
			{Name: "branch", In: Query, Kind: Text, Description: "The branch that the decisions are about; the default is main. It need not exist."},
		},
		Answer: client.AccessAnswer{}, Action: tool.PolicyRead, handle: (*exchange).explainAccess,
		example: example{params: map[string]string{"actor": "act-ada", "branch": "main"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/audit", Operation: "read_audit", Tag: tagAccess,
		Summary:     "List calls in the audit trail of the graph, the latest first.",
		Description: "A record says who called what, what the policy decided, and which entities the answer had. The answer is 404 if the server keeps no trail.",
		Params: []Param{
			{Name: "actor", In: Query, Kind: Text, Max: 256, Description: "Only calls of this actor, or of this agent for an actor."},
			{Name: "tool", In: Query, Kind: Text, Max: 256, Description: "Only calls of this tool or operation."},
			{Name: "entity", In: Query, Kind: Text, Description: "Only calls whose answers had the entity with this id, or may have had it."},
			{Name: "decision", In: Query, Kind: Text, Enum: []string{audittrail.Allowed, audittrail.Denied}, Description: "Only calls that the policy allowed, or that it denied."},
			{Name: "from", In: Query, Kind: Text, Description: "Only calls that ended at this time or later: a date in UTC, or a time such as 2026-06-01T12:00:00Z."},
			{Name: "to", In: Query, Kind: Text, Description: "Only calls that ended before this time."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of records; at most 1,000, and 100 by default."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The token of the page before, for earlier calls."},
		},
		Answer: client.AuditAnswer{}, Action: tool.AuditRead, handle: (*exchange).audit,
		example: example{params: map[string]string{"actor": "act-ada", "limit": "10"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/checks", Operation: "run_checks", Tag: tagProposal,
		Summary: "Run the checks of the graph, the stored queries that must return no row, on the head of a branch.",
		Description: "The checks run with the rights of the server. The answer has the name and the rows of a check only if the caller may invoke its query. " +
			"A check that reaches a limit is unfinished and counts as not passed.",
		Params: []Param{branchParam}, Answer: client.ChecksAnswer{}, Action: tool.Read, Values: true, handle: (*exchange).runChecks,
		example: example{params: map[string]string{"branch": "main"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/proposals", Operation: "list_proposals", Tag: tagProposal,
		Summary: "List the proposals between branches that the caller may read, newest first.",
		Params: []Param{
			{Name: "state", In: Query, Kind: Text, Enum: []string{"open", "merged", "closed"}, Description: "List only proposals in this state; all by default."},
			{Name: "source", In: Query, Kind: Text, Description: "List only proposals from this branch."},
			{Name: "target", In: Query, Kind: Text, Description: "List only proposals for this branch."},
			{Name: "author", In: Query, Kind: Text, Description: "List only proposals that this actor opened."},
			{Name: "reviewer", In: Query, Kind: Text, Description: "List only proposals that this actor approved or asked to change."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of proposals; at most 500, and 100 by default."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous answer."},
		},
		Answer: client.ProposalList{}, Action: tool.Read, handle: (*exchange).listProposals,
		example: example{params: map[string]string{"state": "open", "limit": "50"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposals", Operation: "open_proposal", Tag: tagProposal,
		Summary:     "Open a proposal to merge a branch into another one.",
		Description: "The caller needs change on the source, and read on the source and the target. If an open proposal has the same source and target, the answer is 409.",
		Body:        client.ProposalBody{}, BodyRequired: true, Answer: client.ProposalAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: (*exchange).openProposal,
		example: example{body: `{"source": "trial", "title": "Add a note", "description": "The note says what to read first."}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposed-queries", Operation: "query_propose", Tag: tagProposal,
		Summary: "Propose a stored query.",
		Description: "The answer is the proposal of the query, which is reviewed and merged as other proposals are; the merge asks query_publish, of another actor. If the caller has an open proposal of a query with this name, the request changes it. " +
			"Until a policy names the merged query, it runs with the rights of its caller's own queries.",
		Body: client.QueryProposalBody{}, BodyRequired: true, Answer: client.ProposalAnswer{}, Statuses: []int{http.StatusConflict},
		Action: tool.QueryPropose, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: (*exchange).proposeQuery,
		example: example{body: `{"name": "package_lines", "query": "query package_lines($path: String @example(\"example.com/shop/stock\")) { match { $p: Package { path: $path } } return { $p.lines as lines } }", "description": "The number of lines of a package.", "questions": ["How long is a package?"], "why": "Reviews ask for it every day."}`},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/proposed-queries", Operation: "list_proposed_queries", Tag: tagProposal,
		Summary:     "List the proposed queries that were merged and that no apply has taken over, with their texts.",
		Description: "The answer has those that the caller may run. gq pull writes them into a module.",
		Answer:      client.PublishedQueries{}, Action: tool.Read, handle: (*exchange).publishedQueries,
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/proposals/events", Operation: "get_proposal_feed", Tag: tagProposal,
		Summary: "List the events of proposals, such as reviews and merges, the oldest first, after a cursor.",
		Description: "The answer has the events of the proposals between branches that the caller may read. The subscriber stores the cursor of a page and sends it with the next request. " +
			"The answer is 410, with proposal_feed_gap, when a cleanup has removed proposals with events after the cursor. " +
			"With `Accept: text/event-stream` the server sends pages as events, and goes on when there are new events. The id of an event goes into Last-Event-ID to resume after the event. Subscriptions have limits of their own.",
		Params: []Param{
			{Name: "cursor", In: Query, Kind: Text, Max: 255, Description: "The cursor of the previous page, or the id of an event."},
			{Name: "start", In: Query, Kind: Text, Enum: []string{client.StartEarliest, client.StartLatest}, Description: "Where the feed starts without a cursor: after the last event that a cleanup removed (earliest, the default), or after the last event (latest)."},
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of events in a page; at most 1,000, and 100 by default."},
			{Name: headerLastEvent, In: Header, Kind: Text, Max: maxEventID, Description: "The id of the last event that the subscriber has. The server then ignores cursor and start. Only for a stream of events."},
		},
		Statuses: []int{http.StatusGone},
		Answer:   client.ProposalFeed{}, Action: tool.Read, Events: true, handle: (*exchange).proposalFeed,
		example: example{params: map[string]string{"start": "latest", "limit": "100"}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/proposals/{proposal}", Operation: "get_proposal", Tag: tagProposal,
		Summary:     "Get a proposal: its reviews, its conflicts with base, ours and theirs, and what blocks its merge.",
		Description: ofProposal,
		Answer:      client.ProposalAnswer{}, Statuses: []int{http.StatusConflict}, Action: tool.Read, Values: true, handle: onProposal(operations.GetProposal),
		example: example{params: map[string]string{"proposal": ExampleProposal}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/proposals/{proposal}/changes", Operation: "list_proposal_changes", Tag: tagProposal,
		Summary:     "List what the merge of a proposal changes on the target, with the stored resolutions.",
		Description: "Each change has the entity before and after. Changes of the source without an effect on the target are marked. While the merge has no result, because of conflicts without a resolution, the list has what the source changed since the merge base. New and deleted nodes come first, then changed nodes, then edges. " + ofProposal,
		Params: []Param{
			{Name: "limit", In: Query, Kind: Number, Min: 1, Description: "The maximum number of entities; at most 10,000, and 1,000 by default."},
			{Name: "kind", In: Query, Kind: Text, Enum: []string{client.KindNode, client.KindEdge}, Many: true, Description: "List only changes of nodes, or only changes of edges; both by default."},
			{Name: "type", In: Query, Kind: Text, Many: true, Description: "List only changes of entities of this type; all types by default."},
			{Name: "op", In: Query, Kind: Text, Enum: []string{client.OpInsert, client.OpUpdate, client.OpDelete}, Many: true, Description: "List only changes of this kind; all by default."},
			{Name: "page_token", In: Query, Kind: Text, Description: "The next_page_token of the previous answer."},
		},
		Answer: client.ProposalChanges{}, Action: tool.Read, Values: true, handle: (*exchange).proposalChanges,
		example: example{params: map[string]string{"proposal": ExampleProposal, "limit": "100"}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposals/{proposal}", Operation: "change_proposal", Tag: tagProposal,
		Summary:     "Change the title, the description or the resolutions of an open proposal.",
		Description: "The caller needs change on the source. " + ofProposal,
		Body:        client.ProposalChangeBody{}, BodyRequired: true, Answer: client.ProposalAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read}, Writes: true, Values: true, handle: stepOf(operations.ChangeProposal, "digest"),
		example: example{params: map[string]string{"proposal": ExampleProposal}, body: `{"title": "Add the first note"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposals/{proposal}/review", Operation: "review_proposal", Tag: tagProposal,
		Summary: "Approve an open proposal, ask for changes, or comment on it.",
		Description: "A decision is about the digest of the changes and resolutions that the caller saw. The caller needs proposal_review on the target; for a comment, change on the source is enough. " +
			"An actor that opened the proposal or committed to its source cannot approve it; the answer is then 409. " + ofProposal,
		Body: client.ProposalReviewBody{}, BodyRequired: true, Answer: client.ProposalAnswer{},
		Action: tool.ProposalReview, ExtraActions: []tool.Action{tool.Read, tool.Change}, Writes: true, Values: true, handle: stepOf(operations.ReviewProposal, "digest"),
		example: example{params: map[string]string{"proposal": ExampleProposal}, body: `{"decision": "comment", "comment": "Is the slug unique?"}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposals/{proposal}/merge", Operation: "merge_proposal", Tag: tagProposal,
		Summary: "Merge an open proposal, as one commit.",
		Description: "The server checks the proposal and commits exactly the result that it checked. The caller needs branch_merge on the target, which a rule can allow via proposal. " +
			"If something blocks the merge, the answer is 409. If the proposal is merged already, the answer is the proposal. " + ofProposal,
		Body: client.ProposalMergeBody{}, Answer: client.ProposalAnswer{},
		Action: tool.BranchMerge, ExtraActions: []tool.Action{tool.Read}, Writes: true, Statuses: []int{http.StatusPreconditionFailed}, Values: true, handle: stepOf(operations.MergeProposal, "digest"),
		example: example{params: map[string]string{"proposal": ExampleProposal}, body: `{}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/proposals/{proposal}/close", Operation: "close_proposal", Tag: tagProposal,
		Summary:     "Close an open proposal without a merge.",
		Description: "The caller must have opened the proposal, or needs change on the source or proposal_review on the target. " + ofProposal,
		Body:        client.ProposalCloseBody{}, Answer: client.ProposalAnswer{},
		Action: tool.Change, ExtraActions: []tool.Action{tool.Read, tool.ProposalReview}, Writes: true, Values: true, handle: stepOf(operations.CloseProposal),
		example: example{params: map[string]string{"proposal": ExampleProposal}, body: `{"comment": "No longer needed."}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/verify", Operation: "verify", Tag: tagAdmin,
		Summary: "Read all stored data, and list each fault with the object that has it.",
		Body:    client.VerifyBody{}, Answer: client.Verified{}, Action: tool.Admin, handle: (*exchange).verify,
		example: example{body: `{}`},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/cleanup", Operation: "cleanup", Tag: tagAdmin,
		Summary:     "Make old commits unreadable, and reclaim the storage that only they need.",
		Description: "The heads of branches and the merge base of every two branches always stay readable.",
		Body:        client.CleanupBody{}, BodyRequired: true, Answer: client.CleanedUp{},
		Action: tool.Admin, Writes: true, handle: (*exchange).cleanup,
		example: example{body: `{"keep_commits": 100, "dry_run": true}`},
	},
}
