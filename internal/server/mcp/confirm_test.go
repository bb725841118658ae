package mcp_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// confirming returns the configuration of a graph on which every destructive step needs a confirmation.
// It has a branch that is ahead of main.
func confirming(t testing.TB) servedgraph.Config {
	t.Helper()
	c := servedtest.Config(t, builtin.Local("1.2.3", nil)...)
	c.Confirm = []tool.Action{tool.BranchDelete, tool.BranchMerge, tool.SchemaApply, tool.Change}
	if _, err := c.Graph.CreateBranch(t.Context(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"eve"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "draft"}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// lessSchema lacks the property born, so that applying it removes stored values.
var lessSchema = strings.Replace(servedtest.Source, "  born: Date?\n", "", 1)

// destructive are calls that need a confirmation, with a part of the question. Each works once.
var destructive = []struct {
	tool, question string
	args           map[string]any
}{
	{"branch_merge", "merge the branch draft into main", map[string]any{"source": "draft"}},
	{"graph_mutate", "run remove, which deletes Person from the branch main", map[string]any{"query": `query remove() { delete Person where name = "cyd" }`}},
	{"graph_load", "remove all entities of the types in the data from the branch main", map[string]any{"mode": "overwrite", "data": servedtest.Seed}},
	{"graph_load", "delete 4 entities, which the data of the source crm lack, from the branch main", map[string]any{"mode": "sync", "source": "crm", "types": []string{"Person"}, "approve_deletes": 4, "data": `{"type":"Person","data":{"name":"ada"}}`}},
	{"schema_apply", "which removes stored values: ", map[string]any{"schema": lessSchema, "allow_data_loss": true}},
	{"branch_delete", "delete the branch draft", map[string]any{"name": "draft"}},
}

// harmless are calls of the same tools that need no confirmation.
var harmless = []struct {
	tool string
	args map[string]any
}{
	{"branch_merge", map[string]any{"source": "draft", "dry_run": true}},
	{"graph_mutate", map[string]any{"query": `query remove() { delete Person where name = "cyd" }`, "dry_run": true}},
	{"graph_mutate", map[string]any{"query": `query add() { insert Person { name: "fay" } }`}},
	{"graph_load", map[string]any{"mode": "merge", "data": servedtest.SeedAgain}},
	{"graph_load", map[string]any{"mode": "sync", "source": "crm", "data": `{"type":"Person","data":{"name":"bob","age":43}}`}},
	{"schema_apply", map[string]any{"schema": servedtest.Source + "node Extra {}\n", "allow_data_loss": true}},
	{"schema_apply", map[string]any{"schema": lessSchema, "allow_data_loss": true, "dry_run": true}},
	{"branch_create", map[string]any{"name": "other"}},
}

// heads returns the ids of the heads of all branches.
func heads(t *testing.T, g engine.Graph) string {
	t.Helper()
	branches, err := g.Branches(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, b := range branches {
		all = append(all, b.Name+" "+b.Head.ID)
	}
	return strings.Join(all, ", ")
}

// forms connects the official client, which shows forms to the function `user`.
func forms(t *testing.T, url string, actor *access.Actor, user func(*sdk.ElicitParams) *sdk.ElicitResult) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return user(r.Params), nil },
	})
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: as{actor}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s
}

func textOf(t *testing.T, res *sdk.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*sdk.TextContent).Text
}

