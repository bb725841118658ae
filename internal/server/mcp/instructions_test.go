package mcp_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestInstructions checks the instructions of actors with different rights, in both modes.
func TestInstructions(t *testing.T) {
	const (
		prefer  = "Prefer a stored query"
		use     = "Use the stored queries"
		meta    = "stored_query_list finds and stored_query_run runs"
		tools   = `a tool of its own with typed parameters inside "params"`
		options = "branch, default main; snapshot, a commit or an instant to read instead"
		adHoc   = "run it with graph_query"
		types   = "Start with type_describe"
		hints   = "Tools that write say so"
	)
	all := []string{prefer, use, meta, tools, options, adHoc, types, hints}
	for _, tt := range []struct {
		name  string
		actor *access.Actor
		meta  bool
		want  []string
	}{
		{"reads and writes", servedtest.Writer, false, []string{prefer, tools, options, adHoc, types, hints}},
		{"reads and writes, meta", servedtest.Writer, true, []string{prefer, meta, options, adHoc, types, hints}},
		{"stored queries alone", servedtest.Bot, false, []string{use, tools, options}},
		{"stored queries alone, meta", servedtest.Bot, true, []string{use, meta, options}},
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
				t.Errorf("%s: expected %q: %t, found %s", tt.name, part, slices.Contains(tt.want, part), got)
			}
		}
	}
}

// TestEmptyCodeGraph checks the instructions of a local code graph. As long as the graph is empty,
// they must begin with code_index for those who see that tool.
func TestEmptyCodeGraph(t *testing.T) {
	text, err := os.ReadFile("../../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	const first = "This code graph is empty: call code_index first"
	for _, tt := range []struct {
		name     string
		source   string
		line     string // the NDJSON line to load first; empty for none
		builtins []tool.Tool
		actor    *access.Actor
		want     bool
	}{
		{"empty", string(text), "", builtin.Local("1", nil), servedtest.Writer, true},
		{"with a symbol", string(text), `{"type":"Symbol","data":{"path":"m.F","name":"F","kind":"func","exported":true,"line":1,"words":"f"}}`, builtin.Local("1", nil), servedtest.Writer, false},
		{"with a package alone", string(text), `{"type":"Package","data":{"path":"m","name":"m","files":1,"lines":1}}`, builtin.Local("1", nil), servedtest.Writer, true},
		{"another schema", servedtest.Source, "", builtin.Local("1", nil), servedtest.Writer, false},
		{"a server", string(text), "", builtin.All("1"), servedtest.Writer, false},
		{"a reader", string(text), "", builtin.Local("1", nil), servedtest.Reader, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := naive.New(tt.source, servedtest.SchemaOf(t, tt.source), naive.Sound)
			defer g.Close()
			if tt.line != "" {
				if _, err := g.Load(t.Context(), strings.NewReader(tt.line), engine.LoadOptions{Mode: engine.Append}); err != nil {
					t.Fatal(err)
				}
			}
			s := converse(t, servedgraph.Config{ID: "code", Graph: g, Builtins: tt.builtins, Authorizer: servedtest.Policy{}}, tt.actor, false)
			s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
			if got := s.receive(); strings.Contains(got, `"instructions":"`+first) != tt.want {
				t.Errorf("wanted %q at the beginning: %t, found %s", first, tt.want, got)
			}
			s.in.Close()
			if err := <-s.done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHowToCall follows what type_describe, the prompt write_query and the catalog say about
// calling a stored query.
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
			t.Errorf("meta %t: type_describe says %+v, expected %s", meta, q, want)
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
			t.Errorf("meta %t: the catalog says %+v, expected %s", meta, q, want)
		}

		// The arguments must be valid once the test has replaced each type in them by a value.
		arguments = strings.NewReplacer(`"<String>"`, `"ada"`, `"<I32?>"`, "1").Replace(arguments)
		res, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil || res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, `"row_count":1`) {
			t.Errorf("%s %s: %+v, %v", name, arguments, res, err)
		}
	}
}
