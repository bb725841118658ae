package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestProgress calls tools with a progress token. Calls that succeed are streams, if the client takes streams.
func TestProgress(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	const lookup = `"name":"everyone","arguments":{},"_meta":{"progressToken":%s}`
	for _, tt := range []struct {
		name, version, accept, params string
		status                        int
		want                          string // the events or the answer, in part
	}{
		{"a text", "2025-06-18", "application/json, text/event-stream", fmt.Sprintf(lookup, `"a\nb"`), 200,
			`event: message|data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a\nb","progress":1,"message":"done"}}||event: message|data: {"jsonrpc":"2.0","id":1,"result":`},
		{"a number, in the first version", "2025-03-26", "*/*", fmt.Sprintf(lookup, "7"), 200, `"progressToken":7,"progress":1,`},
		{"no stream", "2025-06-18", "application/json", fmt.Sprintf(lookup, "7"), 200, `{"jsonrpc":"2.0","id":1,"result":`},
		{"no token", "2025-06-18", "*/*", `"name":"everyone","arguments":{}`, 200, `{"jsonrpc":"2.0","id":1,"result":`},
		{"a token that is none", "2025-06-18", "*/*", fmt.Sprintf(lookup, "{}"), 200, `{"jsonrpc":"2.0","id":1,"result":`},
		{"a long token", "2025-06-18", "*/*", fmt.Sprintf(lookup, `"`+strings.Repeat("x", 2000)+`"`), 200, `{"jsonrpc":"2.0","id":1,"result":`},
		{"a fault", "2025-06-18", "*/*", `"name":"nosuch","_meta":{"progressToken":1}`, 200, `"code":-32602`},
	} {
		r, err := http.NewRequest("POST", url, strings.NewReader(message(tt.version, "tools/call", tt.params)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {tt.accept}, "Mcp-Protocol-Version": {tt.version}}
		resp, err := (&http.Client{Transport: as{servedtest.Reader}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
			lines = append(lines, scan.Text())
		}
		resp.Body.Close()
		kind := "application/json"
		if strings.Contains(tt.want, "progress\":1") || tt.name == "a fault" {
			kind = "text/event-stream"
		}
		if got := strings.Join(lines, "|"); resp.StatusCode != tt.status || !strings.Contains(got, tt.want) || resp.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %d %s %s", tt.name, resp.StatusCode, resp.Header.Get("Content-Type"), got)
		}
	}
}

// TestProgressOfSlowCall follows a call with the SDK's client.
func TestProgressOfSlowCall(t *testing.T) {
	defer mcp.ProgressEvery(time.Millisecond)()
	release := make(chan struct{})
	slow := mcp.Tool{
		Info:  &sdk.Tool{Name: "slow", InputSchema: map[string]any{"type": "object"}},
		Gates: readers,
		Call: func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "slept"}}}, nil
		},
	}
	url := serve(t, config(t), mcp.Options{Tools: []mcp.Tool{slow}})
	var mu sync.Mutex
	told := 0.0
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if req.Params.Progress <= told || req.Params.ProgressToken != "t" {
				t.Errorf("progress %v of %v after %v", req.Params.Progress, req.Params.ProgressToken, told)
			}
			if told = req.Params.Progress; told == 3 {
				close(release)
			}
		},
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as{servedtest.Reader}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	params := &sdk.CallToolParams{Name: "slow", Arguments: map[string]any{}}
	params.SetProgressToken("t")
	res, err := session.CallTool(t.Context(), params)
	mu.Lock()
	defer mu.Unlock()
	if err != nil || res.Content[0].(*sdk.TextContent).Text != "slept" || told < 3 {
		t.Fatalf("%v, %v after %v notifications", res, err, told)
	}
}
