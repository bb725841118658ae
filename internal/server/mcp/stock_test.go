package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestLikeStock compares the answers of this package's handler with the answers of the SDK's
// handler over the same server. They must be equal, except where the two handlers intentionally
// differ. Where the SDK's handler answers plain text, the statuses must be equal and our answer
// must be JSON.
func TestLikeStock(t *testing.T) {
	own, stock := mcp.Both(servedtest.Graph(t, config(t)), mcp.Options{Prompts: []mcp.Prompt{greeting}})
	calls := []string{
		`tools/list`, `tools/list {"cursor":""}`,
		`tools/call {"name":"lookup_person","arguments":{"params":{"name":"ada"}}}`,
		`tools/call {"name":"everyone","arguments":{}}`, `tools/call {"name":"everyone"}`,
		`tools/call {"name":"everyone","arguments":null}`,
		`tools/call {"name":"lookup_person","arguments":{"params":{"nam":"<ada>"}}}`,
		`tools/call {"name":"graph_health"}`, `tools/call {"name":"schema_get"}`, `tools/call {"name":"branch_list"}`,
		`tools/call {"name":"graph_query","arguments":{"query":"query q() { match { $p: Person } return { $p } }"}}`,
		`tools/call {"name":"graph_query","arguments":{"query":"query"}}`,
		`tools/call {"name":"nosuch"}`, `tools/call {"name":""}`, `tools/call {}`,
		`resources/list`, `resources/templates/list`,
		`resources/read {"uri":"omnigraph://schema"}`, `resources/read {"uri":"omnigraph://branches"}`, `resources/read {"uri":"omnigraph://nosuch"}`,
		`prompts/list`, `prompts/get {"name":"greeting","arguments":{"who":"ada"}}`, `prompts/get {"name":"nosuch"}`,
		`logging/setLevel {"level":"info"}`, `completion/complete {"ref":{"type":"ref/prompt","name":"greeting"},"argument":{"name":"who","value":"a"}}`,
		`ping`,
		`initialize {"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"t","version":"0"}}`,
		`initialize {"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`,
		`server/discover`,
	}
	compared := 0
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", newest} {
		for _, actor := range []*access.Actor{servedtest.Reader, servedtest.Bot} {
			for _, call := range calls {
				method, params, _ := strings.Cut(call, " ")
				params = strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
				body := message(version, method, params)
				got, want := serveOne(own, version, actor, body), serveOne(stock, version, actor, body)
				if got.Code != want.Code {
					t.Errorf("%s %s: %d, the SDK answers %d %s", version, call, got.Code, want.Code, want.Body)
				}
				gotValue, wantValue := parsed(t, got), parsed(t, want)
				if wantValue == nil {
					continue
				}
				compared++
				if method == "server/discover" && version == newest {
					// The only difference: a version that is supported for initialize alone.
					versions := wantValue.(map[string]any)["result"].(map[string]any)
					versions["supportedVersions"] = versions["supportedVersions"].([]any)[:4]
				}
				if diff := cmp.Diff(wantValue, gotValue); diff != "" {
					t.Errorf("%s %s (-SDK +own):\n%s", version, call, diff)
				}
			}
		}
	}
	if compared < 150 {
		t.Errorf("only %d answers were compared", compared)
	}
}

// TestRefusedLikeStock compares refusals that happen before any method is called.
func TestRefusedLikeStock(t *testing.T) {
	own, stock := mcp.Both(servedtest.Graph(t, config(t)), mcp.Options{})
	for _, tt := range []struct{ version, body string }{
		{"2025-11-25", ``}, {"2025-11-25", `{`}, {"2025-11-25", `[]`}, {"2025-11-25", `{"jsonrpc":"2.0"}`},
		{"2025-11-25", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`}, {"2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		{"2025-11-25", `{"jsonrpc":"2.0","method":"ping"}`}, {"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`},
		{"2025-11-25", `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, {"2025-11-25", `{"jsonrpc":"2.0","id":9,"result":{}}`},
		{"2020-01-01", message("2020-01-01", "ping", "")},
		{newest, message("2025-11-25", "tools/list", "")}, {"2025-11-25", message(newest, "tools/list", "")}, {"", message(newest, "tools/list", "")},
		{newest, strings.Replace(message(newest, "tools/list", ""), "clientCapabilities\":{}", "clientCapabilities\":7", 1)},
		{newest, strings.Replace(message(newest, "tools/list", ""), `"clientCapabilities":{}`, `"x":{}`, 1)},
		{newest, strings.Replace(message(newest, "tools/list", ""), `{"name":"t","version":"0"}`, `{"name":7}`, 1)},
	} {
		got, want := serveOne(own, tt.version, servedtest.Reader, tt.body), serveOne(stock, tt.version, servedtest.Reader, tt.body)
		if got.Code != want.Code {
			t.Errorf("%s %s: %d %s, the SDK answers %d %s", tt.version, tt.body, got.Code, got.Body, want.Code, want.Body)
		}
		if gotValue, wantValue := parsed(t, got), parsed(t, want); wantValue != nil {
			if diff := cmp.Diff(wantValue, gotValue); diff != "" {
				t.Errorf("%s %s (-SDK +own):\n%s", tt.version, tt.body, diff)
			}
		}
	}
}

func serveOne(h http.Handler, version string, actor *access.Actor, body string) *httptest.ResponseRecorder {
	var msg struct {
		Method string
		Params struct{ Name, URI string }
	}
	_ = json.Unmarshal([]byte(body), &msg)
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	if version == newest {
		r.Header.Set("Mcp-Method", msg.Method)
		if name := msg.Params.Name + msg.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	return w
}

// parsed returns the decoded body, or nil if it is empty or plain text.
func parsed(t *testing.T, w *httptest.ResponseRecorder) any {
	t.Helper()
	if w.Body.Len() == 0 || w.Header().Get("Content-Type") != "application/json" {
		return nil
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return v
}
