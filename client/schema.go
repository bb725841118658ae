package client

import "context"

// SchemaAnswer is the schema of a graph.
type SchemaAnswer struct {
	SchemaSource string `json:"schema_source"` // the text of the schema in .pg form
}

// SchemaBody is the body of a request to apply a schema.
type SchemaBody struct {
	SchemaSource  string `json:"schema_source" jsonschema_description:"The whole .pg source. Types and properties that it leaves out are dropped."`
	AllowDataLoss bool   `json:"allow_data_loss,omitempty" jsonschema_description:"Permit steps that remove values from the graph."`
	Branch        string `json:"branch,omitempty" jsonschema_description:"The branch to apply it to; the default is main."`
	DryRun        bool   `json:"dry_run,omitempty" jsonschema_description:"Report the steps and change nothing."`
	Hard          bool   `json:"hard,omitempty" jsonschema_description:"Also remove the values of dropped properties from the stored files of the branch's head, soon after the call."`
}

// SchemaApplied is the answer to a request to apply a schema.
type SchemaApplied struct {
	URI                  string       `json:"uri"` // identifies the graph, such as omnigraph://people
	Supported            bool         `json:"supported" jsonschema_description:"The server can execute every step; false occurs only in a dry run."`
	Applied              bool         `json:"applied" jsonschema_description:"The call put the schema in force."`
	Destructive          bool         `json:"destructive" jsonschema_description:"A step removes values from the graph."`
	StepCount            int          `json:"step_count"` // number of steps
	Steps                []SchemaStep `json:"steps"`      // the steps of the change, in order
	GraphManifestVersion uint64       `json:"graph_manifest_version" jsonschema_description:"The sequence number of the branch's last commit."`
	Branch               string       `json:"branch"` // the branch that the call was for
	Digest               string       `json:"digest" jsonschema_description:"Identifies the change. If two digests are equal, the changes are the same."`
	GraphCommitID        *string      `json:"graph_commit_id" jsonschema_description:"The id of the commit; null if nothing changed, and in a dry run."`
	ActorID              *string      `json:"actor_id"` // who applied the schema; null if not known
}

// SchemaStep is one change of a schema.
type SchemaStep struct {
	Code        string `json:"code"`        // identifies the kind of step, such as add_node
	Step        string `json:"step"`        // the step in words
	Destructive bool   `json:"destructive"` // the step removes values from the graph
	Reason      string `json:"reason,omitempty" jsonschema_description:"Why the server cannot execute the step, and what to do instead."`
}

// TypeList describes the types of a schema.
type TypeList struct {
	Types []TypeEntry `json:"types" jsonschema_description:"The node types and then the edge types, in schema order."`
}

// TypeEntry is a node type or an edge type of a schema.
type TypeEntry struct {
	Kind        string          `json:"kind" jsonschema:"enum=node,enum=edge"`
	Name        string          `json:"name"`                  // name of the type
	Description string          `json:"description,omitempty"` // the text of `@description`
	From        string          `json:"from,omitempty" jsonschema_description:"For an edge type, the node type or the interface at which its edges start."`
	To          string          `json:"to,omitempty" jsonschema_description:"For an edge type, the node type or the interface at which its edges end."`
	Implements  []string        `json:"implements,omitempty" jsonschema_description:"For a node type, its interfaces."`
	Key         []string        `json:"key,omitempty" jsonschema_description:"For a node type, the properties of its key."`
	Rules       []string        `json:"rules" jsonschema_description:"Key, unique, range and other rules, as the schema spells them."`
	Properties  []PropertyEntry `json:"properties"` // in schema order
	Queries     []string        `json:"queries" jsonschema_description:"The names of the stored queries that use the type, among those that the caller may invoke."`
}

// PropertyEntry is a property of a type.
type PropertyEntry struct {
	Name        string   `json:"name"` // name of the property
	Type        string   `json:"type" jsonschema_description:"As the schema spells it; a ? at the end says that it may be null."`
	Kind        string   `json:"kind" jsonschema_description:"The kind of the value, or of the elements of a list, such as String, I32, Date or Blob."`
	List        bool     `json:"list"`           // the value is a list
	Enum        []string `json:"enum,omitempty"` // the allowed values
	Description string   `json:"description,omitempty"`
}

// Types describes the types of the schema, and lists the stored queries that use each of them.
func (g *Graph) Types(ctx context.Context, options ...ReadOption) (*TypeList, error) {
	return ask[TypeList](ctx, g.c, g.get("/schema/types", options))
}

// Schema returns the source text of the schema.
func (g *Graph) Schema(ctx context.Context, options ...ReadOption) (*SchemaAnswer, error) {
	return ask[SchemaAnswer](ctx, g.c, g.get("/schema", options))
}

// ApplySchema replaces the schema of a branch and converts the data, as one commit. With
// body.DryRun it only reports the steps.
func (g *Graph) ApplySchema(ctx context.Context, body SchemaBody, options ...WriteOption) (*SchemaApplied, error) {
	q, err := posting(g.path+"/schema/apply", body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	return ask[SchemaApplied](ctx, g.c, q)
}
