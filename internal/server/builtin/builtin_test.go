package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestAdHoc runs texts through graph_query and graph_mutate. For the answer of a read, it compares
// the part that begins with the columns. For a fault, it compares the whole envelope.
func TestAdHoc(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	tests := []struct {
		name, tool string
		actor      *access.Actor
		args       map[string]any
		status     int
		want       string
	}{
		{name: "read", tool: "graph_query", args: map[string]any{"query": `query q($n: String) { match { $p: Person { name: $n } $p knows $q } return { $q.name } }`, "params": map[string]any{"n": "ada"}},
			want: `"columns":["q.name"],"rows":[{"q.name":"bob"}],"row_count":1,`},
		{name: "by name", tool: "graph_query", args: map[string]any{"query": `query a() { match { $p: Person } return { $p.name } } query b() { match { $p: Person } return { count($p) as n } }`, "name": "b"},
			want: `{"query_name":"b","target":{"branch":"main","snapshot":null},"columns":["n"],"rows":[{"n":3}]`},
		{name: "several", tool: "graph_query", args: map[string]any{"query": `query a() { match { $p: Person } return { $p.name } } query b() { match { $p: Person } return { $p.name } }`}, status: 400,
			want: `{"error":"name: the name is missing, but the text has several queries; choose one of a, b","code":"bad_request"}`},
		{name: "misspelt name", tool: "graph_query", args: map[string]any{"query": `query people() { match { $p: Person } return { $p.name } }`, "name": "peple"}, status: 400,
			want: `{"error":"name: the text does not contain the query peple; did you mean people?","code":"bad_request"}`},
		{name: "empty", tool: "graph_query", args: map[string]any{"query": ` // nothing`}, status: 400, want: `query: the text contains no query`},
		{name: "mutation refused", tool: "graph_query", args: map[string]any{"query": `query m() { insert Person { name: "zoe" } }`}, status: 400,
			// The message to an actor that only reads must not mention a tool that writes.
			want: `{"error":"query: m is a mutation, expected a read","code":"bad_request"}`},
		{name: "mutation refused to a writer", tool: "graph_query", actor: servedtest.Writer, args: map[string]any{"query": `query m() { insert Person { name: "zoe" } }`}, status: 400,
			want: `{"error":"query: m is a mutation, expected a read; run it with graph_mutate","code":"bad_request"}`},
		{name: "read refused", tool: "graph_mutate", actor: servedtest.Writer, args: map[string]any{"query": `query m() { match { $p: Person } return { $p.name } }`}, status: 400,
			want: `query: m is a read, expected a mutation`},
		{name: "parameter", tool: "graph_query", args: map[string]any{"query": `query q($n: I32) { match { $p: Person { age: $n } } return { $p.name } }`, "params": map[string]any{"n": "many"}}, status: 400,
			want: `{"error":"params.n: found the string \"many\", expected an integer from -2147483648 to 2147483647","code":"bad_request"}`},
		{name: "hidden tool", tool: "graph_mutate", args: map[string]any{"query": `query m() { insert Person { name: "zoe" } }`}, status: 404, want: `unknown tool: graph_mutate`},
		{name: "neither", tool: "graph_query", args: map[string]any{}, status: 400, want: `{"error":"query: missing, expected a string","code":"bad_request"}`},
		{name: "both", tool: "graph_query", args: map[string]any{"query": "x", "queries": []any{map[string]any{"query": "x"}}}, status: 400, want: `query: found outside queries, expected inside the elements of queries`},
		{name: "no batch", tool: "graph_query", args: map[string]any{"queries": []any{}}, status: 400, want: `queries: found 0 queries, expected 1 to 16`},
		{name: "mutate", tool: "graph_mutate", actor: servedtest.Writer, args: map[string]any{"query": `query m($n: String) { insert Person { name: $n } insert Knows { from: $n, to: "ada" } }`, "params": map[string]any{"n": "dan"}},
			want: `{"branch":"main","query_name":"m","affected_nodes":1,"affected_edges":1,"actor_id":"act-writer","graph_commit_id":"COMMIT","node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":1,"updated":0,"deleted":0}}`},
		{name: "nothing changed", tool: "graph_mutate", actor: servedtest.Writer, args: map[string]any{"query": `query m() { delete Person where name = "nobody" }`},
			want: `"affected_nodes":0,"affected_edges":0,"actor_id":"act-writer","graph_commit_id":null,"node_changes":{"inserted":0,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"notes":["no Person has name \"nobody\""]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.actor == nil {
				tt.actor = servedtest.Reader
			}
			got, status := call(t, c, g, tt.actor, tt.tool, tt.args)
			if status != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("got  %d %s\nwant %d %s", status, got, tt.status, tt.want)
			}
		})
	}
}

func TestRejected(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t, builtin.All("1")...))
	args, _ := json.Marshal(map[string]any{"query": "query q($n: String) {\n  match { $p: Persn { name: $n } $p nows $q }\n  return { $q.nam }\n}"})
	_, err := g.Call(context.Background(), servedtest.Reader, "graph_query", args, encoding.Options{})
	f := wireerror.Explain(err)
	if envelope.Status(f.Outcome) != 400 || len(f.Body.Diagnostics) == 0 {
		t.Fatalf("got %+v", f)
	}
	golden.Check(t, "testdata/rejected.txt", []byte(f.Body.Message+"\n"))
}

func TestBatch(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	read := `query q($n: String) { match { $p: Person { name: $n } } return { $p.name } }`
	got, status := call(t, c, g, servedtest.Reader, "graph_query", map[string]any{"queries": []any{
		map[string]any{"query": read, "params": map[string]any{"n": "ada"}},
		map[string]any{"query": "query"},
		map[string]any{"qery": read},
		map[string]any{"query": read, "branch": "nope", "params": map[string]any{"n": "ada"}},
		map[string]any{"query": read, "params": map[string]any{"n": "bob"}},
	}})
	if status != 0 {
		t.Fatalf("%d %s", status, got)
	}
	var answer struct {
		Results []struct {
			Rows  []map[string]any
			Error string
			Code  string
		}
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil {
		t.Fatal(err)
	}
	r := answer.Results
	if len(r) != 5 || len(r[0].Rows) != 1 || r[0].Rows[0]["p.name"] != "ada" || len(r[4].Rows) != 1 || r[4].Rows[0]["p.name"] != "bob" {
		t.Errorf("answers: %s", got)
	}
	for i, want := range map[int]string{1: "bad_request", 2: "bad_request", 3: "not_found"} {
		if r[i].Code != want || r[i].Error == "" {
			t.Errorf("result %d: %+v, want %s", i, r[i], want)
		}
	}
}

// TestBatchDenied checks that each query of a batch is authorized separately.
func TestBatchDenied(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	read := `query q() { match { $p: Person } return { $p.name } }`
	got, _ := call(t, c, g, servedtest.Drafter, "graph_query", map[string]any{"queries": []any{
		map[string]any{"query": read}, map[string]any{"query": read, "branch": "trial"},
	}})
	want := `{"results":[{"error":"the policy does not allow read on branch main","code":"forbidden"},{"error":"branch \"trial\" not found","code":"not_found"}]}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBatchLimits checks that the limits apply to a batch as a whole.
func TestBatchLimits(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t, builtin.All("1")...))
	args := `{"queries":[{"query":"query q() { match { $p: Person } return { $p.name } }"},{"query":"query q() { match { $p: Person } return { $p.name } }"}]}`
	answer, err := g.Call(context.Background(), servedtest.Reader, "graph_query", json.RawMessage(args), encoding.Options{MaxRows: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(answer.JSON), `"p.name":`); got != 4 || strings.Count(string(answer.JSON), `"truncated":true`) != 1 || !answer.Truncated {
		t.Errorf("%d rows: %s", got, answer.JSON)
	}
}

// TestExamples compiles the queries shown in the descriptions.
func TestExamples(t *testing.T) {
	schema := servedtest.Schema(t)
	seen := 0
	for _, b := range builtin.Local("1", nil) {
		text := b.Descriptor().Description
		if _, object, ok := strings.Cut(text, "An example: {"); ok {
			object, _, _ = strings.Cut(object, "}.")
			if _, err := b.Decode(json.RawMessage("{" + object + "}")); err != nil {
				t.Errorf("the example of %s: %v", b.Descriptor().Name, err)
			}
			var with struct{ Query string }
			if err := json.Unmarshal([]byte("{"+object+"}"), &with); err != nil {
				t.Errorf("the example of %s: %v", b.Descriptor().Name, err)
			}
			if _, faults := gq.CompileQueries(schema, gq.Source{Name: b.Descriptor().Name, Text: with.Query}); faults.HasErrors() {
				t.Errorf("the example of %s: %v", b.Descriptor().Name, faults)
			}
		}
		for _, start := range regexp.MustCompile(`(?m)^query `).FindAllStringIndex(text, -1) {
			example, _, _ := strings.Cut(text[start[0]:], "\n\n")
			if next := strings.Index(example[1:], "\nquery "); next >= 0 {
				example = example[:next+1]
			}
			seen++
			if _, faults := gq.CompileQueries(schema, gq.Source{Name: b.Descriptor().Name, Text: example}); faults.HasErrors() {
				t.Errorf("%s\n%s", example, faults.Error())
			}
		}
	}
	if seen != 4 {
		t.Errorf("found %d examples, want 4", seen)
	}
}

// TestDescriptors checks that each decoder accepts exactly the members that the input
// schema declares.
func TestDescriptors(t *testing.T) {
	for _, b := range builtin.Local("1", nil) {
		d := b.Descriptor()
		var schema struct {
			Properties           map[string]any
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if d.Title == "" || d.Description == "" || d.OutputSchema == nil || schema.AdditionalProperties == nil || *schema.AdditionalProperties || schema.Required == nil {
			t.Errorf("%s: %+v", d.Name, d)
		}
		if err := errors.Join(schematest.CheckInput(d.InputSchema), schematest.CheckOutput(d.OutputSchema)); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		for name := range schema.Properties {
			if _, err := b.Decode(json.RawMessage(`{"` + name + `":null}`)); err != nil && strings.Contains(err.Error(), "unknown member") {
				t.Errorf("%s does not know %s", d.Name, name)
			}
		}
		_, err := b.Decode(json.RawMessage(`{"zzzzzzzzzzz":1}`))
		if len(schema.Properties) == 0 { // some clients make up a member for such a tool
			if err != nil {
				t.Errorf("%s takes no arguments and refuses one: %v", d.Name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "zzzzzzzzzzz: unknown member") {
			t.Errorf("%s: unknown member: %v", d.Name, err)
			continue
		}
		if _, list, ok := strings.Cut(strings.SplitN(err.Error(), "\n", 2)[0], "known are "); ok {
			for _, name := range strings.Split(list, ", ") {
				if _, ok := schema.Properties[name]; !ok {
					t.Errorf("%s takes %s, which its schema does not show", d.Name, name)
				}
			}
		}
		for _, name := range schema.Required {
			if _, err := b.Decode(nil); err == nil || !strings.Contains(err.Error(), name+": missing") {
				t.Errorf("%s: without %s: %v", d.Name, name, err)
			}
		}
		writes := slices.Contains([]string{"graph_mutate", "graph_load", "branch_create", "branch_delete", "branch_merge", "proposal_submit", "proposal_resolve", "schema_apply", "code_index"}, d.Name)
		harmless := slices.Contains([]string{"branch_create", "proposal_submit", "proposal_resolve"}, d.Name)
		if d.ReadOnly == writes || d.Idempotent == writes || d.Destructive != (writes && !harmless) {
			t.Errorf("%s: read-only %t, idempotent %t, destructive %t", d.Name, d.ReadOnly, d.Idempotent, d.Destructive)
		}
	}
}

// call returns the JSON of an answer and 0, or the error envelope and its status. Commit
// ids are replaced by COMMIT.
func call(t *testing.T, c servedgraph.Config, g *servedgraph.Graph, actor *access.Actor, name string, args map[string]any) (string, int) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := g.Call(context.Background(), actor, name, raw, encoding.Options{CommitIDs: true})
	if err != nil {
		f := wireerror.Explain(err)
		b, _ := json.Marshal(f.Body)
		return string(b), envelope.Status(f.Outcome)
	}
	head, err := c.Graph.Snapshot(context.Background(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(answer.JSON), head.Commit.ID, "COMMIT"), 0
}
