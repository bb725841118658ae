package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// matrixPolicy is the policy of the masking tests and of the REST matrix. None of its rules names
// act-nothing.
const matrixPolicy = `version: 1
groups: { bots: [act-bot] }
protected_branches: [main, release]
rules:
  - id: admin
    allow: { actors: { ids: [act-admin, act-guarded] }, actions: [read, export, change, schema_apply, branch_create, branch_delete, branch_merge, invoke_query, admin] }
  - id: guarded-not-on-protected
    deny: { actors: { ids: [act-guarded] }, actions: [read, change], branch_scope: protected }
  - id: guarded-no-branches
    deny: { actors: { ids: [act-guarded] }, actions: [branch_create, branch_delete, branch_merge] }
  - id: left-out-at-boot
    allow: { actors: { ids: [act-admin] }, actions: [invoke_query], queries: [misfit] }
  - id: admin-reads-policy
    allow: { actors: { ids: [act-admin] }, actions: [policy_read, audit_read, query_propose, load_source] }
  - id: crm-has-a-feed
    allow: { actors: { ids: [act-writer, act-reader] }, actions: [load_source], sources: [crm] }
  - id: reader
    allow: { actors: { ids: [act-reader] }, actions: [read, invoke_query] }
  - id: writer
    allow: { actors: { ids: [act-writer] }, actions: [read, change, invoke_query] }
  - id: writer-not-by-hand
    deny: { actors: { ids: [act-writer] }, actions: [change], via: adhoc, branch_scope: protected }
  - id: bots-run-two-queries
    allow: { actors: { group: bots }, actions: [invoke_query], queries: [find_person, add_person] }
  - id: and-nothing-else
    allow: { actors: { group: bots }, actions: [read], via: stored }
  - id: indexer
    allow: { actors: { ids: [act-indexer] }, actions: [change], via: adhoc, branch_scope: unprotected }
  - id: confined-reads
    allow: { actors: { ids: [act-confined] }, actions: [read, invoke_query] }
  - id: confined-writes-to-drafts
    allow: { actors: { ids: [act-confined] }, actions: [change], branch_scope: draft }
`

var matrixActors = []string{"act-admin", "act-guarded", "act-reader", "act-writer", "act-bot", "act-indexer", "act-nothing"}

// matrix serves the graph people under matrixPolicy, with the branches main, release and
// feature.
type matrix struct {
	t        *testing.T
	url      string
	universe []string // all names of tools and stored queries, and some unknown names
	stored   map[string]string
	token    func(actor string) string // nil for the static tokens
}

func newMatrix(t *testing.T, graph string) *matrix {
	t.Helper()
	dir := t.TempDir()
	config := openPeople(t, dir, graph)
	tokens := &auth.Tokens{}
	for _, a := range matrixActors {
		if err := tokens.Add("the-token-of-"+a, a); err != nil {
			t.Fatal(err)
		}
	}
	catalog := servedtest.Catalog(t)
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{catalog}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	m := &matrix{t: t, url: ts.URL + "/graphs/people", stored: map[string]string{}}
	names := map[string]bool{"stored_query_list": true, "stored_query_run": true, "code_index": true, "zzz": true}
	for _, q := range catalog.Queries {
		names[q.Info().Name], names[q.Descriptor().Name] = true, true
		m.stored[q.Descriptor().Name] = q.Info().Name
	}
	for _, tl := range m.list("act-admin") {
		names[tl.Name] = true
	}
	m.universe = slices.Sorted(maps.Keys(names))
	return m
}

// modes are the graph settings for the two ways to show stored queries.
var modes = map[string]string{"per query": "", "meta": ", mcp: { meta_threshold: 1 }"}

// eachMode runs a test in every mode.
func eachMode(t *testing.T, test func(t *testing.T, m *matrix, perQuery bool)) {
	for mode, graph := range modes {
		t.Run(mode, func(t *testing.T) { test(t, newMatrix(t, graph), graph == "") })
	}
}

