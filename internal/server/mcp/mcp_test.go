package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// readerTools is the number of tools that an actor with read and invoke_query sees in the fixture: its stored reads, and the
// built-in tools that change nothing.
var readerTools = func() int {
	n := 3
	for _, t := range builtin.All("test") {
		if t.Descriptor().ReadOnly {
			n++
		}
	}
	return n
}()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server that takes the actor from a header instead of a token.
func serve(t testing.TB, c servedgraph.Config, opts mcp.Options) string {
	t.Helper()
	actors := map[string]*access.Actor{}
	for _, a := range []*access.Actor{servedtest.Writer, servedtest.Reader, servedtest.Bot, servedtest.Drafter, servedtest.Nobody} {
		actors[a.ID] = a
	}
	h := mcp.Handler(servedtest.Graph(t, c), opts)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if a := actors[r.Header.Get("X-Actor")]; a != nil {
			ctx = access.WithActor(ctx, a)
		}
		h.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func config(t testing.TB) servedgraph.Config { return servedtest.Config(t, builtin.All("1.2.3")...) }

// as is a transport that adds the actor to every request.
type as struct{ actor *access.Actor }

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Actor", a.actor.ID)
	return http.DefaultTransport.RoundTrip(r)
}

func connect(t *testing.T, url string, actor *access.Actor) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil)
	session, err := client.Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: as{actor}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return session
}

// post sends one JSON-RPC message in the given protocol version.
func post(t *testing.T, url, version string, actor *access.Actor, body string) (*http.Response, string) {
	t.Helper()
	var msg struct {
		Method string
		Params struct{ Name, URI string }
	}
	_ = json.Unmarshal([]byte(body), &msg)
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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
	if actor != nil {
		r.Header.Set("X-Actor", actor.ID)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return resp, string(b)
}

// newest is the stateless protocol version. Every request of that version has metadata.
const newest = "2026-07-28"

// message returns a request in the given protocol version.
func message(version, method, params string) string {
	if version != newest {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta = params + "," + meta
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + `}}`
}

func TestToolsList(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	for _, tt := range []struct {
		file  string
		actor *access.Actor
	}{{"writer", servedtest.Writer}, {"bot", servedtest.Bot}} {
		resp, body := post(t, url, "2025-11-25", tt.actor, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "application/json" {
			t.Errorf("%d %s", resp.StatusCode, got)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(body), "", "  "); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		golden.Check(t, "testdata/tools-"+tt.file+".json", append(indented.Bytes(), '\n'))
	}
}

func TestClient(t *testing.T) {
	ctx := context.Background()
	url := serve(t, config(t), mcp.Options{})
	s := connect(t, url, servedtest.Reader)
	init := s.InitializeResult()
	//lint:ignore SA1019 logging must not be declared, deprecated or not
	if init.Capabilities.Tools == nil || init.Capabilities.Prompts == nil || init.Capabilities.Prompts.ListChanged || init.Capabilities.Logging != nil {
		t.Errorf("capabilities: %+v", init.Capabilities)
	}
	if at := strings.Index(init.Instructions, "type_describe"); at < 0 || at > strings.Index(init.Instructions, "gq_reference") || strings.Index(init.Instructions, "gq_reference") > strings.Index(init.Instructions, "graph_query") {
		t.Errorf("instructions: %s", init.Instructions)
	}
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != readerTools || list.NextCursor != "" || list.CacheScope != "private" || list.TTLMs != 60000 {
		t.Errorf("list: %d tools, want %d; %+v", len(list.Tools), readerTools, list.Cacheable)
	}
	for _, res := range []sdk.Meta{list.Meta} {
		if s, _ := res["omnigraph/schemaVersion"].(string); !strings.HasPrefix(s, "sha256:") {
			t.Errorf("meta: %v", res)
		}
	}

	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "lookup_person", Arguments: map[string]any{"params": map[string]any{"name": "ada"}}})
	if err != nil {
		t.Fatal(err)
	}
	structured, _ := json.Marshal(res.StructuredContent)
	var mirror any
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &mirror); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(mirror)
	if res.IsError || string(structured) != string(text) || !strings.Contains(string(text), `"columns":["p.name","p.age"]`) || !strings.Contains(string(text), `"rows":[["ada",36]]`) {
		t.Errorf("got %s, mirrored by %s", structured, text)
	}
	commit, _ := res.Meta["omnigraph/commit"].(string)
	if commit == "" || !strings.Contains(string(text), `"graph_commit_id":"`+commit+`"`) || res.Meta["omnigraph/catalogVersion"] == nil {
		t.Errorf("meta: %v", res.Meta)
	}

	// If the caller makes a fault, the result contains the wire envelope and no structured content.
	res, err = s.CallTool(ctx, &sdk.CallToolParams{Name: "lookup_person", Arguments: map[string]any{"params": map[string]any{"nam": "ada"}}})
	if err != nil {
		t.Fatal(err)
	}
	var envelope client.Envelope
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &envelope); err != nil {
		t.Fatal(err)
	}
	if !res.IsError || res.StructuredContent != nil || envelope.Code != client.CodeBadRequest || !strings.Contains(envelope.Message, "did you mean name?") {
		t.Errorf("got %+v", envelope)
	}
}

