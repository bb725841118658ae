package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// callerQueries are stored queries that use their callers.
const callerQueries = `
query mine($than: I32?) @description("Lists the people of my groups.") {
  match { $p: Person  $p.name in actor().groups  $p.age > $than? }
  return { $p.name as name } order { name }
}
query older() @description("Lists who is older than I am.") {
  match { $p: Person  $p.age > actor().age  $p.name starts_with "p" }
  return { $p.name as name, actor().id as me } order { name }
}
query join() @description("Adds me.") {
  insert Person { name: actor().id, tags: actor().groups, age: actor().age }
}
`

// callerGraph returns a graph of the embedded engine with these queries.
func callerGraph(t *testing.T, claims plan.Claims) *servedgraph.Graph {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Catalog = &tool.Catalog{Queries: servedtest.Queries(t, callerQueries)}
	c.Claims = claims
	c = stored(t, c)
	load(t, c.Graph, people(9)) // p00000 to p00008, whose ages are 0 to 8
	return servedtest.Graph(t, c)
}

// member is a writer with groups and an age; a negative age is none.
func member(age int, groups ...string) *access.Actor {
	a := &access.Actor{ID: servedtest.Writer.ID, Groups: groups}
	if age >= 0 {
		a.Claims = map[string]value.Value{"age": value.OfI32(int32(age))}
	}
	return a
}

// TestCaller asks stored queries and texts that use their caller, as several actors.
func TestCaller(t *testing.T) {
	g := callerGraph(t, servedtest.Claims)
	agent := member(6, "p00001")
	agent.Agents = []access.Agent{{ID: "act-bot", Groups: []string{"p00003"}}}
	const text = "query q($than: I32?) { match { $p: Person  $p.name in actor().groups  $p.age > $than? } return { $p.name as name } order { name } }"
	names := func(names ...string) string {
		for i, n := range names {
			names[i] = `{"name":"` + n + `"}`
		}
		return strings.Join(names, "\n")
	}
	for _, tt := range []struct {
		name  string
		actor *access.Actor
		tool  string
		args  map[string]any
		want  string // the rows, the code of the first fault of the text, or the beginning of the error
	}{
		{"stored", member(-1, "p00001", "p00003", "nobody"), "mine", nil, names("p00001", "p00003")},
		{"stored, as another", member(-1, "p00004"), "mine", nil, names("p00004")},
		{"stored, without groups", member(-1), "mine", nil, ""},
		{"stored, with a parameter", member(-1, "p00001", "p00003"), "mine", map[string]any{"params": map[string]any{"than": 1}}, names("p00003")},
		{"an agent", agent, "mine", nil, names("p00001")},
		{"text", member(-1, "p00001", "p00003"), "graph_query", map[string]any{"query": text, "params": map[string]any{"than": 2}}, names("p00003")},
		{"text, as another", member(-1, "p00004"), "graph_query", map[string]any{"query": text}, names("p00004")},
		{"a claim", member(7), "older", nil, `{"name":"p00008","me":"act-writer"}`},
		{"without the claim", member(-1), "older", nil, ""},
		{"the caller as an argument", member(-1, "p00001"), "mine", map[string]any{"params": map[string]any{"actor().groups": []string{"p00002"}}}, "params.actor().groups: unknown parameter"},
		{"the groups as an argument", member(-1, "p00001"), "mine", map[string]any{"params": map[string]any{"groups": []string{"p00002"}}}, "params.groups: unknown parameter"},
		{"an unknown claim", member(-1), "graph_query", map[string]any{"query": "query q() { match { $p: Person { name: actor().team } } return { $p.name } }"}, "T44"},
	} {
		a, err := ask(g, tt.actor, tt.tool, tt.args, encoding.Options{})
		got := ""
		var rejected *wireerror.Rejected
		switch {
		case errors.As(err, &rejected):
			got = string(rejected.Diagnostics[0].Code)
		case err != nil:
			got = "error: " + err.Error()
		default:
			got = a.text()
		}
		if got != tt.want && !(err != nil && tt.want != "" && strings.HasPrefix(got, "error: "+tt.want)) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestCallerPages reads the second page after the groups of the caller changed. The pages of two callers must not mix.
func TestCallerPages(t *testing.T) {
	g := callerGraph(t, servedtest.Claims)
	enc := encoding.Options{MaxRows: 1}
	first, err := ask(g, member(-1, "p00001", "p00003"), "mine", nil, enc)
	if err != nil || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	more := map[string]any{"page_token": first.Next}
	if _, err := ask(g, member(-1, "p00001", "p00003", "p00005"), "mine", more, enc); err == nil || !strings.Contains(err.Error(), "your groups or claims have changed since") {
		t.Errorf("with other groups: %v", err)
	}
	second, err := ask(g, member(5, "p00001", "p00003"), "mine", more, enc)
	if err != nil || second.text() != `{"name":"p00003"}` {
		t.Errorf("with the same groups: %+v, %v", second, err)
	}
}

// TestCallerWrites runs a mutation that writes who the caller is, and repeats it under its key, with other groups.
func TestCallerWrites(t *testing.T) {
	g := callerGraph(t, servedtest.Claims)
	if _, err := g.Call(context.Background(), member(44, "a", "b"), "join", json.RawMessage(`{"idempotency_key": "once"}`), encoding.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Call(context.Background(), member(45, "c"), "join", json.RawMessage(`{"idempotency_key": "once"}`), encoding.Options{}); err != nil {
		t.Errorf("the repeated call: %v", err)
	}
	a, err := ask(g, servedtest.Writer, "graph_query", map[string]any{"query": "query q() { match { $p: Person { name: actor().id } } return { $p.age as age, $p.tags as tags } }"}, encoding.Options{})
	if err != nil || a.text() != `{"age":44,"tags":["a","b"]}` {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestCallerMisfit leaves out queries whose claims the server does not map.
func TestCallerMisfit(t *testing.T) {
	for name, claims := range map[string]plan.Claims{"none": nil, "of another type": {"age": value.Of(value.String).Optional()}} {
		g := callerGraph(t, claims)
		var out []string
		for _, l := range g.LeftOut() {
			out = append(out, l.Name)
			if !strings.Contains(l.Reason, "actor().age") {
				t.Errorf("%s: %s: %s", name, l.Name, l.Reason)
			}
		}
		if got := strings.Join(out, " "); got != "older join" {
			t.Errorf("%s: left out %s", name, got)
		}
	}
}

// TestCallerWithoutArguments runs a query that uses its caller on a graph, as a Go program can, with and without a caller.
func TestCallerWithoutArguments(t *testing.T) {
	q := servedtest.Queries(t, callerQueries)[0].Plan()
	c := stored(t, servedtest.Config(t))
	var bad *engine.BadArgument
	if _, err := c.Graph.Query(t.Context(), q, engine.Args{value.Null}, engine.Target{}); !errors.As(err, &bad) || bad.Param != "actor().groups" {
		t.Errorf("without a caller: %v", err)
	}
	caller := tool.Caller{Groups: []string{"Ada"}}
	r, err := c.Graph.Query(t.Context(), q, caller.With(q.Params, engine.Args{value.Null}), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}
