package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}` + "\n"

// TestMCPServe checks that a local graph is served as the named actor, and that only answers go to
// standard output.
func TestMCPServe(t *testing.T) {
	inFolder(t)
	code, stdout, stderr := omnigraph(t, initialize+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_mutate","arguments":{"query":"query q() { insert Person { name: \"cyd\" } }"}}}`,
		"mcp", "serve", "--store", "graph", "--as", "act-ada")
	if code != 0 || stderr != "" || strings.Count(stdout, "\n") != 2 {
		t.Fatalf("%d %s\n%s", code, stderr, stdout)
	}
	for l := range strings.Lines(stdout) {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %s", l)
		}
	}
	if !strings.Contains(stdout, `"actor_id":"act-ada"`) {
		t.Error(stdout)
	}
	if head, nodes, _ := state(t, "graph"); head.Actor != "act-ada" || nodes != 3 {
		t.Errorf("%+v, %d nodes", head, nodes)
	}
}

func TestMCPServePolicy(t *testing.T) {
	inFolder(t)
	write(t, "policy.yaml", "version: 1\nrules:\n  - id: ada\n    allow: { actors: { ids: [act-ada] }, actions: [read] }\n")
	list := initialize + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	code, stdout, stderr := omnigraph(t, list, "mcp", "serve", "--store", "graph", "--policy", "policy.yaml", "--as", "act-ada")
	if code != 0 || !strings.Contains(stdout, `"name":"graph_query"`) || strings.Contains(stdout, `"name":"graph_mutate"`) {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if _, stdout, _ := omnigraph(t, list, "mcp", "serve", "--store", "graph", "--policy", "policy.yaml", "--as", "act-bob"); strings.Contains(stdout, `"name":"graph_query"`) {
		t.Error(stdout)
	}
	write(t, "policy.yaml", "version: 1\nrules:\n  - id: ada\n    allow: { actors: { ids: [act-ada] }, actions: [read], types: [Nosuch] }\n")
	if code, _, stderr := omnigraph(t, list, "mcp", "serve", "--store", "graph", "--policy", "policy.yaml", "--as", "act-ada"); code == 0 || !strings.Contains(stderr, `unknown type "Nosuch" in rule ada`) {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestMCPServeConfirm checks that --confirm makes a deletion fail until it is confirmed.
func TestMCPServeConfirm(t *testing.T) {
	inFolder(t)
	remove := func(more string) string {
		return initialize + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_mutate","arguments":{"query":"query q() { delete Person where name = \"ada\" }"` + more + `}}}`
	}
	_, before, _ := state(t, "graph")
	if code, stdout, stderr := omnigraph(t, remove(""), "mcp", "serve", "--store", "graph", "--confirm", "change,branch_delete"); code != 0 || !strings.Contains(stdout, "ask the user, then call again with confirm: true") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if _, nodes, _ := state(t, "graph"); nodes != before {
		t.Errorf("%d of %d nodes are left", nodes, before)
	}
	if code, stdout, stderr := omnigraph(t, remove(`,"confirm":true`), "mcp", "serve", "--store", "graph", "--confirm", "change"); code != 0 || strings.Contains(stdout, "isError") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if _, nodes, _ := state(t, "graph"); nodes != before-1 {
		t.Errorf("%d of %d nodes are left", nodes, before)
	}
	for _, args := range [][]string{{"--store", "graph", "--confirm", "read"}, {"--server", "http://127.0.0.1:1", "--graph", "g", "--confirm", "change"}} {
		if code, _, stderr := omnigraph(t, "", append([]string{"mcp", "serve"}, args...)...); code != exitUsage || !strings.Contains(stderr, "--confirm") {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
}

// TestMCPServeStored checks that a store serves the compiled-in queries if it has their schema.
func TestMCPServeStored(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t)
	if code, _, stderr := omnigraph(t, "", "init", "--schema", dir+"/../../queries/code/schema.pg", "--store", "code"); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, stderr := omnigraph(t, initialize+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"heaviest_packages"}}`, "mcp", "serve", "--store", "code")
	if code != 0 || stderr != "" || !strings.Contains(stdout, `"row_count":0`) {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	// A local store also accepts code and schemas.
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	schema, err := os.ReadFile(dir + "/../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	quote := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"code_index", `{"dir":` + quote(dir+"/../../internal/source/gocode/testdata/shop") + `}`, `"mode":"merge","nodes":[{"name":"Module"`},
		{"schema_apply", `{"schema":` + quote(string(schema)+"node Extra { text: String }") + `}`, `"applied":true`},
	} {
		code, stdout, stderr := omnigraph(t, initialize+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tt.tool+`","arguments":`+tt.args+`}}`,
			"mcp", "serve", "--store", "code")
		if code != 0 || stderr != "" || !strings.Contains(stdout, tt.want) {
			t.Errorf("%s: %d %s %s", tt.tool, code, stdout, stderr)
		}
	}
}

// TestMCPProxy checks that the proxy sends requests to the graph's endpoint with the token from the
// environment.
func TestMCPProxy(t *testing.T) {
	t.Setenv(tokenVar, "s3cret")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.URL.Path != "/base/graphs/a b/mcp" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	}))
	defer http.DefaultClient.CloseIdleConnections()
	defer srv.Close()
	code, stdout, stderr := omnigraph(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "mcp", "serve", "--server", srv.URL+"/base/", "--graph", "a b")
	if code != 0 || stdout != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
}