// TestOutputSchemas checks the structured results of the built-in tools against their output
// schemas.
func TestOutputSchemas(t *testing.T) {
	ctx := context.Background()
	c := servedtest.Config(t, builtin.Local("1.2.3", nil)...)
	commits, err := c.Graph.Commits(ctx, "", engine.CommitRange{})
	if err != nil {
		t.Fatal(err)
	}
	first := commits[0].ID
	c.OutputSchemas = true
	s := connect(t, serve(t, c, mcp.Options{}), servedtest.Writer)
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		if tool.OutputSchema == nil {
			continue
		}
		text, _ := json.Marshal(tool.OutputSchema)
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if schemas[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	const read = `query q() { match { $p: Person } return { $p, $p.big, $p.tags } }`
	calls := servedtest.Filling()
	calls = append(calls, servedtest.Calls(first)...)
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"gq_reference", nil}, {"gq_reference", map[string]any{"topic": "search"}},
		{"type_describe", nil}, {"type_describe", map[string]any{"name": "Person"}}, {"type_describe", map[string]any{"name": "Knows"}},
		{"type_path", map[string]any{"from": "Person", "to": "Person"}},
		{"query_validate", map[string]any{"query": read}}, {"query_validate", map[string]any{"query": "query"}},
		{"query_explain", map[string]any{"query": read}}, {"query_explain", map[string]any{"query": read, "analyze": true}},
		{"branch_create", map[string]any{"name": "trial"}},
		{"graph_mutate", map[string]any{"query": `query m() { insert Person { name: "eve" } }`, "branch": "trial"}},
		{"commit_list", map[string]any{"limit": 1}}, {"commit_get", map[string]any{"commit": first}}, {"change_list", map[string]any{"commit": first, "limit": 1}},
		{"branch_merge", map[string]any{"source": "trial"}}, {"branch_merge", map[string]any{"source": "trial"}}, {"branch_delete", map[string]any{"name": "trial"}},
		{"schema_apply", map[string]any{"schema": servedtest.Source, "dry_run": true}}, {"schema_apply", map[string]any{"schema": servedtest.Source + "node Extra {}"}},
		{"graph_load", map[string]any{"mode": "merge", "data": servedtest.SeedAgain, "branch": "june", "from": "main"}},
		{"graph_health", nil}, {"schema_get", nil}, {"branch_list", nil}, {"graph_snapshot", map[string]any{"branch": "main"}},
		{"graph_query", map[string]any{"query": read}},
		{"graph_query", map[string]any{"query": `query q() { match { $p: Person { name: "none" } } return { $p } }`}},
		{"graph_query", map[string]any{"queries": []any{map[string]any{"query": read}, map[string]any{"query": "?"}}}},
		{"graph_mutate", map[string]any{"query": `query m() { insert Person { name: "dan" } }`}},
		{"graph_mutate", map[string]any{"query": `query m() { delete Person where name = "none" }`}},
		{"graph_load", map[string]any{"mode": "merge", "data": servedtest.SeedAgain}},
		{"graph_load", map[string]any{"mode": "append", "data": ""}},
	} {
		calls = append(calls, servedtest.Call{Tool: call.tool, Args: call.args})
	}
	var proposal any // the id of the last proposal, which proposal_resolve needs
	for _, c := range calls {
		if c.Tool == "proposal_resolve" {
			c.Args["proposal"] = proposal
			for age, branch := range []string{"main", "branch-3"} { // a conflict to resolve
				insert := map[string]any{"query": fmt.Sprintf(`query m() { insert Person { name: "x", age: %d } }`, age), "branch": branch}
				if res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "graph_mutate", Arguments: insert}); err != nil || res.IsError {
					t.Fatal(err, res)
				}
			}
		}
		res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: c.Tool, Arguments: c.Args})
		if err != nil || res.IsError {
			t.Errorf("%s %v: %v %+v", c.Tool, c.Args, err, res)
			continue
		}
		if err := schemas[c.Tool].Validate(res.StructuredContent); err != nil {
			t.Errorf("%s %v: %v", c.Tool, c.Args, err)
		}
		if answer, ok := res.StructuredContent.(map[string]any); ok && c.Tool == "proposal_submit" {
			proposal = answer["id"]
		}
	}
}

