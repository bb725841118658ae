package jsonschema

import (
	"encoding/json"
	"reflect"
)

// branchDoc describes the argument `branch`.
const branchDoc = "Default main."

// ReadInput returns the input schema of a stored read. `params` is the struct type of its
// parameters.
func ReadInput(params reflect.Type) json.RawMessage {
	return Input(inputEnvelope(params,
		field[*string]("Snapshot", `json:"snapshot,omitempty" jsonschema_description:"Or a commit."`),
		field[*string]("PageToken", `json:"page_token,omitempty"`),
	))
}

// ReadOutput returns the output schema of a stored read. `row` is the struct type of its rows.
func ReadOutput(row reflect.Type) json.RawMessage {
	return Output(reflect.StructOf([]reflect.StructField{
		field[string]("QueryName", `json:"query_name"`),
		field[readTarget]("Target", `json:"target"`),
		field[[]string]("Columns", `json:"columns"`),
		{Name: "Rows", Type: reflect.SliceOf(widened(row)), Tag: `json:"rows"`},
		field[int64]("RowCount", `json:"row_count"`),
		field[string]("GraphCommitID", `json:"graph_commit_id"`),
		field[[]string]("Notes", `json:"notes,omitempty"`),
		field[*sourceState]("Source", `json:"source,omitempty" jsonschema_description:"The state of the source code that the graph was read from."`),
		field[bool]("Truncated", `json:"truncated,omitempty"`),
		field[string]("TruncatedBy", `json:"truncated_by,omitempty" jsonschema:"enum=rows,enum=bytes,enum=limit"`),
		field[string]("NextPageToken", `json:"next_page_token,omitempty"`),
	}))
}

// MutationInput returns the input schema of a stored mutation. `params` is the struct type of its
// parameters.
func MutationInput(params reflect.Type) json.RawMessage {
	return Input(inputEnvelope(params,
		field[*bool]("DryRun", `json:"dry_run,omitempty" jsonschema_description:"Commit nothing."`),
		field[*string]("IdempotencyKey", `json:"idempotency_key,omitempty" jsonschema_description:"A repeat within a day changes nothing."`),
		field[*string]("IfCommit", `json:"if_commit,omitempty" jsonschema_description:"Fail unless it is the head."`),
		field[*string]("Message", `json:"message,omitempty"`),
	))
}

// MutationOutput returns the output schema that all stored mutations share.
func MutationOutput() json.RawMessage { return Output(reflect.TypeFor[mutationResult]()) }

// MutationRowOutput returns the output schema of a stored mutation that returns a row. `row` is the struct type of the
// row.
func MutationRowOutput(row reflect.Type) json.RawMessage {
	var fields []reflect.StructField
	for f := range reflect.TypeFor[mutationResult]().Fields() {
		fields = append(fields, f)
	}
	return Output(reflect.StructOf(append(fields,
		reflect.StructField{Name: "Rows", Type: reflect.SliceOf(widened(row)), Tag: `json:"rows" jsonschema_description:"The one row that the mutation returns."`})))
}

// AnyMutationOutput returns the output schema of a tool that runs any mutation.
func AnyMutationOutput() json.RawMessage { return Output(reflect.TypeFor[anyMutationResult]()) }

// anyMutationResult is the structured result of a mutation that may return a row.
type anyMutationResult struct {
	mutationResult
	Rows []map[string]any `json:"rows,omitempty" jsonschema_description:"The one row that the mutation returns; absent if it returns none."`
}

// sourceState is what an answer over a graph of source code says about its source.
type sourceState struct {
	Indexed string `json:"indexed,omitempty"`
	Head    string `json:"head,omitempty"`
	Behind  *bool  `json:"behind,omitempty"`
	Dirty   *int   `json:"dirty,omitempty"`
	Unknown string `json:"unknown,omitempty"`
}