// openPeople writes a cluster with the graph people under matrixPolicy and makes its store.
func openPeople(t *testing.T, dir, graph string) *cluster.Config {
	t.Helper()
	for name, text := range map[string]string{
		"schema.pg": servedtest.Source, "policy.yaml": matrixPolicy,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg" + graph + " }\npolicies:\n  base: { file: policy.yaml, applies_to: [people] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(t.Context(), fs.OS(), filepath.Join(config.Storage, "people"), servedtest.Source, servedtest.Schema(t), embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(t.Context(), strings.NewReader(servedtest.Seed), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"release", "feature"} {
		if _, err := g.CreateBranch(t.Context(), b, engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

// answer is an HTTP answer as received.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a body as an actor.
func (m *matrix) send(actor, method, path, body string, header http.Header) answer {
	m.t.Helper()
	r, err := http.NewRequest(method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	maps.Copy(r.Header, header)
	token := "the-token-of-" + actor
	if m.token != nil {
		token = m.token(actor)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	a := answer{resp.StatusCode, resp.Header, string(b)}
	a.header.Del("Date")
	a.header.Del("X-Request-Id")
	return a
}

// versions are a protocol version with sessions, and the stateless one.
var versions = []string{"2025-11-25", "2026-07-28"}

// rpc sends one JSON-RPC request. The argument `params` has the members of the object params,
// without braces, and may be empty.
func (m *matrix) rpc(actor, version, method, name, params string) answer {
	h := http.Header{"Mcp-Protocol-Version": {version}}
	if version == versions[1] {
		h.Set("Mcp-Method", method)
		if name != "" {
			h.Set("Mcp-Name", name)
		}
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return m.send(actor, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`, h)
}

func (m *matrix) call(actor, version, name, arguments string) answer {
	return m.rpc(actor, version, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments))
}

// batch calls one tool in a batch, in the protocol version that has batches.
func (m *matrix) batch(actor, name string) answer {
	return m.send(actor, "POST", "/mcp", fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}]`, name),
		http.Header{"Mcp-Protocol-Version": {"2025-03-26"}})
}

// listed is a tool in an answer of tools/list.
type listed struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnlyHint bool `json:"readOnlyHint"`
	} `json:"annotations"`
}

func (m *matrix) list(actor string) []listed {
	m.t.Helper()
	a := m.rpc(actor, versions[0], "tools/list", "", "")
	var res struct {
		Result struct {
			Tools      []listed `json:"tools"`
			NextCursor string   `json:"nextCursor"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(a.body), &res); err != nil || a.status != 200 || res.Result.NextCursor != "" {
		m.t.Fatalf("tools/list of %s: %d %s", actor, a.status, a.body)
	}
	return res.Result.Tools
}

// sampleArguments returns arguments that fit an input schema. They name the branch if the
// schema has one.
func (m *matrix) sampleArguments(tl listed, branch string) string {
	m.t.Helper()
	type object struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Enum       []string                   `json:"enum"`
		Items      json.RawMessage            `json:"items"`
	}
	var sample func(name string, raw json.RawMessage) any
	sample = func(name string, raw json.RawMessage) any {
		if raw == nil {
			return "ada" // the member is required, but not described
		}
		var o object
		if err := json.Unmarshal(raw, &o); err != nil {
			m.t.Fatalf("%s: %v", tl.Name, err)
		}
		switch {
		case name == "query" && tl.Annotations.ReadOnlyHint:
			return `query q() { match { $p: Person } return { $p.name } limit 1 }`
		case name == "query":
			return `query q() { update Person set { age: 36 } where name = "ada" }`
		case name == "data":
			return `{"type":"Person","data":{"name":"ada","age":36}}`
		case o.Enum != nil:
			return o.Enum[0]
		}
		switch o.Type {
		case "object", "":
			v := map[string]any{}
			for _, p := range o.Required {
				v[p] = sample(p, o.Properties[p])
			}
			if name == "" {
				if _, ok := o.Properties["branch"]; ok {
					v["branch"] = branch
				}
				if tl.Name == "proposal_submit" { // it needs these two members unless it changes a proposal
					v["source"], v["title"] = "release", "a title"
				}
				if _, ok := o.Properties["query"]; ok {
					v["query"] = sample("query", o.Properties["query"])
				}
				if p, ok := o.Properties["params"]; ok && tl.Name != "graph_query" && tl.Name != "graph_mutate" {
					v["params"] = sample("params", p)
				}
			}
			return v
		case "array":
			if name == "resolutions" { // the list must have at least one element
				return []any{sample("resolution", o.Items)}
			}
			return []any{}
		case "integer", "number":
			return 1
		case "boolean":
			return false
		}
		return "ada"
	}
	b, err := json.Marshal(sample("", tl.InputSchema))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// faultCode returns the code in a result with isError, or "".
func faultCode(a answer) string {
	var res struct {
		Result struct {
			IsError bool                    `json:"isError"`
			Content []struct{ Text string } `json:"content"`
		} `json:"result"`
	}
	if json.Unmarshal([]byte(a.body), &res) != nil || !res.Result.IsError || len(res.Result.Content) == 0 {
		return ""
	}
	var envelope struct{ Code string }
	_ = json.Unmarshal([]byte(res.Result.Content[0].Text), &envelope)
	return envelope.Code
}

// stranger returns an unused name that is as long as the given one.
func stranger(name string) string { return strings.Repeat("q", len(name)) }

// readable returns everything that an actor can make the server say, keyed by its source:
// lists, prompts, resources, and answers to calls with wrong names.
func (m *matrix) readable(actor string) map[string]string {
	said := map[string]string{}
	for _, version := range versions {
		start := "initialize"
		params := `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}`
		if version == versions[1] {
			start, params = "server/discover", ""
		}
		said[start] = m.rpc(actor, version, start, "", params).body
		for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			said[list+" "+version] = m.rpc(actor, version, list, "", "").body
		}
	}
	// The admin's lists name everything that can be read; the actor tries all of it.
	version := versions[0]
	for _, uri := range members(m.rpc("act-admin", version, "resources/list", "", "").body, "resources", "uri") {
		said["resource "+uri] = m.rpc(actor, version, "resources/read", uri, fmt.Sprintf(`"uri":%q`, uri)).body
	}
	for _, name := range members(m.rpc("act-admin", version, "prompts/list", "", "").body, "prompts", "name") {
		for _, arguments := range []string{`{}`, `{"intent":"find a person","types":"Person","type":"Person"}`} {
			said["prompt "+name+arguments] = m.rpc(actor, version, "prompts/get", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)).body
		}
	}
	for _, tl := range m.list(actor) {
		base := m.sampleArguments(tl, "main")
		variants := []string{base, `{}`, `{"nonsense":1}`}
		for _, member := range []string{"name", "type", "topic", "query", "text", "filter", "params", "from", "to"} {
			for _, v := range []string{"Person", "Persn", "find_person", "find_persn", "add_persn", "secre", "query find_persn() { match { $p: Persn } return { $p.nam } }", "query w() { insert Person { name: \"ada\" } }"} {
				var args map[string]any
				if json.Unmarshal([]byte(base), &args) != nil {
					args = map[string]any{}
				}
				args[member] = v
				b, _ := json.Marshal(args)
				variants = append(variants, string(b))
			}
		}
		for _, v := range variants {
			said["tool "+tl.Name+" "+v] = m.call(actor, version, tl.Name, v).body
		}
	}
	for _, name := range m.universe {
		wrong := name[:len(name)-1]
		said["near tool "+wrong] = m.call(actor, version, wrong, `{}`).body
		said["near query "+wrong] = m.send(actor, "POST", "/queries/"+wrong, `{}`, nil).body
	}
	for _, path := range []string{"/queries", "/schema", "/snapshot", "/branches"} {
		said["GET "+path] = m.send(actor, "GET", path, "", nil).body
	}
	return said
}

// members collects one member from the entries of a list in a result.
func members(body, list, member string) []string {
	var res struct{ Result map[string]json.RawMessage }
	_ = json.Unmarshal([]byte(body), &res)
	var entries []map[string]any
	_ = json.Unmarshal(res.Result[list], &entries)
	var found []string
	for _, e := range entries {
		if s, ok := e[member].(string); ok {
			found = append(found, s)
		}
	}
	return found
}
