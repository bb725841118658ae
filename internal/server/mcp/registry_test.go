package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var readers = []tool.Grant{{Action: tool.Read, Via: tool.AdHoc}}

var greeting = mcp.Prompt{
	Info:  &sdk.Prompt{Name: "greeting", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}},
	Gates: readers,
	Get: func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + req.Params.Arguments["who"]}}}}, nil
	},
}

// TestGates checks the tools, resources and prompts from the options. Actors with the grants of
// their gates must see them. For all other actors, they must answer byte for byte like unknown
// ones.
func TestGates(t *testing.T) {
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{Text: "the text of " + req.Params.URI}}}, nil
	}
	url := serve(t, config(t), mcp.Options{
		Tools: []mcp.Tool{{
			Info: &sdk.Tool{Name: "picture", InputSchema: json.RawMessage(`{"type":"object"}`)}, Gates: readers,
			Call: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: []byte{1}, MIMEType: "image/png"}}}, nil
			},
		}},
		Resources: []mcp.Resource{{Info: &sdk.Resource{URI: "test://one", Name: "one"}, Gates: readers, Read: read}},
		Templates: []mcp.Template{{Info: &sdk.ResourceTemplate{URITemplate: "test://many/{id}", Name: "many"}, Gates: readers, Read: read}},
		Prompts:   []mcp.Prompt{greeting},
	})
	for _, version := range []string{"2025-11-25", newest} {
		for _, tt := range []struct{ list, call, params, name, answer string }{
			{"tools/list", "tools/call", `"name":"X"`, "picture", `"mimeType":"image/png"`},
			{"resources/list", "resources/read", `"uri":"X"`, "test://one", `the text of test://one`},
			{"resources/templates/list", "resources/read", `"uri":"X"`, "test://many/7", `the text of test://many/7`},
			{"prompts/list", "prompts/get", `"name":"X","arguments":{"who":"ada"}`, "greeting", `Greet ada`},
			{"prompts/list", "prompts/get", `"name":"X","arguments":"{\"who\":\"ada\"}"`, "greeting", `Greet ada`},
		} {
			listed := strings.TrimSuffix(tt.name, "/7")
			with := func(name string) string { return message(version, tt.call, strings.Replace(tt.params, "X", name, 1)) }
			if _, body := post(t, url, version, servedtest.Reader, message(version, tt.list, "")); !strings.Contains(body, listed) {
				t.Errorf("%s %s: %s", version, tt.list, body)
			}
			if _, body := post(t, url, version, servedtest.Reader, with(tt.name)); !strings.Contains(body, tt.answer) {
				t.Errorf("%s %s: %s", version, tt.call, body)
			}
			if _, body := post(t, url, version, servedtest.Bot, message(version, tt.list, "")); strings.Contains(body, listed) || !strings.Contains(body, `"result"`) {
				t.Errorf("%s %s shows the bot %s", version, tt.list, body)
			}
			denied, body := post(t, url, version, servedtest.Bot, with(tt.name))
			absent, other := post(t, url, version, servedtest.Bot, with(strings.Repeat("x", len(tt.name))))
			if denied.StatusCode != absent.StatusCode || strings.ReplaceAll(body, tt.name, "X") != strings.ReplaceAll(other, strings.Repeat("x", len(tt.name)), "X") {
				t.Errorf("%s %s: denied %s\nabsent %s", version, tt.call, body, other)
			}
		}
	}
}
