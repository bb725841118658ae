package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/notes"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
)

// codeGraph returns a graph in memory with the Go code of some packages of this repository.
func codeGraph(t *testing.T, patterns ...string) engine.Graph {
	t.Helper()
	read, err := gocode.Read(t.Context(), gocode.Options{Dir: "../..", Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	var ndjson bytes.Buffer
	if _, err := read.WriteNDJSON(&ndjson); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(source)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), string(source), schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(t.Context(), &ndjson, engine.LoadOptions{Mode: engine.Overwrite}); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFindSymbolsRanks runs find_symbols on this repository's own code. Symbols that match all of
// the words must come before symbols that match only one.
func TestFindSymbolsRanks(t *testing.T) {
	slow.Test(t)
	g := codeGraph(t, "./internal/server/...", "./server/...", "./client", "./engine")
	const module = "github.com/omnigraph-go/omnigraph/"
	for words, wanted := range map[string][]string{
		"page token":      {"server/tool.BadPageToken", "internal/server/operations.ChangePage.Token", "internal/server/operations.CommitPage.Token"},
		"merge conflict":  {"engine.MergeConflict", "engine.MergeConflicts", "client.MergeConflict"},
		"writing outcome": {"internal/server/encoding.Writer.Outcome"},
	} {
		rows, err := code.FindSymbols(t.Context(), g, code.FindSymbolsParams{Words: words, Limit: new(int32(50))})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) < 30 {
			t.Fatalf("%s: %d rows, expected at least 30, so that the order matters", words, len(rows))
		}
		first := map[string]bool{}
		for _, row := range rows[:20] {
			first[strings.TrimPrefix(row.Path, module)] = true
		}
		for _, path := range wanted {
			if !first[path] {
				t.Errorf("%s: %s is not among the first 20 rows: %v", words, path, first)
			}
		}
	}
}

// TestNotesOfCodeGraph checks the note on a shortened path in the graph of this repository's own
// code. That graph has more symbols than a note compares.
func TestNotesOfCodeGraph(t *testing.T) {
	slow.Test(t)
	g := codeGraph(t, "./internal/server/...", "./server/...", "./client", "./engine/...")
	at, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range code.Catalog().Queries {
		if q.Info().Name != "callers" {
			continue
		}
		got := notes.ForEmpty(t.Context(), g, q.Plan(), engine.Args{value.OfString("engine.Graph")}, engine.Target{Commit: at.Commit.ID})
		want := `no Symbol has path "engine.Graph"; near it: "github.com/omnigraph-go/omnigraph/engine.Graph"`
		if len(got) != 1 || got[0] != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

// TestNotesReachModels calls a stored query over MCP as an agent does, and checks that both forms
// of the answer contain the note.
func TestNotesReachModels(t *testing.T) {
	session := newServer(t).connect(t, devToken)
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "callers", Arguments: map[string]any{"params": map[string]any{"path": "shelf.Find"}}})
	if err != nil {
		t.Fatal(err)
	}
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"structured": string(structured), "text": res.Content[0].(*mcp.TextContent).Text} {
		var answer struct {
			Notes []string `json:"notes"`
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		const want = `no Symbol has path "shelf.Find"; near it: "example.com/shop/stock.Shelf.Find", "example.com/shop/stock.memoryShelf.Find"`
		if len(answer.Notes) != 1 || answer.Notes[0] != want {
			t.Errorf("%s: %s, expected the note %q", form, text, want)
		}
	}
}
