package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools returns the answer to tools/list for a token, as compact JSON.
func (p *process) tools(token string) string {
	p.t.Helper()
	p.token = token
	var answer struct {
		Result struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if status, err := p.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &answer); err != nil || status != http.StatusOK {
		p.t.Fatalf("tools/list: status %d, %v", status, err)
	}
	return compact(p.t, answer.Result.Tools)
}

func (p *process) rpc(body string, answer any) (status int, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/graphs/code/mcp", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, json.NewDecoder(res.Body).Decode(answer)
}

func compact(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return out.String()
}

// TestPolicyToolsIsToolsList checks that omnigraph policy tools prints the list that a server
// returns. It compares each actor of the policy and an actor that no rule names, both while the
// server has the graph open and after it has ended.
func TestPolicyToolsIsToolsList(t *testing.T) {
	dir := clusterDir(t)
	// A bundle with groups, a protected branch, rules that deny, and bots that may call two
	// queries.
	replace(t, filepath.Join(dir, "queries/code/policy.yaml"), "groups:\n", "groups:\n  bots: [act-bot, act-rex]\n  keepers: [act-kay]\n")
	replace(t, filepath.Join(dir, "queries/code/policy.yaml"), "rules:\n", `rules:
  - id: bots-run-two-queries
    allow: { actors: { group: bots }, actions: [invoke_query], queries: [callers, add_note] }
  - id: and-nothing-else
    allow: { actors: { group: bots }, actions: [read, change], via: stored }
  - id: one-bot-writes-no-notes
    deny: { actors: { ids: [act-rex] }, actions: [invoke_query], queries: [add_note] }
  - id: keepers-merge
    allow: { actors: { group: keepers }, actions: [read, branch_merge] }
  - id: keepers-keep-their-hands-off
    deny: { actors: { group: keepers }, actions: [branch_merge], target_branch_scope: unprotected }
  - id: dev-not-on-main
    deny: { actors: { ids: [act-dev] }, actions: [change], branch_scope: protected }
`)
	actors := []string{"act-ada", "act-ci", "act-bot", "act-rex", "act-kay", "act-eve"}
	for _, a := range actors {
		t.Setenv("OMNIGRAPH_TOKEN_"+strings.ToUpper(strings.ReplaceAll(a, "-", "_")), "the-token-of-"+a)
	}
	print := func(actor string) (tools, stderr string) {
		cmd := exec.Command(filepath.Join(bin, "omnigraph"), "policy", "tools", "--cluster", dir, "--actor", actor, "--format", "json")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, errs.String())
		}
		return compact(t, out), errs.String()
	}
	p := start(t, dir)
	tokens := map[string]string{"act-dev": p.token}
	for _, a := range actors {
		tokens[a] = "the-token-of-" + a
	}
	served := map[string]string{}
	for actor, token := range tokens {
		served[actor] = p.tools(token)
		got, stderr := print(actor)
		if got != served[actor] {
			t.Errorf("%s: printed\n%s\nserved\n%s", actor, got, served[actor])
		}
		if !strings.Contains(stderr, "an empty graph") {
			t.Errorf("%s: the store is locked, and the report says %q", actor, stderr)
		}
	}
	if served["act-eve"] == served["act-bot"] || served["act-bot"] == served["act-ada"] || served["act-ada"] == served["act-ci"] {
		t.Error("all actors see the same tools, so the comparison shows nothing")
	}
	for actor, want := range map[string][2]bool{"act-bot": {true, false}, "act-rex": {false, false}, "act-kay": {false, true}, "act-dev": {true, true}} {
		got := [2]bool{strings.Contains(served[actor], `"name":"add_note"`), strings.Contains(served[actor], `"name":"branch_merge"`)}
		if got != want || strings.Contains(served[actor], `"name":"callers"`) == (actor == "act-kay") {
			t.Errorf("%s: writes notes and merges: %v, want %v", actor, got, want)
		}
	}
	// The description of add_note's parameter mentions remove_note, which the bot must not see.
	if !strings.Contains(served["act-ada"], "remove_note takes it") || strings.Contains(served["act-bot"], "remove_note") {
		t.Errorf("the bot reads: %s", served["act-bot"])
	}
	p.stop()
	for actor := range tokens {
		if got, stderr := print(actor); got != served[actor] || stderr != "" {
			t.Errorf("%s: after the server had ended, the command printed %q and\n%s\nthe server had served\n%s", actor, stderr, got, served[actor])
		}
	}
}

