package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

func schemaOf(t *testing.T, source, more string) string {
	t.Helper()
	b, err := json.Marshal(source)
	if err != nil {
		t.Fatal(err)
	}
	return `{"schema_source":` + string(b) + more + `}`
}

func TestSchemaApply(t *testing.T) {
	writer, drafter := servedtest.Writer, servedtest.Drafter
	wider := strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: F64?", 1)
	narrower := strings.Replace(servedtest.Source, "  age: I32?\n", "", 1)
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "try", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, `,"dry_run":true`), status: 200,
			want: `{"uri":"omnigraph://people","supported":true,"applied":false,"destructive":false,"step_count":1,"steps":[{"code":"`},
		{name: "nothing applied", actor: writer, method: "GET", path: "/schema", status: 200, lacks: "height"},
		{name: "elsewhere", actor: writer, method: "POST", path: "/schema/apply", send: "Omnigraph-If-Graph-Commit: 01J00000000000000000000000", body: schemaOf(t, wider, ""), status: 412, want: `"precondition_failure":`},
		{name: "apply", actor: writer, method: "POST", path: "/schema/apply", send: "Omnigraph-If-Graph-Commit: COMMIT", body: schemaOf(t, wider, ""), status: 200,
			want: `"graph_manifest_version":3,"branch":"main","digest":"sha256:`},
		{name: "applied", actor: writer, method: "GET", path: "/schema", status: 200, want: "height"},
		{name: "again", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, ""), status: 200, want: `"applied":false,"destructive":false,"step_count":0,"steps":[],`},
		{name: "loses data", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, narrower, ""), status: 409, want: `allow data loss`},
		{name: "may lose data", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, narrower, `,"allow_data_loss":true,"hard":true`), status: 200, want: `"applied":true,"destructive":true`},
		{name: "faults", actor: writer, method: "POST", path: "/schema/apply", body: `{"schema_source":"node person {}"}`, status: 400, want: `"diagnostics":[{"code":`},
		{name: "none", actor: writer, method: "POST", path: "/schema/apply", body: `{}`, status: 400, want: `schema_source: missing`},
		{name: "denied", actor: drafter, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, ""), status: 403, want: `schema_apply on branch main`},
		{name: "to no branch", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, `,"branch":"nope"`), status: 404, want: `branch \"nope\"`},
	})
	// An actor without the right to apply schemas gets 403, which reveals no configuration.
	steps(t, servedtest.Config(t), rest.Options{SchemasFixed: operations.FixedByCluster}, []request{
		{name: "fixed", actor: writer, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, ""), status: 409, want: `run omnigraph cluster apply","code":"conflict"}`},
		{name: "fixed and denied", actor: drafter, method: "POST", path: "/schema/apply", body: schemaOf(t, wider, ""), status: 403, want: `schema_apply on branch main`},
	})
}
