package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// Clients send the list of tools to their model with every request. maxTokens bounds tools/list of the code graph in the default
// configuration. maxReading and maxReadingMeta bound what a reading agent gets, with a tool for each query and with the
// meta tools.
const maxTokens, maxReading, maxReadingMeta = 8400, 4200, 2200

// TestToolSizes compares the number of bytes that lint prints for the code graph with the answer of
// a server to tools/list, with a tool for each query and with the meta tools.
func TestToolSizes(t *testing.T) {
	queries, err := filepath.Glob(filepath.Join("..", "..", "queries", "code", "*"))
	if err != nil || len(queries) == 0 {
		t.Fatalf("%d files, %v", len(queries), err)
	}
	files := map[string]string{}
	for _, path := range queries {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files["queries/"+filepath.Base(path)] = string(text)
	}
	exposed := 0
	for _, q := range code.Catalog().Queries {
		if q.Info().Exposed {
			exposed++
		}
	}
	for _, tt := range []struct {
		threshold int
		meta      bool
	}{{1000, false}, {1, true}, {0, exposed >= servedgraph.DefaultMetaThreshold}} {
		t.Run(fmt.Sprint(tt.threshold), func(t *testing.T) {
			files["cluster.yaml"] = "version: 1\nstorage: ./data\ngraphs:\n  code:\n    schema: queries/schema.pg\n    queries: queries/\n"
			if tt.threshold > 0 {
				files["cluster.yaml"] += fmt.Sprintf("    mcp: { meta_threshold: %d }\n", tt.threshold)
			}
			module(t, files)
			exit, stdout, stderr := gqRun("lint", "--format", "json")
			var report struct {
				ToolLists []toolList `json:"tool_lists"`
			}
			if err := json.Unmarshal([]byte(stdout), &report); exit != exitDone || err != nil || len(report.ToolLists) != 1 {
				t.Fatalf("exit %d, %v\n%s%s", exit, err, stdout, stderr)
			}
			got := report.ToolLists[0]

			body := listTools(t, files["queries/schema.pg"], tt.threshold)
			var answer struct {
				Result struct{ Tools []json.RawMessage }
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil {
				t.Fatal(err)
			}
			if got.Bytes != len(body) || got.Tokens != (len(body)+3)/4 || got.Tools != len(answer.Result.Tools) {
				t.Errorf("lint says %+v; the answer has %d bytes and %d tools", got, len(body), len(answer.Result.Tools))
			}
			if tt.threshold == 0 && got.Tokens > maxTokens {
				t.Errorf("the list takes %d tokens, expected at most %d; say a description shorter, or raise maxTokens and say why", got.Tokens, maxTokens)
			}
			most := maxReading
			if tt.meta {
				most = maxReadingMeta
			}
			if got.Reading > most || got.Reading < most/2 {
				t.Errorf("a reading agent gets %d tokens, expected at most %d; say it shorter", got.Reading, most)
			}
			if (got.Queries == 0) != tt.meta {
				t.Errorf("lint says %+v, expected stored queries among the tools: %t", got, !tt.meta)
			}
			_, stdout, _ = gqRun("lint")
			if line := fmt.Sprintf("tools/list of code: %d tools, %d of them stored queries, %d bytes, about %d tokens", got.Tools, got.Queries, got.Bytes, got.Tokens); !strings.Contains(stdout, line) {
				t.Errorf("wanted the line %q, found %s", line, stdout)
			}
		})
	}
}

// listTools returns the answer to tools/list of a server of the code graph.
func listTools(t *testing.T, schema string, threshold int) string {
	t.Helper()
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	graph, err := embedded.OpenMemory(t.Context(), schema, compiled, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	served := servedtest.Graph(t, servedgraph.Config{
		ID: "code", Graph: graph, Catalog: code.Catalog(), Builtins: builtin.All("1.2.3"), Authorizer: servedtest.Policy{},
		Version: "1.2.3", MetaThreshold: threshold,
	})
	r := httptest.NewRequest("POST", "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	w := httptest.NewRecorder()
	mcp.Handler(served, mcp.Options{}).ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}