// TestStartStates starts the binary with every combination of tokens, policy and --unauthenticated.
// It checks whether the server starts, and what an actor, an unknown token and a request without a
// token may then do.
func TestStartStates(t *testing.T) {
	const mutation = `{"query":"query m() { delete Note where slug = \"none\" }"}`
	const read = `{"query":"query q() { match { $p: Package } return { $p.path } }"}`
	for _, tt := range []struct {
		name                 string
		tokens, policy, open bool
		refuses              string            // the server's message if it refuses to start
		status               map[string][3]int // by token: read, mutation, GET /graphs
	}{
		{name: "nothing", refuses: "there are no tokens and no policy"},
		{name: "unauthenticated", open: true, status: map[string][3]int{"": {200, 200, 200}, "wrong": {200, 200, 200}}},
		{name: "tokens", tokens: true, status: map[string][3]int{"": {401, 401, 401}, "wrong": {401, 401, 401}, "the-token-of-act-ada": {200, 403, 200}}},
		{name: "tokens, unauthenticated", tokens: true, open: true, refuses: "--unauthenticated would ignore them"},
		{name: "policy", policy: true, refuses: "there is a policy, but no token"},
		{name: "policy, unauthenticated", policy: true, open: true, refuses: "there is a policy, but with --unauthenticated"},
		{name: "both", tokens: true, policy: true, status: map[string][3]int{
			"": {401, 401, 401}, "wrong": {401, 401, 401}, "the-token-of-act-ada": {200, 403, 403}, "the-token-of-act-ci": {200, 200, 403}, "the-token-of-act-eve": {403, 403, 403},
		}},
		{name: "both, unauthenticated", tokens: true, policy: true, open: true, refuses: "--unauthenticated would ignore them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := clusterDir(t)
			if tt.tokens {
				for _, a := range []string{"ADA", "CI", "EVE"} {
					t.Setenv("OMNIGRAPH_TOKEN_ACT_"+a, "the-token-of-act-"+strings.ToLower(a))
				}
			}
			if !tt.policy {
				replace(t, filepath.Join(dir, "cluster.yaml"), "policies:\n  base: { file: queries/code/policy.yaml, applies_to: [code] }\n  server: { file: queries/server.policy.yaml, applies_to: [cluster] }\n", "")
			}
			args := []string{}
			if tt.open {
				args = append(args, "--unauthenticated")
			}
			if tt.refuses != "" {
				cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), append(args, "--cluster", dir, "--bind", "127.0.0.1:0")...)
				out, err := cmd.CombinedOutput()
				if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), tt.refuses) {
					t.Errorf("ended with %v: %s", err, out)
				}
				return
			}
			p := startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=", args...)
			for token, want := range tt.status {
				p.token = token
				got := [3]int{p.status("POST", "/graphs/code/query", read), p.status("POST", "/graphs/code/mutate", mutation), p.status("GET", "/graphs", "")}
				if got != want {
					t.Errorf("token %q: a read, a mutation and the list of graphs answer %v, want %v", token, got, want)
				}
			}
			p.stop()
			for token := range tt.status {
				if token != "" && token != "wrong" && strings.Contains(p.stderr.String(), token) {
					t.Error("a token is in the log")
				}
			}
		})
	}
}

// status sends a request and returns the status of the answer.
func (p *process) status(method, path, body string) int {
	p.t.Helper()
	req, err := http.NewRequest(method, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestCedarPolicyServes starts a server with a policy in Cedar's own language, and with one that
// has a fault.
func TestCedarPolicyServes(t *testing.T) {
	dir := clusterDir(t)
	t.Setenv("OMNIGRAPH_TOKEN_ACT_ADA", "the-token-of-act-ada")
	replace(t, filepath.Join(dir, "cluster.yaml"), "policy.yaml", "policy.cedar")
	write(t, filepath.Join(dir, "queries/code/policy.cedar"), `permit (principal == Actor::"act-ada", action == Action::"invoke_query", resource == Query::"callers");
permit (principal, action == Action::"read", resource) when { context.via == "stored" };
`)
	p := startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=")
	list := p.tools("the-token-of-act-ada")
	if !strings.Contains(list, `"name":"callers"`) || strings.Contains(list, `"name":"callees"`) || strings.Contains(list, "graph_query") {
		t.Errorf("listed: %s", list)
	}
	if got := p.status("POST", "/graphs/code/queries/callers", `{"params":{"path":"example.com/p.F1"}}`); got != http.StatusOK {
		t.Errorf("the stored query answers %d", got)
	}
	p.stop()

	replace(t, filepath.Join(dir, "queries/code/policy.cedar"), `Query::"callers"`, `Query::"caller"`)
	out, err := exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "validate", "--cluster", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "policy.cedar:1:86") || !strings.Contains(string(out), "did you mean callers?") {
		t.Errorf("ended with %v: %s", err, out)
	}
}
