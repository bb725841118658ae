package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestInstructions checks the instructions of actors with different rights, in both modes.
func TestInstructions(t *testing.T) {
	const (
		prefer = "Prefer a stored query"
		use    = "Use the stored queries"
		meta   = "stored_query_list finds and stored_query_run runs"
		tools  = `a tool of its own with typed parameters inside "params"`
		syntax = "an edge is written with a lower-case first letter"
		adHoc  = "run it with graph_query"
		types  = "Start with type_describe"
		hints  = "Tools that write say so"
	)
	all := []string{prefer, use, meta, tools, syntax, adHoc, types, hints}
	for _, tt := range []struct {
		name  string
		actor *access.Actor
		meta  bool
		want  []string
	}{
		{"reads and writes", servedtest.Writer, false, []string{prefer, tools, syntax, adHoc, types, hints}},
		{"reads and writes, meta", servedtest.Writer, true, []string{prefer, meta, syntax, adHoc, types, hints}},
		{"stored queries alone", servedtest.Bot, false, []string{use, tools}},
		{"stored queries alone, meta", servedtest.Bot, true, []string{use, meta}},
		{"nothing", servedtest.Nobody, false, nil},
		{"nothing, meta", servedtest.Nobody, true, nil},
	} {
		c := config(t)
		if tt.meta {
			c.MetaThreshold = 1
		}
		s := connect(t, serve(t, c, mcp.Options{}), tt.actor)
		got := s.InitializeResult().Instructions
		for _, part := range all {
			if strings.Contains(got, part) != slices.Contains(tt.want, part) {
				t.Errorf("%s: wanted %q: %t, found %s", tt.name, part, slices.Contains(tt.want, part), got)
			}
		}
	}
}

// TestHowToCall follows what type_describe, the prompt write_query, the catalog, and the error of an
// unknown tool say about calling a stored query.
func TestHowToCall(t *testing.T) {
	for _, meta := range []bool{false, true} {
		c := config(t)
		want := `lookup_person {"params":{"name":"<String>","min":"<I32?>"}}`
		if meta {
			c.MetaThreshold = 1
			want = `stored_query_run {"name":"lookup_person","params":{"name":"<String>","min":"<I32?>"}}`
		}
		name, arguments, _ := strings.Cut(want, " ")
		s := connect(t, serve(t, c, mcp.Options{}), servedtest.Reader)

		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "type_describe", Arguments: map[string]any{"name": "Person"}})
		if err != nil || res.IsError {
			t.Fatalf("%+v, %v", res, err)
		}
		var described builtin.DescribeAnswer
		if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &described); err != nil {
			t.Fatal(err)
		}
		if q := described.Types[0].Queries[0]; q.Tool != name || q.Call != want {
			t.Errorf("meta %t: type_describe says %+v, wanted %s", meta, q, want)
		}
		prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "write_query", Arguments: map[string]string{"intent": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		if text := prompt.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, "- "+want+": Finds a person by name.") {
			t.Errorf("meta %t: write_query says %s", meta, text)
		}
		resource, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "omnigraph://catalog"})
		if err != nil {
			t.Fatal(err)
		}
		var catalog struct {
			Queries []struct{ Tool, Call string }
		}
		if err := json.Unmarshal([]byte(resource.Contents[0].Text), &catalog); err != nil {
			t.Fatal(err)
		}
		if q := catalog.Queries[0]; q.Tool != name || q.Call != want {
			t.Errorf("meta %t: the catalog says %+v, wanted %s", meta, q, want)
		}

		_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "lookup_person", Arguments: map[string]any{"params": map[string]any{"name": "ada"}}})
		switch {
		case !meta && err != nil:
			t.Error(err)
		case meta && (err == nil || !strings.Contains(err.Error(), "unknown tool: lookup_person; it is a stored query, so call "+want)):
			t.Errorf("the unknown tool answers %v", err)
		}

		// The arguments work once a value stands in place of each type.
		arguments = strings.NewReplacer(`"<String>"`, `"ada"`, `"<I32?>"`, "1").Replace(arguments)
		res, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil || res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, `"row_count":1`) {
			t.Errorf("%s %s: %+v, %v", name, arguments, res, err)
		}
	}
}