// TestMasking checks that the answers for unknown, hidden and denied tools are the same byte for
// byte. This includes the headers.
func TestMasking(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	for _, version := range []string{"2025-06-18", "2025-11-25", newest} {
		answer := func(name string) string {
			resp, body := post(t, url, version, servedtest.Bot, message(version, "tools/call", `"name":"`+name+`","arguments":{"zzz":1}`))
			resp.Header.Del("Date")
			var b strings.Builder
			b.WriteString(resp.Status + "\n")
			if err := resp.Header.Write(&b); err != nil {
				t.Fatal(err)
			}
			return b.String() + body
		}
		// The names have the same length, so that the answers have the same length too.
		want := strings.ReplaceAll(answer("graph_nosuch"), "graph_nosuch", "X")
		for _, name := range []string{"graph_mutate", "schema__get_", "find_person_"} {
			if got := strings.ReplaceAll(answer(name), name, "X"); got != want {
				t.Errorf("%s: %s answers\n%s\nwanted\n%s", version, name, got, want)
			}
		}
		for _, name := range []string{"everyone", "secret"} {
			unknown := strings.Repeat("x", len(name))
			if got, want := strings.ReplaceAll(answer(name), name, "X"), strings.ReplaceAll(answer(unknown), unknown, "X"); got != want {
				t.Errorf("%s: %s answers\n%s\nwanted\n%s", version, name, got, want)
			}
		}
		if !strings.Contains(want, `"code":-32602,"message":"unknown tool: X"`) {
			t.Errorf("%s: %s", version, want)
		}
	}
}

func TestResources(t *testing.T) {
	ctx := context.Background()
	url := serve(t, config(t), mcp.Options{})
	reader, bot := connect(t, url, servedtest.Reader), connect(t, url, servedtest.Bot)
	if list, err := reader.ListResources(ctx, nil); err != nil || len(list.Resources) != 6 {
		t.Errorf("reader: %+v, %v", list, err)
	}
	if list, err := bot.ListResources(ctx, nil); err != nil || len(list.Resources) != 1 {
		t.Errorf("bot: %+v, %v", list, err)
	}
	res, err := reader.ReadResource(ctx, &sdk.ReadResourceParams{URI: "omnigraph://schema"})
	if err != nil || res.Contents[0].Text != servedtest.Source || res.CacheScope != "private" || res.TTLMs != 0 {
		t.Errorf("schema: %+v, %v", res, err)
	}
	res, err = reader.ReadResource(ctx, &sdk.ReadResourceParams{URI: "omnigraph://branches"})
	if err != nil || res.Contents[0].Text != `{"branches":["main"]}` {
		t.Errorf("branches: %+v, %v", res, err)
	}
	_, denied := post(t, url, "2025-11-25", servedtest.Bot, message("2025-11-25", "resources/read", `"uri":"omnigraph://schema"`))
	_, absent := post(t, url, "2025-11-25", servedtest.Bot, message("2025-11-25", "resources/read", `"uri":"omnigraph://nosuch"`))
	if !strings.Contains(absent, "Resource not found") {
		t.Errorf("absent: %s", absent)
	}
	if denied != strings.ReplaceAll(absent, "nosuch", "schema") {
		t.Errorf("denied: %s\nabsent: %s", denied, absent)
	}
}

