package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// TestOpenAPI checks that gq generate writes the OpenAPI document only if gq.yaml asks for it, and that the
// document is the one that a server answers.
func TestOpenAPI(t *testing.T) {
	answered := servedDocument(t)
	files := map[string]string{}
	for _, pattern := range []string{"../../queries/code/*.pg", "../../queries/code/*.gq"} {
		names, err := filepath.Glob(pattern)
		if err != nil || names == nil {
			t.Fatalf("found no %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files["queries/code/"+filepath.Base(name)] = string(text)
		}
	}
	module(t, files)
	generate := func() {
		t.Helper()
		if code, _, stderr := gqRun("generate", "--schema", "queries/code/schema.pg", "--queries", "queries/code", "--graph", "code", "--out", "generated/code"); code != exitDone {
			t.Fatal(stderr)
		}
	}
	generate()
	if _, err := os.Stat("generated/code/openapi.json"); err == nil {
		t.Error("gq generate wrote openapi.json, and gq.yaml does not ask for it")
	}
	if err := os.WriteFile("gq.yaml", []byte("openapi: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	generate()
	written, err := os.ReadFile("generated/code/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), answered); diff != "" {
		t.Errorf("generated (-), answered (+)\n%s", diff)
	}
}

// servedDocument returns the OpenAPI document of the graph `code` that a server answers.
func servedDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), string(text), schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	served, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "code", Graph: g, Catalog: code.Catalog(), Authorizer: policy.Unrestricted("code"), Version: "1", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := rest.Handler(map[string]*servedgraph.Graph{"code": served}, rest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-test", Source: "test"})))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	document, err := c.Graph("code").OpenAPI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}
