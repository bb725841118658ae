package mcp_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
)

// builtVar is the name of a variable. The variable tells TestBuiltServer how to reach a built
// server of the graph with the id code: by a URL, or by a command with its arguments. make
// test-clients sets it.
const builtVar = "OMNIGRAPH_MCP_SERVER"

// metaVar, if set, says that this server offers the meta tools instead of one tool per stored
// query.
const metaVar = "OMNIGRAPH_MCP_META"

// TestBuiltServer calls a built server with the client of the Go SDK, in each protocol version.
func TestBuiltServer(t *testing.T) {
	target := strings.Fields(os.Getenv(builtVar))
	if len(target) == 0 {
		t.Skip(builtVar + " is not set; run make test-clients")
	}
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", newest} {
		t.Run(version, func(t *testing.T) { callBuilt(t, target, version) })
	}
}

// callBuilt calls the server that a URL, or a command with its arguments, reaches.
func callBuilt(t *testing.T, target []string, version string) {
	var transport sdk.Transport = &sdk.CommandTransport{Command: exec.Command(target[0], target[1:]...)}
	if strings.HasPrefix(target[0], "http") {
		transport = &sdk.StreamableClientTransport{
			Endpoint: target[0], HTTPClient: &http.Client{Transport: bearer(os.Getenv("OMNIGRAPH_TOKEN"))}, DisableStandaloneSSE: true,
		}
		defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("the agreed version is %s, want %s", got, version)
	}
	list, err := session.ListTools(t.Context(), nil)
	meta := os.Getenv(metaVar) != ""
	if err != nil || !meta && len(list.Tools) < 20 || list.NextCursor != "" {
		t.Errorf("%+v, %v", list, err)
	}
	find := func(params map[string]any) (*sdk.CallToolResult, error) {
		call := &sdk.CallToolParams{Name: "find_symbols", Arguments: map[string]any{"params": params}}
		if meta {
			call = &sdk.CallToolParams{Name: metatools.RunQuery, Arguments: map[string]any{"name": "find_symbols", "params": params}}
		}
		return session.CallTool(t.Context(), call)
	}
	res, err := find(map[string]any{"words": "graph"})
	if err != nil || res.IsError || len(res.StructuredContent.(map[string]any)["rows"].([]any)) == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err = find(map[string]any{}); err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nosuch"}); err == nil || !strings.Contains(err.Error(), "unknown tool: nosuch") {
		t.Error(err)
	}
	schema, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "omnigraph://schema"})
	if err != nil || !strings.Contains(schema.Contents[0].Text, "node Package") {
		t.Errorf("%+v, %v", schema, err)
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "omnigraph://nosuch"}); err == nil {
		t.Error("a resource that does not exist was read")
	}
}

// bearer is a transport that sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