func TestMCPInstall(t *testing.T) {
	inFolder(t)
	code, stdout, stderr := omnigraph(t, "", "mcp", "install", "--client", "claude-code", "--store", "graph", "--as", "act-ada")
	if code != 0 || !strings.Contains(stdout, `wrote the configuration of server "omnigraph" to .mcp.json`) {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	written, err := os.ReadFile(".mcp.json")
	if err != nil {
		t.Fatal(err)
	}
	_, printed, _ := omnigraph(t, "", "mcp", "install", "--client", "claude-code", "--store", "graph", "--as", "act-ada", "--print")
	if printed != string(written) {
		t.Errorf("printed %s\nwrote %s", printed, written)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(written, &config); err != nil {
		t.Fatal(err)
	}
	// The written configuration starts a session in any folder.
	t.Chdir(t.TempDir())
	if code, stdout, stderr := omnigraph(t, initialize, config.MCPServers["omnigraph"].Args...); code != 0 || !strings.Contains(stdout, `"serverInfo"`) {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if code, stdout, _ := omnigraph(t, "", "mcp", "install", "--client", "claude-desktop", "--server", "http://h", "--graph", "code", "--file", "f.json"); code != 0 || !strings.Contains(stdout, "set OMNIGRAPH_TOKEN in the environment of the client") {
		t.Errorf("%d %s", code, stdout)
	}
}

func TestMCPFaults(t *testing.T) {
	inFolder(t)
	for _, tt := range []struct {
		args string
		exit int
		want string
	}{
		{"mcp frobnicate", 2, "the commands are serve and install"},
		{"mcp serve", 2, "--store or --server is missing"},
		{"mcp serve --store graph --server http://h --graph g", 2, "both given"},
		{"mcp serve --server http://h", 2, "--graph is missing"},
		{"mcp serve --server h:80 --graph g", 2, "give a URL such as"},
		{"mcp serve --server http://h --graph g --as x", 2, "OMNIGRAPH_TOKEN"},
		{"mcp serve --store graph --policy p.yaml", 2, "--as is missing"},
		{"mcp serve --store graph --policy p.yaml --as x", 1, "p.yaml"},
		{"mcp serve --store none", 1, "omnigraph init --schema FILE --store none"},
		{"mcp serve --store graph --graph nosuch", 2, `--graph is "nosuch"`},
		{"mcp install --store graph", 2, "--client is missing"},
		{"mcp install --client emacs --store graph", 2, "claude-code, claude-desktop, cursor, vscode, codex, opencode"},
		{"mcp install --client codex --store graph --name a.b", 2, "--name"},
		{"mcp install --client codex --store graph --file bad.pg", 1, "nothing was written"},
	} {
		code, stdout, stderr := omnigraph(t, "", strings.Fields(tt.args)...)
		if code != tt.exit || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: %d %q %s, want %d with %s", tt.args, code, stdout, stderr, tt.exit, tt.want)
		}
	}
}