func TestTransport(t *testing.T) {
	url := serve(t, config(t), mcp.Options{MaxBody: 2000})
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		r, _ := http.NewRequest(method, url, nil)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
	for _, tt := range []struct {
		name, version, body string
		status              int
		want                string
	}{
		{"too large", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("a", 2000) + `"}}`, 413, "larger"},
		{"unsupported version", "2020-01-01", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 400, `"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`},
		{"ping", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `"result":{}`},
		{"notification", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"prompts", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, 200, `"prompts":[]`},
		{"listen", "2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}`, 200, `"id":7`},
		{"listen", "2026-07-28", message(newest, "subscriptions/listen", ""), 400, `params.notifications: missing`},
		{"discover", "2026-07-28", message(newest, "server/discover", ""), 200, `"omnigraph/schemaVersion":"sha256:`},
		{"discover", "2026-07-28", message(newest, "server/discover", ""), 200, `"cacheScope":"private"`},
		{"initialize", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, 200, `"protocolVersion":"2024-11-05"`},
		{"batch", "2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, 200, `"id":2`},
		{"large batch", "2025-03-26", "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 16) + `{"id":1}]`, 400, "found a batch of 17 messages, expected at most 16"},
		{"old version", "2024-11-05", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `"result":{}`},
		{"old version", "2024-11-05", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"old version", "2024-11-05", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, 200, `"tools":[`},
		{"old version", "2024-11-05", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200, `"resources":[`},
		{"future version, first message", "2099-01-01", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, 200, `"protocolVersion":"2025-11-25"`},
		{"byte order mark", "2025-11-25", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `"result":{}`},
		{"arguments as text", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"everyone","arguments":"{\"branch\":\"main\"}"}}`, 200, `unknown tool: everyone`},
		{"old version", "2024-11-05", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, 200, `"protocolVersion":"2024-11-05"`},
		{"future version", "2099-01-01", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 400, `"requested":"2099-01-01"`},
		{"discover without the version before", "2026-07-28", message(newest, "server/discover", ""), 200, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`},
		{"batch", "2025-11-25", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, "does not allow"},
		{"batch of notifications", "2025-03-26", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, 202, ""},
		{"unknown method", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"nosuch"}`, 200, `"code":-32601,"message":"method not found: \"nosuch\""`},
		{"unknown method", "2026-07-28", message(newest, "nosuch", ""), 404, `"code":-32601`},
		{"unknown notification", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/nosuch"}`, 202, ""},
		{"answer to nothing", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
		{"call without id", "2025-11-25", `{"jsonrpc":"2.0","method":"ping"}`, 400, "no id"},
		{"notification with id", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, 400, "has an id"},
		{"no JSON", "2025-11-25", `{`, 400, `"code":-32700`},
		{"empty", "2025-11-25", ``, 400, "empty body"},
		{"no meta", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400, `protocolVersion`},
		{"ping", "2026-07-28", message(newest, "ping", ""), 404, `"code":-32601`},
		{"meta without header", "", message(newest, "tools/list", ""), 400, `"code":-32020`},
		{"meta of another version", "2025-11-25", message(newest, "tools/list", ""), 400, `"code":-32020`},
		{"mistyped params", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}`, 200, "found a number, which is not allowed at cursor"},
		{"mistyped params", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, 200, "a value that is not an object"},
		{"mistyped name", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, 200, "params.name: expected a string"},
		{"no params", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 200, "tools/call needs params, but the message has none"},
		{"deep", "2025-11-25", strings.Repeat("[", 900) + strings.Repeat("]", 900), 400, ""},
		{"no actor", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"everyone"}}`, 200, "unknown tool: everyone"},
		{"no name", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 200, "unknown tool: "},
	} {
		resp, body := post(t, url, tt.version, nil, tt.body)
		if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", tt.name, tt.version, resp.StatusCode, body, tt.status, tt.want)
		}
		if strings.Contains(resp.Header.Get("Content-Type"), "event-stream") {
			t.Errorf("%s: an event stream", tt.name)
		}
	}
}

