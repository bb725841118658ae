package client

import "context"

// ExplainBody is the body of a request to explain a query.
type ExplainBody struct {
	Query   string `json:"query" jsonschema_description:"The GQ text; it may contain several queries."`
	Name    string `json:"name,omitempty" jsonschema_description:"The name of the query to explain, if the text contains several."`
	Params  any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The query's parameters by name, without the $; only analyze needs them."`
	Branch  string `json:"branch,omitempty" jsonschema_description:"The branch whose schema and data the plan is for; the default is main."`
	Analyze bool   `json:"analyze,omitempty" jsonschema_description:"Run the read, and report rows and time of each operator."`
}

// Explained says how the engine would run a query, or how it ran.
type Explained struct {
	QueryName     string     `json:"query_name"` // name of the explained query
	Kind          string     `json:"kind" jsonschema:"enum=read,enum=mutation"`
	Branch        string     `json:"branch"` // the branch whose schema and data the plan is for
	GraphCommitID string     `json:"graph_commit_id" jsonschema_description:"The commit whose data the estimates are for."`
	Analyzed      bool       `json:"analyzed" jsonschema_description:"The server ran the read, so rows and time_ns are set."`
	Caller        []string   `json:"caller,omitempty" jsonschema_description:"What the query uses of its caller, such as actor().id. The rows are those of the caller."`
	Touches       []Touched  `json:"touches" jsonschema_description:"The parts of the schema that the query reads or changes."`
	Plan          []PlanStep `json:"plan" jsonschema_description:"The operators, starting with the one that returns the result. An operator reads the rows of the operators that follow it one level deeper."`
	Text          string     `json:"text" jsonschema_description:"The plan as an indented tree."`
}

// Touched is a type, or a property of a type, that a query uses.
type Touched struct {
	Kind     string `json:"kind" jsonschema:"enum=node,enum=edge"`
	Type     string `json:"type"`               // name of the type
	Property string `json:"property,omitempty"` // empty for the type as a whole
	Write    bool   `json:"write" jsonschema_description:"The query may change it."`
}

// PlanStep is one operator of a plan.
type PlanStep struct {
	Depth    int     `json:"depth"` // distance from the root of the plan
	Name     string  `json:"name"`  // name of the operator
	Detail   string  `json:"detail,omitempty" jsonschema_description:"What the operator reads: type, index, direction, condition."`
	Estimate float64 `json:"estimate" jsonschema_description:"The number of rows that the engine expects from the operator."`
	Rows     *int64  `json:"rows,omitempty" jsonschema_description:"The number of rows that it returned."`
	TimeNS   int64   `json:"time_ns,omitempty" jsonschema_description:"The nanoseconds that the operator took, without the operators below it."`
}

// Explain shows the plan of a query. With analyze it runs the read. It never runs a mutation.
func (g *Graph) Explain(ctx context.Context, body ExplainBody) (*Explained, error) {
	return repeatable[Explained](ctx, g, "/explain", body)
}

// The kinds of help for the author of a query.
const (
	AskDiagnostics = "diagnostics"
	AskCompletion  = "completion"
	AskHover       = "hover"
)

// AssistBody is the body of a request for help with a text in GQ that is being written. All positions in the text count UTF-16
// code units from its start, as browsers and many editors do.
type AssistBody struct {
	Text     string `json:"text" jsonschema_description:"Queries in GQ; the text need not be right."`
	Ask      string `json:"ask,omitempty" jsonschema:"enum=diagnostics,enum=completion,enum=hover" jsonschema_description:"What to answer; the default is diagnostics."`
	Position int32  `json:"position,omitempty" jsonschema:"minimum=0" jsonschema_description:"For completion and hover: the place in the text, in UTF-16 code units from its start."`
	Branch   string `json:"branch,omitempty" jsonschema_description:"The branch whose schema counts; the default is main."`
	Snapshot string `json:"snapshot,omitempty" jsonschema_description:"The commit whose schema counts, instead of a branch; or an instant, as in a query."`
}

