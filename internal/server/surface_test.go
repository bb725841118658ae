package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestSurface compares the tools, prompts and resources of the code graph with golden files. It
// also compares the full text of one prompt and of one resource.
func TestSurface(t *testing.T) {
	ts := newServer(t)
	dev, nobody := ts.connect(t, devToken), ts.connect(t, "the-token-of-nobody")
	tools, err := dev.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "tools", tools.Tools)
	prompts, err := dev.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "prompts", prompts.Prompts)
	resources, err := dev.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "resources", resources.Resources)

	prompt, err := dev.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "write_query", Arguments: map[string]string{
		"intent": "which packages hold the symbols that call a function", "types": "Package, Symbol",
	}})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/surface/write_query.md", []byte(prompt.Messages[0].Content.(*mcp.TextContent).Text))
	catalog, err := dev.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "omnigraph://catalog"})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "catalog", json.RawMessage(catalog.Contents[0].Text))
	listed := map[string]bool{}
	for _, tool := range tools.Tools {
		listed[tool.Name] = true
	}
	var queries struct{ Queries []struct{ Tool string } }
	if err := json.Unmarshal([]byte(catalog.Contents[0].Text), &queries); err != nil || len(queries.Queries) == 0 {
		t.Fatalf("%d queries, %v", len(queries.Queries), err)
	}
	for _, q := range queries.Queries {
		if !listed[q.Tool] {
			t.Errorf("the catalog names %s, which tools/list does not", q.Tool)
		}
	}

	// An actor without rights learns only that a server exists.
	if list, err := nobody.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := nobody.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestLearning follows the instructions: types, the language, a path, and a query that it
// checks, explains and runs.
func TestLearning(t *testing.T) {
	ts := newServer(t)
	s := ts.connect(t, devToken)
	var types struct{ Nodes, Edges []string }
	callTool(t, s, "type_describe", map[string]any{}, &types)
	if !slices.ContainsFunc(types.Nodes, func(n string) bool { return strings.HasPrefix(n, "Symbol {") }) || len(types.Edges) != 11 {
		t.Errorf("%+v", types)
	}
	var reference struct {
		Examples []struct{ Query, Schema string }
	}
	callTool(t, s, "gq_reference", map[string]any{"topic": "traversal"}, &reference)
	for _, e := range reference.Examples {
		var got read
		if e.Schema != "" {
			t.Errorf("the code graph has nothing to show %s with", e.Query)
		}
		callTool(t, s, "graph_query", map[string]any{"query": e.Query}, &got)
	}
	if len(reference.Examples) < 4 {
		t.Errorf("%d examples", len(reference.Examples))
	}
	var paths struct{ Paths []struct{ Match string } }
	callTool(t, s, "type_path", map[string]any{"from": "File", "to": "Package"}, &paths)
	if len(paths.Paths) == 0 {
		t.Fatal("no path from File to Package")
	}
	text := "query q() { match {\n" + paths.Paths[0].Match + "\n} return { $file.path, $package.path } order { $file.path } limit 5 }"
	var valid struct {
		Valid   bool
		Queries []struct{ Kind string }
		Report  string
	}
	callTool(t, s, "query_validate", map[string]any{"query": text}, &valid)
	if !valid.Valid || len(valid.Queries) != 1 || valid.Queries[0].Kind != "read" {
		t.Errorf("%+v", valid)
	}
	var plan struct {
		Plan []struct{ Name string }
		Text string
	}
	callTool(t, s, "query_explain", map[string]any{"query": text, "analyze": true}, &plan)
	if len(plan.Plan) < 2 || !strings.Contains(plan.Text, plan.Plan[0].Name) {
		t.Errorf("%+v", plan)
	}
	var got read
	callTool(t, s, "graph_query", map[string]any{"query": text}, &got)
	if got.RowCount == 0 {
		t.Error("the path joins nothing")
	}
	var commits struct {
		Commits []struct {
			GraphCommitID string `json:"graph_commit_id"`
		}
	}
	callTool(t, s, "commit_list", map[string]any{}, &commits)
	var changes struct {
		Nodes   struct{ Inserted int }
		Changes []struct{ Op string }
	}
	callTool(t, s, "change_list", map[string]any{"commit": commits.Commits[0].GraphCommitID, "limit": 3}, &changes)
	if changes.Nodes.Inserted == 0 || len(changes.Changes) != 3 || changes.Changes[0].Op != "insert" {
		t.Errorf("%+v", changes)
	}
}

func keep(t *testing.T, name string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/surface/"+name+".json", append(b, '\n'))
}
