package corpus_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	transport "github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// runAnnotated calls the generated functions of the queries with annotated parameters.
func runAnnotated(s *session) {
	for _, slug := range []string{"kim", "lee", "max"} {
		s.wrote("put_default_person", 1, 0)(corpus.PutDefaultPerson(s.ctx, s.g, corpus.PutDefaultPersonParams{Slug: slug}))
	}
	const defaults = `"limit":2,"from":"k","codes":["x","y"],"ages":[36],"big":-3,"rate":0.75,"flag":true,"day":"2024-02-29","vec":[1,0,0.5],"wide":null}`
	found[corpus.AnnotatedRow](s, "annotated", `{"name":"kim",`+defaults+"\n"+`{"name":"lee",`+defaults)(
		corpus.Annotated(s.ctx, s.g, corpus.AnnotatedParams{From: ptr("k")}))
	found[corpus.AnnotatedRow](s, "annotated",
		`{"name":"max","limit":50,"from":"m","codes":[],"ages":[0,150],"big":10,"rate":0.5,"flag":false,"day":"2024-02-29","vec":[1,0,0.5],"wide":null}`)(
		corpus.Annotated(s.ctx, s.g, corpus.AnnotatedParams{
			Limit: ptr(int32(50)), From: ptr("m"), Codes: []string{}, Ages: []int32{0, 150}, Big: ptr(int64(10)), Rate: ptr(0.5), Flag: ptr(false),
		}))
	for _, tt := range []struct {
		p           corpus.AnnotatedParams
		param, want string
	}{
		{corpus.AnnotatedParams{Limit: ptr(int32(51))}, "limit", "found 51, expected at most 50"},
		{corpus.AnnotatedParams{From: ptr("A")}, "from", `found "A", expected a text that matches ^[a-z=,]*$`},
		{corpus.AnnotatedParams{Ages: []int32{1, 151}}, "ages", "element 1: found 151, expected at most 150"},
	} {
		_, err := corpus.Annotated(s.ctx, s.g, tt.p)
		var bad *engine.BadArgument
		if _, ok := s.g.(*client.TypedGraph); ok { // the server words the fault for JSON; TestAnnotationsOverREST checks the words
			if !errors.Is(err, client.ErrInvalid) {
				s.t.Errorf("found %v, expected a fault of %s", err, tt.param)
			}
			continue
		}
		if !errors.As(err, &bad) || bad.Param != tt.param || bad.Detail != tt.want {
			s.t.Errorf("found %v, expected a fault of %s: %s", err, tt.param, tt.want)
		}
	}
}

// TestAnnotationsOverREST calls queries with arguments that violate the annotations of their parameters.
func TestAnnotationsOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, tt := range []struct {
		route, body string
		status      int
		want        string // a part of the answer
	}{
		{"queries/annotated", `{"params":{"status":"on-leave"}}`, 200, `"name":"Ada","limit":2,"from":"","codes":["x","y"],"ages":[36],"big":-3,`},
		{"queries/annotated", `{"params":{"status":"on-leave","limit":null,"rate":null}}`, 200, `"limit":2,`},
		{"queries/annotated", `{"params":{"limit":51}}`, 400, `limit: found 51, expected at most 50`},
		{"queries/annotated", `{"params":{"limit":0,"codes":["a","B"],"wide":[0]}}`, 400, `params.codes[1]: found \"B\", expected a text that matches ^[a-z=,]+$`},
		{"queries/annotated", `{"params":{"limit":"x"}}`, 400, `expected an integer`},
		{"queries/put_default_person", `{"params":{"slug":"nova","age":121}}`, 400, `age: found 121, expected at most 120`},
		{"query", `{"query":"query q($n: I32 @range(1..3) @default(1)) { match { $p: Person } return { $p.name as name, $n as n } limit $n }"}`, 200, `"name":"Ada","n":1`},
		{"query", `{"query":"query q($n: I32 @range(1..3) @default(1)) { match { $p: Person } return { $p.name as name } limit $n }","params":{"n":4}}`, 400, `n: found 4, expected at most 3`},
	} {
		resp, err := http.Post(server.URL+"/graphs/corpus/"+tt.route, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, resp, tt.route+" "+tt.body, tt.status, tt.want)
	}
}

// TestAnnotationsThroughAClient calls a query over MCP with and without an argument that its parameter
// does not allow.
func TestAnnotationsThroughAClient(t *testing.T) {
	server := httptest.NewServer(asTester(transport.Handler(served(t, 1000), transport.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, tt := range []struct {
		params  map[string]any
		refused bool
		want    string
	}{
		{map[string]any{"status": "on-leave", "limit": 1}, false, `"rows":[["Ada",1,`},
		{map[string]any{"limit": 51}, true, "params.limit: found 51, expected at most 50"},
	} {
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "annotated", Arguments: map[string]any{"params": tt.params}})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; res.IsError != tt.refused || !strings.Contains(text, tt.want) {
			t.Errorf("%v: found %t, %s; expected %t with %s", tt.params, res.IsError, text, tt.refused, tt.want)
		}
	}
}

// wantAnswer checks the status of the answer to a request, and that its body contains a text. It closes the body.
func wantAnswer(t *testing.T, resp *http.Response, request string, status int, want string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status || !strings.Contains(string(body), want) {
		t.Errorf("%s: found %d %.2000s, %v; expected %d with %s", request, resp.StatusCode, body, err, status, want)
	}
}
