package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

func TestEveryStoredQuery(t *testing.T) { everyStoredQuery(t, newStore(t)) }

// TestServesWithoutParsing serves a store with an invalid schema text. The server must start and
// answer every stored query from the encoded schema and the encoded plans.
func TestServesWithoutParsing(t *testing.T) {
	text, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	const unparsable = "this is no schema {"
	if _, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: unparsable}); !faults.HasErrors() {
		t.Fatal("the text is a schema, so the test would prove nothing")
	}
	storage := t.TempDir()
	g, err := embedded.Create(t.Context(), fs.OS(), filepath.Join(storage, "code"), unparsable, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Load(t.Context(), bytes.NewReader(shop(t)), engine.LoadOptions{Mode: engine.Merge})
	if err := errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
	everyStoredQuery(t, storage)
}

func TestToolsOverMCP(t *testing.T) {
	ts := newServer(t)
	dev, ada, nobody := ts.connect(t, devToken), ts.connect(t, "the-token-of-act-ada"), ts.connect(t, "the-token-of-nobody")

	names := func(s *mcp.ClientSession) []string {
		res, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, tool := range res.Tools {
			out = append(out, tool.Name)
		}
		return out
	}
	for _, want := range []string{"graph_health", "graph_query", "schema_get", "branch_list", "graph_load", "graph_mutate", "find_symbols", "add_note"} {
		if !slices.Contains(names(dev), want) {
			t.Errorf("act-dev does not see %s", want)
		}
	}
	if got := names(nobody); !slices.Equal(got, []string{"graph_health"}) {
		t.Errorf("an actor without rights sees %v", got)
	}

	// A tool that the actor may not see must answer like one that does not exist.
	_, denied := nobody.CallTool(t.Context(), &mcp.CallToolParams{Name: "find_symbols", Arguments: map[string]any{}})
	_, unknown := nobody.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_symbols", Arguments: map[string]any{}})
	if denied == nil || unknown == nil || strings.ReplaceAll(denied.Error(), "find_symbols", "X") != strings.ReplaceAll(unknown.Error(), "no_symbols", "X") {
		t.Errorf("a denied tool answers %v, an unknown one %v", denied, unknown)
	}

	// act-ada may change unprotected branches. She therefore sees add_note, but may not use it on
	// main.
	if !slices.Contains(names(ada), "add_note") {
		t.Error("act-ada does not see add_note")
	}
	res, err := ada.CallTool(t.Context(), &mcp.CallToolParams{Name: "add_note", Arguments: map[string]any{
		"params": map[string]any{"slug": "x", "symbol": "example.com/shop/stock.Shelf", "text": "t"},
	}})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, `"forbidden"`) {
		t.Errorf("add_note on main by act-ada: %+v, %v", res, err)
	}

	var got read
	callTool(t, dev, "graph_query", map[string]any{
		"query":  `query q($k: String) { match { $s: Symbol { kind: $k } } return { count($s) as n } }`,
		"params": map[string]any{"k": "interface"},
	}, &got)
	if got.RowCount != 1 || got.Rows[0]["n"] != 2.0 {
		t.Errorf("graph_query answers %v", got.Rows)
	}
	if strings.Contains(ts.log.String(), devToken) {
		t.Error("a token is in the log")
	}
}

func TestGuardAndREST(t *testing.T) {
	ts := newServer(t)
	send := func(change func(*http.Request)) (int, map[string]any) {
		req, err := http.NewRequest(http.MethodPost, ts.url+"/queries/get_package", strings.NewReader(`{"params":{"path":"fmt"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+devToken)
		req.Header.Set("Content-Type", "application/json")
		change(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body map[string]any
		if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body
	}
	cases := []struct {
		name   string
		change func(*http.Request)
		status int
		code   string
	}{
		{"good", func(*http.Request) {}, 200, ""},
		{"loopback origin", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, 200, ""},
		{"foreign host", func(r *http.Request) { r.Host = "evil.example" }, 403, "forbidden"},
		{"foreign origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "forbidden"},
		{"foreign host without a token", func(r *http.Request) { r.Host = "evil.example"; r.Header.Del("Authorization") }, 403, "forbidden"},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "unauthorized"},
		{"unknown query", func(r *http.Request) { r.URL.Path = "/graphs/code/queries/nothing" }, 404, "not_found"},
		{"denied query", func(r *http.Request) { r.Header.Set("Authorization", "Bearer the-token-of-nobody") }, 404, "not_found"},
		{"unknown graph", func(r *http.Request) { r.URL.Path = "/graphs/other/queries/get_package" }, 404, "not_found"},
	}
	for _, c := range cases {
		status, body := send(c.change)
		if code, _ := body["code"].(string); status != c.status || code != c.code {
			t.Errorf("%s: status %d, %v; want %d, code %q", c.name, status, body, c.status, c.code)
		}
		if c.code == "" && body["row_count"] != 1.0 {
			t.Errorf("%s: %v", c.name, body)
		}
	}
}
