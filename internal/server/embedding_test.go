package server_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestEmbeddingProvider opens servers for a graph with vectors from a provider.
func TestEmbeddingProvider(t *testing.T) {
	dir := t.TempDir()
	schema := filepath.Join(dir, "schema.pg")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(schema, "node Post {\n  slug: String @key\n  text: String\n  place: Vector(4) @embed(\"text\")\n}\n")
	omnigraph(t, nil, "init", "--schema", schema, "--store", filepath.Join(dir, "data", "posts"))
	open := func(provider string) error {
		t.Helper()
		file := filepath.Join(dir, "cluster.yaml")
		write(file, "version: 1\nstorage: ./data\ngraphs:\n  posts: { schema: schema.pg, embedding_provider: mine }\nproviders:\n  embedding:\n    mine: "+provider+"\n")
		config, err := cluster.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.Open(t.Context(), server.Options{Cluster: config, Bind: "127.0.0.1:0", Tokens: &auth.Tokens{}, Unauthenticated: true, Version: "test", Now: testClock, Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil))})
		if err != nil {
			return err
		}
		return s.Close()
	}
	if err := open("{ kind: mock }"); err != nil {
		t.Error(err)
	}
	err := open(`{ kind: gemini, model: m, api_key: "${OMNIGRAPH_TEST_NO_SUCH_KEY}" }`)
	if err == nil || !strings.Contains(err.Error(), "OMNIGRAPH_TEST_NO_SUCH_KEY is not set") {
		t.Errorf("a provider without its secret: %v", err)
	}
	t.Setenv("OMNIGRAPH_TEST_KEY", "hunter2")
	for _, kind := range []string{"gemini", "openai-compatible"} {
		if err := open("{ kind: " + kind + `, model: m, base_url: "http://127.0.0.1:1", api_key: "${OMNIGRAPH_TEST_KEY}" }`); err != nil {
			t.Error(err)
		}
	}
}
