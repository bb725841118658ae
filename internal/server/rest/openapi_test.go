package rest_test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
)

// TestDocument compares the OpenAPI document with its golden file and validates it.
func TestDocument(t *testing.T) {
	doc, err := rest.Document()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../docs/reference/openapi.json", doc)
	again, err := rest.Document()
	if err != nil || string(again) != string(doc) {
		t.Errorf("a second document differs, %v", err)
	}
	served := ask(newHandler(t), "GET", "/openapi.json", "")
	if b, err := io.ReadAll(served.Body); err != nil || served.StatusCode != 200 || string(b) != string(doc) {
		t.Errorf("the document that is served is another: %s, %v", served.Status, err)
	}
	read := resttest.Document(t)
	if err := read.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if !read.IsOpenAPI31OrLater() {
		t.Errorf("version %s", read.OpenAPI)
	}
}

// TestDocumentIsChecked checks that the validation detects faults.
func TestDocumentIsChecked(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reference/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for old, spoilt := range map[string]string{
		`"operationId": "query"`:              `"operationId": "mutate"`,
		`"in": "path"`:                        `"in": "nowhere"`,
		`"$ref": "#/components/schemas/`:      `"$ref": "#/components/schemas/Missing`,
		`"type": "integer"`:                   `"type": "whole"`,
		`"description": "The policy does not`: `"text": "The policy does not`,
	} {
		text := strings.Replace(string(b), old, spoilt, 1)
		if text == string(b) {
			t.Errorf("the document has no %s", old)
			continue
		}
		doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
		if err == nil {
			err = doc.Validate(t.Context())
		}
		if err == nil {
			t.Errorf("%s in the place of %s is valid", spoilt, old)
		}
	}
}

// TestDocumentHasEveryRoute compares the document with the table, status by status.
func TestDocumentHasEveryRoute(t *testing.T) {
	doc := resttest.Document(t)
	operations := 0
	for _, item := range doc.Paths.Map() {
		operations += len(item.Operations())
	}
	routes := rest.Routes()
	if operations != len(routes) {
		t.Errorf("the document has %d operations, the table %d routes", operations, len(routes))
	}
	for _, r := range routes {
		name := r.Method + " " + r.Path
		item := doc.Paths.Value(r.Path)
		if item == nil || item.GetOperation(r.Method) == nil {
			t.Errorf("%s is not in the document", name)
			continue
		}
		op := item.GetOperation(r.Method)
		if op.OperationID != r.Operation || op.Deprecated != (r.Successor != "") || (op.RequestBody != nil) != (r.BodyMedia != "") {
			t.Errorf("%s differs: %+v", name, op)
		}
		statuses := r.AllStatuses()
		if op.Responses.Len() != len(statuses) {
			t.Errorf("%s has %d responses, want %v", name, op.Responses.Len(), statuses)
		}
		for _, status := range statuses {
			response := op.Responses.Status(status)
			switch {
			case response == nil:
				t.Errorf("%s lacks %d", name, status)
			case r.Refusals[status] != nil:
				if got := response.Value.Content.Get("application/json").Schema.Value.OneOf; len(got) != 2 || !strings.HasSuffix(got[1].Ref, "/Envelope") {
					t.Errorf("%s: the answer %d is not the envelope or another", name, status)
				}
			case status >= 400 && !strings.HasSuffix(response.Value.Content.Get("application/json").Schema.Ref, "/Envelope"):
				t.Errorf("%s: the answer %d is not the envelope", name, status)
			}
		}
		for _, p := range r.Params {
			if !slices.ContainsFunc(op.Parameters, func(q *openapi3.ParameterRef) bool {
				return q.Value.Name == p.Name && q.Value.In == string(p.In) && q.Value.Required == (p.Required || p.Declared)
			}) {
				t.Errorf("%s lacks the parameter %s", name, p.Name)
			}
		}
	}
}