// AssistAnswer helps the author of a query. It has the members that were asked for.
type AssistAnswer struct {
	Queries     []AssistQuery      `json:"queries,omitempty" jsonschema_description:"With diagnostics: the queries without errors."`
	Diagnostics []AssistDiagnostic `json:"diagnostics,omitempty" jsonschema_description:"The faults in the order of the text, at most 50."`
	Completion  *AssistCompletion  `json:"completion,omitempty"`
	Hover       *AssistHover       `json:"hover,omitempty" jsonschema_description:"Absent if there is no name at the place, or one that needs no explanation."`
}

// AssistQuery is a query without errors.
type AssistQuery struct {
	Name     string       `json:"name"`
	Mutation bool         `json:"mutation"`
	Params   []ParamEntry `json:"params"` // in the order of the query
	Nodes    []AssistNode `json:"nodes,omitempty" jsonschema_description:"The columns of a read whose values are nodes or ids of nodes."`
	Links    []AssistLink `json:"links,omitempty" jsonschema_description:"The edges between the nodes of a row that the match wants."`
}

// AssistNode is a column of nodes, or of ids of nodes.
type AssistNode struct {
	Column string `json:"column"`
	Type   string `json:"type"` // of the nodes
}

// AssistLink is an edge between two nodes of each row.
type AssistLink struct {
	From string `json:"from"` // the column of the node that the edge starts at
	To   string `json:"to"`   // the column of the node that the edge leads to
	Edge string `json:"edge"` // its type
}

// AssistEdit replaces a part of the text.
type AssistEdit struct {
	From int    `json:"from"` // UTF-16 code units from the start
	To   int    `json:"to"`   // the first code unit after the part
	Text string `json:"text"` // replaces the part
}

// AssistDiagnostic is one fault.
type AssistDiagnostic struct {
	From     int          `json:"from"` // UTF-16 code units from the start
	To       int          `json:"to"`   // the first code unit after the fault
	Severity string       `json:"severity" jsonschema:"enum=error,enum=warning,enum=note"`
	Code     string       `json:"code"`
	Message  string       `json:"message"`
	Help     string       `json:"help,omitempty" jsonschema_description:"How to fix it."`
	Edits    []AssistEdit `json:"edits,omitempty" jsonschema_description:"Changes that fix it and keep the meaning of the query."`
}

// AssistCompletion lists what can be written at a place.
type AssistCompletion struct {
	From  int          `json:"from"`  // of the word that an item replaces, in UTF-16 code units
	To    int          `json:"to"`    // the first code unit after the word
	Items []AssistItem `json:"items"` // the most likely first
}

// AssistItem is one completion.
type AssistItem struct {
	Label  string `json:"label"`
	Kind   string `json:"kind" jsonschema_description:"Such as node, property or keyword."`
	Detail string `json:"detail,omitempty" jsonschema_description:"Such as its type."`
	Doc    string `json:"doc,omitempty" jsonschema_description:"Its description in the schema."`
}

// AssistHover describes the name at a place.
type AssistHover struct {
	From int    `json:"from"` // of the name, in UTF-16 code units
	To   int    `json:"to"`   // the first code unit after the name
	Code string `json:"code"` // declares the name
	Doc  string `json:"doc,omitempty" jsonschema_description:"Its description in the schema."`
}

// Assist helps the author of a query: it checks the text, or completes or describes what is at a place in it.
func (g *Graph) Assist(ctx context.Context, body AssistBody) (*AssistAnswer, error) {
	return repeatable[AssistAnswer](ctx, g, "/assist", body)
}

// repeatable sends a POST request that changes nothing, so that it may be sent again.
func repeatable[T any](ctx context.Context, g *Graph, path string, body any) (*T, error) {
	q, err := posting(g.path+path, body)
	if err != nil {
		return nil, err
	}
	q.repeats = true
	return ask[T](ctx, g.c, q)
}
