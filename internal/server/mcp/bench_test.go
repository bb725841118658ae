package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// BenchmarkCall measures one tools/call of a stored read, without the network.
func BenchmarkCall(b *testing.B) {
	benchmarkCall(b, mcp.Handler(servedtest.Graph(b, config(b)), mcp.Options{}))
}

// BenchmarkCallSDK measures the same call through the HTTP handler of the SDK.
func BenchmarkCallSDK(b *testing.B) {
	_, stock := mcp.Both(servedtest.Graph(b, config(b)), mcp.Options{})
	benchmarkCall(b, stock)
}

func benchmarkCall(b *testing.B, h http.Handler) {
	body := message("2025-11-25", "tools/call", `"name":"lookup_person","arguments":{"params":{"name":"ada"}}`)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Reader)))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"row_count":1`) && !strings.Contains(w.Body.String(), `\"row_count\":1`) {
			b.Fatal(w.Body.String())
		}
	}
}
