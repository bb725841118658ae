package client

import (
	"context"
	"encoding/json"
)

// InferBody is the body of a request for a map for an uploaded table.
type InferBody struct {
	FileName string `json:"file_name" jsonschema_description:"The name of the file, which ends in .csv or .tsv, and suggests the name of a type."`
	Branch   string `json:"branch,omitempty" jsonschema_description:"The branch whose schema the map is for; the default is main."`
}

// ImportProposal describes an uploaded table, and proposes a map and a schema for it.
type ImportProposal struct {
	Rows         int64          `json:"rows"` // of the table
	Columns      []ImportColumn `json:"columns"`
	Key          []string       `json:"key" jsonschema_description:"The columns that identify the rows; none if no column does."`
	KeyEvidence  string         `json:"key_evidence,omitempty"`
	Map          string         `json:"map" jsonschema_description:"A map of the table to types of the graph, which is an import.yaml as JSON; empty if no type fits."`
	SchemaSource string         `json:"schema_source" jsonschema_description:"A type for the table, for a graph that has none."`
}

// ImportColumn describes a column of an uploaded table.
type ImportColumn struct {
	Name     string          `json:"name"`     // in the file
	Property string          `json:"property"` // the name as a property
	Type     string          `json:"type" jsonschema_description:"The type of the values, as a schema writes it."`
	Optional bool            `json:"optional"` // some row has no value
	Values   int64           `json:"values"`   // rows with a value
	Distinct int64           `json:"distinct" jsonschema_description:"The number of different values; 0 if they are too many or too long to count."`
	Samples  []string        `json:"samples"`
	Note     string          `json:"note,omitempty"`
	Reads    json.RawMessage `json:"reads" jsonschema:"type=object" jsonschema_description:"What a map sets a property to that has the values of the column."`
}

// ImportBody is the body of an import of an uploaded table.
type ImportBody struct {
	FileName string `json:"file_name" jsonschema_description:"The name of the file, which ends in .csv or .tsv."`
	Map      string `json:"map" jsonschema_description:"The map, as in an import.yaml. It has one source, which is the file."`
	Branch   string `json:"branch,omitempty" jsonschema_description:"The branch to import into; the default is main."`
	Mode     string `json:"mode,omitempty" jsonschema:"enum=merge,enum=patch,enum=append" jsonschema_description:"merge, the default, replaces entities that exist; patch changes only the properties that the map sets, and null clears; append fails on entities that exist."`
	NewEdges bool   `json:"new_edges,omitempty" jsonschema_description:"With merge and patch: edges are new edges if no @unique(src, dst) identifies them."`
	DryRun   bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing; report what the import would do."`
}

// InferImport reads an uploaded table as a whole, and proposes a map of it. Nothing is changed.
func (g *Graph) InferImport(ctx context.Context, upload string, body InferBody) (*ImportProposal, error) {
	return repeatable[ImportProposal](ctx, g, "/uploads/"+segment(upload)+"/infer", body)
}

// ImportUpload imports an uploaded table as a map says, as one commit or not at all. The faults of the table are in [Error].LineFaults: the
// line of the file and the column.
func (g *Graph) ImportUpload(ctx context.Context, upload string, body ImportBody, options ...WriteOption) (*LoadAnswer, error) {
	q, err := posting(g.path+"/uploads/"+segment(upload)+"/import", body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	return ask[LoadAnswer](ctx, g.c, q)
}