// readTarget is the branch or snapshot that a read used.
type readTarget struct {
	Branch   *string `json:"branch"`   // null for a read of a snapshot
	Snapshot *string `json:"snapshot"` // id of the commit; null for a read of a branch

	// The state of the branch if it is a draft.
	GraphCommitID string `json:"graph_commit_id,omitempty"`
	MainAhead     int64  `json:"main_ahead,omitempty"`
	ExpiresAt     int64  `json:"expires_at,omitempty"`
}

// writeTarget is the draft that a write changed.
type writeTarget struct {
	Branch        string `json:"branch"`
	GraphCommitID string `json:"graph_commit_id"`
	MainAhead     int64  `json:"main_ahead" jsonschema_description:"The number of commits of main that the draft does not contain."`
	ExpiresAt     int64  `json:"expires_at" jsonschema_description:"When the draft ends if nobody writes to it, in Unix microseconds."`
}

// mutationResult is the structured result of a mutation.
type mutationResult struct {
	Branch        string  `json:"branch"` // the branch that was written
	QueryName     string  `json:"query_name"`
	AffectedNodes int64   `json:"affected_nodes"`
	AffectedEdges int64   `json:"affected_edges"`
	ActorID       *string `json:"actor_id"` // who wrote; null without a name
	GraphCommitID *string `json:"graph_commit_id" jsonschema_description:"The commit; null when nothing changed."`
	DryRun        bool    `json:"dry_run,omitempty"` // the call was a dry run, so nothing was written

	// Target is the draft that was written; absent for another branch.
	Target *writeTarget `json:"target,omitempty"`

	// The members of client.WriteEffects.
	NodeChanges *changeCounts    `json:"node_changes,omitempty"`
	EdgeChanges *changeCounts    `json:"edge_changes,omitempty"`
	Changes     []map[string]any `json:"changes,omitempty" jsonschema_description:"Of a dry run: the first ten changes, before and after."`
	MoreChanges bool             `json:"more_changes,omitempty"`
	Notes       []string         `json:"notes,omitempty" jsonschema_description:"Nodes that an insert replaced, or why nothing changed."`
}

// changeCounts are numbers of affected entities by kind of change.
type changeCounts struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"` // or replaced by an insert
	Deleted  int64 `json:"deleted"`
}

// inputEnvelope puts the parameters of a query into a member `params`, separate from the run
// options of the call. This member is optional if no parameter is required.
func inputEnvelope(params reflect.Type, knobs ...reflect.StructField) reflect.Type {
	tag := reflect.StructTag(`json:"params,omitempty"`)
	for f := range params.Fields() {
		if !optionalInput(f) {
			tag = `json:"params"`
		}
	}
	return reflect.StructOf(append([]reflect.StructField{
		{Name: "Params", Type: widened(params), Tag: tag},
		field[*string]("Branch", `json:"branch,omitempty" jsonschema_description:"`+branchDoc+`"`),
	}, knobs...))
}

// widened returns the type t with BigInt and BigUint in place of int64 and uint64. The counts of an envelope, which
// are int64 too, stay numbers.
func widened(t reflect.Type) reflect.Type {
	switch {
	case t == reflect.TypeFor[int64]():
		return bigIntType
	case t == reflect.TypeFor[uint64]():
		return bigUintType
	case t.Kind() == reflect.Pointer:
		return reflect.PointerTo(widened(t.Elem()))
	case t.Kind() == reflect.Slice && t.Name() == "":
		return reflect.SliceOf(widened(t.Elem()))
	case t.Kind() == reflect.Struct && t != timeType:
		var fields []reflect.StructField
		for f := range t.Fields() {
			f.Type = widened(f.Type)
			fields = append(fields, f)
		}
		return reflect.StructOf(fields)
	}
	return t
}

// field returns a struct field of type T.
func field[T any](name string, tag reflect.StructTag) reflect.StructField {
	return reflect.StructField{Name: name, Type: reflect.TypeFor[T](), Tag: tag}
}
