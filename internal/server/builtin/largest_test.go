package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestLargestAnswers checks that no built-in tool answers with more than max_bytes. An
// answer that is too large is either refused with advice on what to do, or truncated and
// marked as such.
func TestLargestAnswers(t *testing.T) {
	const most = 600
	c := servedtest.Config(t, builtin.All("1")...)
	c.Limits = servedgraph.Limits{MaxBytes: most}
	g := servedtest.Graph(t, c)
	ask := func(name string, arguments map[string]any) (string, error) {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := g.Call(t.Context(), servedtest.Writer, name, raw, g.ForModel())
		if err != nil {
			return "", err
		}
		return string(answer.JSON), nil
	}
	for i := range 20 {
		if _, err := ask("branch_create", args{"name": fmt.Sprintf("branch-%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	var people strings.Builder
	for i := range 50 {
		fmt.Fprintf(&people, `{"type":"Person","data":{"name":"somebody-%d","tags":["a","b"]}}`+"\n", i)
	}
	if _, err := ask("graph_load", args{"data": people.String(), "mode": "merge"}); err != nil {
		t.Fatal(err)
	}
	head, err := c.Graph.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	var queries, schema, columns strings.Builder
	for i := range 60 {
		fmt.Fprintf(&queries, "query q%d($unused: I32) { match { $p: Person $p.age = $p.age } return { $p.name } }\n", i)
		fmt.Fprintf(&schema, "node Type%d { name: String @key }\n", i)
		fmt.Fprintf(&columns, "$p.name as c%d ", i)
	}
	wide := "query " + strings.Repeat("q", most) + "() { match { $p: Person } return { " + columns.String() + " } }"
	tests := map[string][]struct {
		args    args
		refused string // a piece of the error if the answer is too large
		answer  string // a piece of the answer if it fits
	}{
		"graph_health":   {{args: args{}, answer: `"`}},
		"gq_reference":   {{args: args{"topic": "traversal"}, refused: "ask for another topic"}},
		"type_describe":  {{args: args{"name": "Person"}, refused: "describe one type by its name"}},
		"type_path":      {{args: args{"from": "Person", "to": "Person", "max_hops": 4}, answer: `"paths"`}},
		"schema_get":     {{args: args{}, answer: `"schema_source"`}},
		"query_validate": {{args: args{"query": queries.String()}, refused: "validate fewer queries at once"}, {args: args{"query": strings.Repeat(";", 100)}, answer: `"more":100,"report":"cut: `}},
		"query_explain":  {{args: args{"query": wide}, refused: "explain a query with fewer clauses and columns"}},
		"graph_query":    {{args: args{"query": "query q() { match { $p: Person } return { $p.name, $p.tags } }"}, answer: `"truncated_by":"bytes"`}},
		"graph_snapshot": {{args: args{}, answer: `"`}},
		"branch_list":    {{args: args{}, refused: "set a smaller limit"}},
		"commit_list":    {{args: args{"limit": 1}, answer: `"commits"`}},
		"commit_get":     {{args: args{"commit": head.Commit.ID}, answer: `"`}},
		"change_list":    {{args: args{"commit": head.Commit.ID}, answer: `"next_page_token"`}},
		"graph_mutate":   {{args: args{"query": `query m() { insert Person { name: "x" } }`}, answer: `"affected_nodes":1`}},
		"graph_load":     {{args: args{"data": people.String(), "mode": "merge", "dry_run": true}, answer: `"total_entities":50`}},
		"branch_create":  {{args: args{"name": "other"}, answer: `"`}},
		"branch_delete":  {{args: args{"name": "branch-1"}, answer: `"`}},
		"branch_merge":   {{args: args{"source": "branch-2"}, answer: `"`}},
		"schema_apply": {
			{args: args{"schema": servedtest.Source + schema.String(), "dry_run": true}, refused: "change through its configuration"},
		},
	}
	for _, tool := range builtin.All("1") {
		name := tool.Descriptor().Name
		if len(tests[name]) == 0 {
			t.Errorf("%s has no row here", name)
		}
		for _, test := range tests[name] {
			answer, err := ask(name, test.args)
			if test.refused != "" {
				var large *wireerror.Oversize
				if err == nil || !strings.Contains(err.Error(), test.refused) || strings.Contains(err.Error(), "…/") || name != "schema_apply" && !errors.As(err, &large) {
					t.Errorf("%s: %v %.300s, wanted %s", name, err, answer, test.refused)
				}
				continue
			}
			// The limit applies up to the last row of a read; the rest of the answer is
			// extra.
			if bound := most + 400; err != nil || len(answer) > bound || !json.Valid([]byte(answer)) || !strings.Contains(answer, test.answer) {
				t.Errorf("%s: %d bytes, %v: %.1800s\nwanted at most %d with %s", name, len(answer), err, answer, bound, test.answer)
			}
		}
	}
}

// TestCutSteps checks that the steps of a schema are cut if they do not fit, and that the
// answer still gives the total number of steps.
func TestCutSteps(t *testing.T) {
	a := &operations.SchemaApplyResult{StepCount: 1000}
	for i := range 1000 {
		a.Steps = append(a.Steps, operations.SchemaApplyStep{Step: fmt.Sprintf("add node Type%d", i)})
	}
	a.Cut(10_000)
	b, err := encoding.JSON(a)
	if err != nil || len(b) > 10_000 || len(a.Steps) < 50 || !strings.Contains(string(b), `"step_count":1000`) {
		t.Errorf("%d steps, %d bytes, %v", len(a.Steps), len(b), err)
	}
}

// TestBatchTexts checks that the limit on texts applies to all texts of a call together.
func TestBatchTexts(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	half := "query q() { match { $p: Person } return { $p.name } } //" + strings.Repeat("x", textlimit.Max/2)
	got, status := call(t, c, g, servedtest.Reader, "graph_query", args{"queries": []args{{"query": half}, {"query": half}}})
	if want := fmt.Sprintf("bytes of queries: %d is more than the limit of %d", 2*len(half), textlimit.Max); status != 413 || !strings.Contains(got, want) {
		t.Errorf("%d %.300s, wanted %s", status, got, want)
	}
	if got, status := call(t, c, g, servedtest.Reader, "graph_query", args{"queries": []args{{"query": half}}}); status != 0 {
		t.Errorf("one half: %d %.300s", status, got)
	}
	for _, name := range []string{"graph_query", "query_validate", "query_explain"} {
		got, status := call(t, c, g, servedtest.Reader, name, args{"query": half + half})
		if want := fmt.Sprintf("bytes of query: %d is more than the limit of %d", 2*len(half), textlimit.Max); status != 413 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %.300s, wanted %s", name, status, got, want)
		}
	}
}