// TestHeaders checks what the server requires of each header of the transport, and that refusals
// are JSON too.
func TestHeaders(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	good := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"everyone"},
	}
	for _, tt := range []struct {
		header, value string
		status        int
		want          string
	}{
		{"Accept", "*/*", 400, "unknown tool"},
		{"Accept", "text/event-stream;q=0.1 ,Application/JSON", 400, "unknown tool"},
		{"Accept", "application/json", 400, "unknown tool"},
		{"Accept", "application/*", 400, "unknown tool"},
		{"Accept", "text/html, */*;q=0.8", 400, "unknown tool"},
		{"Accept", " , ", 400, "unknown tool"},
		{"Accept", "", 400, "unknown tool"},
		{"Accept", "text/event-stream", 400, "leaves out application/json"},
		{"Accept", "application/json;q=0, text/event-stream", 400, "leaves out application/json"},
		{"Accept", "text/html", 400, "leaves out application/json"},
		{"Content-Type", "application/json; charset=utf-8", 400, "unknown tool"},
		{"Content-Type", "text/plain", 415, "application/json"},
		{"Content-Type", "", 415, "application/json"},
		{"Last-Event-ID", "1", 400, "no streams to resume"},
		{"Mcp-Method", "", 400, `"code":-32020,"message":"missing required Mcp-Method header"`},
		{"Mcp-Method", "tools/list", 400, `"code":-32020`},
		{"Mcp-Name", "", 400, `"code":-32020,"message":"missing required Mcp-Name header`},
		{"Mcp-Name", "everything", 400, `"code":-32020`},
	} {
		r, _ := http.NewRequest("POST", url, strings.NewReader(message(newest, "tools/call", `"name":"everyone"`)))
		r.Header = good.Clone()
		if r.Header.Set(tt.header, tt.value); tt.value == "" {
			r.Header.Del(tt.header)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status || !strings.Contains(string(b), tt.want) || !json.Valid(b) || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %q: %d %s, want %d with %s", tt.header, tt.value, resp.StatusCode, b, tt.status, tt.want)
		}
	}
}

// TestRepeatedHeaders repeats headers that a request may have only once, in both orders. The
// server must refuse a repeated header even if its values are equal.
func TestRepeatedHeaders(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	for _, tt := range []struct {
		header string
		values []string
		status int
		want   string
	}{
		{"Mcp-Protocol-Version", []string{newest, "2025-11-25"}, 400, "found 2 Mcp-Protocol-Version headers, expected at most one"},
		{"Mcp-Protocol-Version", []string{"2025-11-25", newest}, 400, "found 2 Mcp-Protocol-Version headers"},
		{"Mcp-Protocol-Version", []string{newest, newest}, 400, "found 2 Mcp-Protocol-Version headers"},
		{"Mcp-Protocol-Version", []string{newest, ""}, 400, "found 2 Mcp-Protocol-Version headers"},
		{"Mcp-Method", []string{"tools/list", "tools/list", "tools/call"}, 400, "found 3 Mcp-Method headers"},
		{"Mcp-Name", []string{"a", "b"}, 400, "found 2 Mcp-Name headers"},
		{"Content-Type", []string{"application/json", "text/plain"}, 415, "must be application/json, sent once"},
		{"Mcp-Protocol-Version", []string{newest}, 200, `"tools"`},
	} {
		r, _ := http.NewRequest("POST", url, strings.NewReader(message(newest, "tools/list", "")))
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"tools/list"},
		}
		r.Header[tt.header] = tt.values
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status || !strings.Contains(string(b), tt.want) || !json.Valid(b) {
			t.Errorf("%s: %q: %d %s, want %d with %s", tt.header, tt.values, resp.StatusCode, b, tt.status, tt.want)
		}
	}
}

// hung is a graph with snapshots that panic, or that block until the context ends.
type hung struct {
	engine.Graph
	panics  bool
	started chan struct{}
	stopped chan error
}

func (h *hung) Snapshot(ctx context.Context, _ engine.Target) (*engine.Snapshot, error) {
	if h.panics {
		panic("secret")
	}
	close(h.started)
	<-ctx.Done()
	h.stopped <- ctx.Err()
	return nil, ctx.Err()
}

func TestPanic(t *testing.T) {
	c := config(t)
	c.Graph = &hung{Graph: c.Graph, panics: true}
	_, body := post(t, serve(t, c, mcp.Options{}), "2025-11-25", servedtest.Reader, message("2025-11-25", "tools/call", `"name":"graph_snapshot"`))
	if !strings.Contains(body, `"code":-32603`) || strings.Contains(body, "secret") {
		t.Errorf("got %s", body)
	}
}

func TestClientGoesAway(t *testing.T) {
	c := config(t)
	h := &hung{Graph: c.Graph, started: make(chan struct{}), stopped: make(chan error, 1)}
	c.Graph = h
	url := serve(t, c, mcp.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(message(newest, "tools/call", `"name":"graph_snapshot"`)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Actor", servedtest.Reader.ID)
	r.Header.Set("Mcp-Protocol-Version", newest)
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "graph_snapshot")
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-h.started
	cancel()
	<-done
	select {
	case err := <-h.stopped:
		if err != context.Canceled {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the call goes on after its caller went away")
	}
}