// TestConfirmByForm makes destructive calls with a client that shows forms. Only a call that the user
// agrees to changes the graph; confirm: true from the model does not replace the user.
func TestConfirmByForm(t *testing.T) {
	c := confirming(t)
	url := serve(t, c, mcp.Options{})
	var asked []string
	answer := &sdk.ElicitResult{}
	s := forms(t, url, servedtest.Writer, func(p *sdk.ElicitParams) *sdk.ElicitResult {
		asked = append(asked, p.Message)
		return answer
	})
	for _, tt := range harmless {
		if res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: tt.args}); err != nil || res.IsError {
			t.Errorf("%s %v: %s", tt.tool, tt.args, textOf(t, res, err))
		}
	}
	if len(asked) > 0 {
		t.Errorf("the user was asked %q", asked)
	}
	for _, tt := range destructive {
		before := heads(t, c.Graph)
		for _, no := range []*sdk.ElicitResult{{Action: "decline"}, {Action: "cancel"}, {Action: "accept"}, {Action: "accept", Content: map[string]any{"confirm": false}}} {
			asked, answer = nil, no
			args := maps.Clone(tt.args)
			args["confirm"] = true
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: args})
			if got := textOf(t, res, err); !res.IsError || !strings.Contains(got, "the user did not agree") || heads(t, c.Graph) != before {
				t.Errorf("%s after %s: %s", tt.tool, no.Action, got)
			}
			if len(asked) != 1 || !strings.Contains(asked[0], tt.question) {
				t.Errorf("%s asks %q, expected %q", tt.tool, asked, tt.question)
			}
		}
		answer = &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: tt.args})
		if got := textOf(t, res, err); res.IsError || heads(t, c.Graph) == before {
			t.Errorf("%s: %s", tt.tool, got)
		}
	}
}

// TestConfirmByArgument makes destructive calls with a client that shows no forms.
func TestConfirmByArgument(t *testing.T) {
	c := confirming(t)
	s := connect(t, serve(t, c, mcp.Options{}), servedtest.Writer)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var withArgument []string
	for _, listed := range list.Tools {
		schema, err := json.Marshal(listed.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(schema), `"confirm":{`) {
			withArgument = append(withArgument, listed.Name)
		}
	}
	for _, want := range []string{"branch_delete", "branch_merge", "graph_load", "graph_mutate", "schema_apply"} {
		if !slices.Contains(withArgument, want) {
			t.Errorf("%s has no argument confirm; %v have it", want, withArgument)
		}
	}
	if slices.Contains(withArgument, "graph_query") || slices.Contains(withArgument, "branch_create") {
		t.Errorf("%v have the argument", withArgument)
	}
	for _, tt := range destructive {
		before := heads(t, c.Graph)
		for _, no := range []any{nil, false, "true"} {
			args := maps.Clone(tt.args)
			if no != nil {
				args["confirm"] = no
			}
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: args})
			switch {
			case no == "true":
				if err == nil || !strings.Contains(err.Error(), "params.arguments.confirm: expected true or false") {
					t.Errorf("%s: %v", tt.tool, err)
				}
			case !res.IsError || !strings.Contains(textOf(t, res, err), tt.question) || !strings.Contains(textOf(t, res, err), "confirm: true"):
				t.Errorf("%s with %v: %s", tt.tool, no, textOf(t, res, err))
			}
			if heads(t, c.Graph) != before {
				t.Fatalf("%s with %v changed the graph", tt.tool, no)
			}
		}
		args := maps.Clone(tt.args)
		args["confirm"] = true
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tt.tool, Arguments: args})
		if got := textOf(t, res, err); res.IsError || heads(t, c.Graph) == before {
			t.Errorf("%s: %s", tt.tool, got)
		}
	}
}

