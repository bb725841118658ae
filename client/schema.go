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
