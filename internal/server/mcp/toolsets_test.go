package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestToolsets asks for sets of tools with the header, with the parameter of the address and by the configuration. A tool
// outside of the sets is served, and an actor without the right to write sees no tool that writes.
func TestToolsets(t *testing.T) {
	c := config(t)
	all, narrow := mcp.Handler(servedtest.Graph(t, c), mcp.Options{}), http.Handler(nil)
	c.Toolsets = []string{"review"}
	narrow = mcp.Handler(servedtest.Graph(t, c), mcp.Options{})
	for _, tt := range []struct {
		name            string
		handler         http.Handler
		actor           *access.Actor
		header, query   string
		with, without   []string
		refused         string
		writes, nothing bool
	}{
		{name: "all", handler: all, actor: servedtest.Writer, with: []string{"graph_query", "graph_mutate", "commit_list", "schema_get", "lookup_person"}, writes: true},
		{name: "read", handler: all, actor: servedtest.Writer, header: "read", with: []string{"graph_query", "lookup_person"}, without: []string{"commit_list", "schema_get"}},
		{name: "read and review", handler: all, actor: servedtest.Writer, query: "?toolsets=read,review", with: []string{"graph_query", "commit_list", "proposal_resolve"}, without: []string{"graph_mutate", "schema_get"}, writes: true},
		{name: "the header counts", handler: all, actor: servedtest.Writer, header: " admin ", query: "?toolsets=read", with: []string{"schema_get", "graph_health"}, without: []string{"graph_query"}, writes: true},
		{name: "write, of an actor that may not", handler: all, actor: servedtest.Nobody, header: "write", nothing: true},
		{name: "the configuration", handler: narrow, actor: servedtest.Writer, with: []string{"commit_list"}, without: []string{"graph_query", "graph_mutate"}, writes: true},
		{name: "the request before the configuration", handler: narrow, actor: servedtest.Writer, header: "read", with: []string{"graph_query"}, without: []string{"commit_list"}},
		{name: "an unknown set", handler: all, actor: servedtest.Writer, header: "read,reviews", refused: `there is no set of tools \"reviews\"; expected some of read, write, review, admin, watch`},
	} {
		ask := func(method, params string) string {
			r := httptest.NewRequest("POST", "/"+tt.query, strings.NewReader(message("2025-11-25", method, params)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			if tt.header != "" {
				r.Header.Set("Mcp-Toolsets", tt.header)
			}
			w := httptest.NewRecorder()
			tt.handler.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), tt.actor)))
			return w.Body.String()
		}
		body := ask("tools/list", "")
		if tt.refused != "" {
			if !strings.Contains(body, tt.refused) {
				t.Errorf("%s: %s", tt.name, body)
			}
			continue
		}
		var list struct{ Result sdk.ListToolsResult }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		writes := false
		for _, d := range list.Result.Tools {
			names = append(names, d.Name)
			writes = writes || !d.Annotations.ReadOnlyHint
		}
		if writes != tt.writes || (len(names) == 0) != tt.nothing {
			t.Errorf("%s: %v", tt.name, names)
		}
		for _, name := range tt.with {
			if !slices.Contains(names, name) {
				t.Errorf("%s: %s is not among %v", tt.name, name, names)
			}
		}
		instructions := ask("initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}`)
		for _, name := range tt.without {
			if slices.Contains(names, name) || strings.Contains(instructions, name) {
				t.Errorf("%s: %s is among %v, or in %s", tt.name, name, names, instructions)
			}
		}
		if tt.actor == servedtest.Writer {
			if body := ask("tools/call", `"name":"commit_list","arguments":{}`); !strings.Contains(body, `\"commits\"`) {
				t.Errorf("%s: a tool outside of the sets answers %s", tt.name, body)
			}
		}
	}
}

// TestFlatArguments lists a tool with parameters at the top, and calls it in every form.
func TestFlatArguments(t *testing.T) {
	for _, flat := range []bool{false, true} {
		c := config(t)
		c.FlatArguments = flat
		s := connect(t, serve(t, c, mcp.Options{}), servedtest.Writer)
		list, err := s.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list.Tools, func(d *sdk.Tool) bool { return d.Name == "lookup_person" })
		schema, _ := json.Marshal(list.Tools[at].InputSchema)
		if strings.Contains(string(schema), `"_":{"additionalProperties":false`) != flat {
			t.Errorf("flat: %t, found %s", flat, schema)
		}
		for _, tt := range []struct{ args, want string }{
			{`{"params":{"name":"ada"},"branch":"main"}`, `[["ada",36]]`},
			{`{"name":"ada","_":{"branch":"main"}}`, `[["ada",36]]`},
			{`{"name":"ada","branch":"main","dry_run":false,"if_commit":null}`, `[["ada",36]]`},
			{`{"name":"ada","params":{}}`, `[["ada",36]]`},
			{`{"name":"ada","params":null,"_":"{\"branch\":\"main\"}"}`, `[["ada",36]]`},
			{`{"name":"ada","params":{"name":"bob"}}`, `name: unknown member`},
			{`{"nam":"ada"}`, `nam: unknown member`},
			{`{"name":"ada","_":{"branches":"x"}}`, `branches: unknown member; did you mean branch?`},
			{`{"name":"ada","branch":"main","_":{"branch":"x"}}`, `_.branch: the member is given twice`},
			{`{"name":"ada","_":7}`, `_: unknown member`},
		} {
			res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "lookup_person", Arguments: json.RawMessage(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			if text := res.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, tt.want) {
				t.Errorf("flat: %t, %s: %s, expected %s", flat, tt.args, text, tt.want)
			}
		}
	}
}