// TestRequestState sends recorded answers of a user with states that do not belong to the call. Each must
// ask again, and change nothing.
func TestRequestState(t *testing.T) {
	c := confirming(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { return now }
	url := serve(t, c, mcp.Options{})
	if _, err := c.Graph.CreateBranch(t.Context(), "second", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	const capable = `"clientCapabilities":{"elicitation":{}}`
	call := func(actor *access.Actor, params string) (state, body string) {
		t.Helper()
		msg := strings.Replace(message(newest, "tools/call", params), `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/`+capable[1:], 1)
		_, body = post(t, url, newest, actor, msg)
		var answer struct {
			Result struct{ ResultType, RequestState string }
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if answer.Result.ResultType == "input_required" {
			state = answer.Result.RequestState
			if !strings.Contains(body, `"confirm":{"method":"elicitation/create","params":{"mode":"form",`) || strings.Contains(body, `"content"`) {
				t.Errorf("found %s", body)
			}
		}
		return state, body
	}
	const remove, yes = `"name":"branch_delete","arguments":{"name":"draft"}`, `,"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}},"requestState":"`
	first, _ := call(servedtest.Writer, remove)
	other, _ := call(servedtest.Writer, strings.Replace(remove, "draft", "second", 1))
	merge, _ := call(servedtest.Writer, `"name":"branch_merge","arguments":{"source":"draft"}`)
	drafter, _ := call(servedtest.Drafter, remove)
	if first == "" || other == "" || merge == "" || drafter == "" || strings.Contains(first, "draft") {
		t.Fatalf("found the states %q, %q, %q and %q", first, other, merge, drafter)
	}
	before := heads(t, c.Graph)
	for what, state := range map[string]string{
		"no state": "", "text": "abc", "another branch": other, "another tool": merge, "another actor": drafter,
		"altered": first[:len(first)-4] + "AAAA", "cut": first[:20], "long": first + strings.Repeat("A", 8000),
	} {
		again, body := call(servedtest.Writer, remove+yes+state+`"`)
		if again == "" || heads(t, c.Graph) != before {
			t.Errorf("%s: %s", what, body)
		}
	}
	// The user answers after five minutes.
	now = now.Add(5 * time.Minute)
	if again, body := call(servedtest.Writer, remove+yes+first+`"`); again == "" || !strings.Contains(body, "came too late") {
		t.Errorf("an expired state: %s", body)
	}
	// The branch gets a commit while the user thinks.
	fresh, _ := call(servedtest.Writer, remove)
	if _, err := c.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"gil"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "draft"}}); err != nil {
		t.Fatal(err)
	}
	again, body := call(servedtest.Writer, remove+yes+fresh+`"`)
	if again == "" || !strings.Contains(body, "the graph has changed since") {
		t.Errorf("a state of another head: %s", body)
	}
	// A caller without the permission is refused, and not asked.
	if state, body := call(servedtest.Reader, remove); state != "" || !strings.Contains(body, "unknown tool") {
		t.Errorf("the reader gets %s", body)
	}
	now = now.Add(5*time.Minute - time.Second)
	if state, body := call(servedtest.Writer, strings.Replace(remove, `{"name":"draft"}`, `{ "name" : "dr\u0061ft" }`, 1)+yes+again+`"`); state != "" || !strings.Contains(body, `\"name\":\"draft\"`) {
		t.Errorf("the valid state: %s", body)
	}
}

// FuzzRequestState sends what a client may send back. No input may delete the branch, and the answer must
// be a JSON-RPC message.
func FuzzRequestState(f *testing.F) {
	f.Add("abc", `{"action":"accept","content":{"confirm":true}}`, `{"name":"main"}`)
	f.Add("", `{"action":7}`, `{"name":"draft","confirm":true}`)
	f.Add(strings.Repeat("A", 100), `[]`, `{"confirm":{}}`)
	c := confirming(f)
	g, graph := mcp.Handler(servedtest.Graph(f, c), mcp.Options{}), c.Graph
	f.Fuzz(func(t *testing.T, state, response, args string) {
		quoted, err := json.Marshal(state)
		if err != nil || !json.Valid([]byte(response)) || !json.Valid([]byte(args)) {
			t.Skip("the response or the arguments are not JSON, so that no message contains them")
		}
		body := strings.Replace(message(newest, "tools/call", `"name":"branch_delete","arguments":`+args+`,"inputResponses":{"confirm":`+response+`},"requestState":`+string(quoted)),
			`"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`, 1)
		w := serveOne(g, newest, servedtest.Writer, body)
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("found %d %s", w.Code, w.Body)
		}
		if branches, err := graph.Branches(context.Background()); err != nil || len(branches) != 2 {
			t.Fatalf("%v, %v: %s", branches, err, w.Body)
		}
	})
}
