package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func served(t testing.TB) *servedgraph.Graph {
	return servedtest.Graph(t, servedtest.Config(t, builtin.All("1.2.3")...))
}

func TestTools(t *testing.T) {
	g := served(t)
	var reads, all []string // names of the built-in tools
	for _, b := range builtin.All("1") {
		d := b.Descriptor()
		all = append(all, d.Name)
		if d.ReadOnly {
			reads = append(reads, d.Name)
		}
	}
	stored := " lookup_person everyone add_person"
	tests := []struct {
		actor *access.Actor
		want  string
	}{
		{servedtest.Writer, strings.Join(all, " ") + stored},
		{servedtest.Reader, strings.Join(reads, " ") + stored},
		{servedtest.Looker, strings.Join(reads, " ") + " lookup_person everyone"},
		{servedtest.Bot, "graph_health lookup_person"},
		// Drafter may do everything on some branch, although nothing on main.
		{servedtest.Drafter, strings.Join(all, " ") + stored},
		{servedtest.Nobody, "graph_health"},
		{nil, "graph_health"},
	}
	for _, tt := range tests {
		descs, err := g.Tools(context.Background(), tt.actor)
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(descs))
		seen := map[string]bool{}
		for i, d := range descs {
			names[i] = d.Name
			seen[d.Name] = true
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%+v sees\n%s, want\n%s", tt.actor, got, tt.want)
		}
		// Exactly the listed tools can be looked up.
		for _, d := range append(g.Descriptors(), &tool.Descriptor{Name: "secret"}, &tool.Descriptor{Name: "find_person"}, &tool.Descriptor{Name: "misfit"}) {
			_, err := g.Lookup(context.Background(), tt.actor, d.Name)
			var unknown *wireerror.UnknownTool
			if seen[d.Name] != (err == nil) || err != nil && !errors.As(err, &unknown) {
				t.Errorf("%+v looks up %s: %v", tt.actor, d.Name, err)
			}
		}
	}
}

func TestLeftOut(t *testing.T) {
	out := served(t).LeftOut()
	if len(out) != 1 || out[0].Name != "misfit" || !strings.Contains(out[0].Reason, "height") {
		t.Errorf("left out: %+v", out)
	}
}

// TestNameClash serves a stored query whose tool has the name of a built-in one, and two with one tool.
func TestNameClash(t *testing.T) {
	c := servedtest.Config(t)
	c.Builtins = append(builtin.All("1"), queryrun.Tool{StoredQuery: c.Catalog.Queries[0]})
	clashing := c.Catalog.Queries[0].Info().Name
	g, err := servedgraph.NewGraph(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if out := g.LeftOut(); !slices.ContainsFunc(out, func(l servedgraph.LeftOut) bool {
		return l.Name == clashing && strings.Contains(l.Reason, "built-in tool lookup_person") && strings.Contains(l.Reason, "cluster apply")
	}) {
		t.Errorf("left out: %+v, want %s", out, clashing)
	}
	c = servedtest.Config(t)
	c.Catalog.Queries = append(c.Catalog.Queries, renamed{c.Catalog.Queries[0]})
	if _, err := servedgraph.NewGraph(context.Background(), c); err == nil || !strings.Contains(err.Error(), "lookup_person") {
		t.Errorf("two queries with one tool: %v", err)
	}
}

// renamed is a stored query with another name.
type renamed struct{ tool.StoredQuery }

func (r renamed) Info() *tool.QueryInfo {
	info := *r.StoredQuery.Info()
	info.Name = "renamed"
	return &info
}

// TestCall compares answers byte for byte. The golden files have complete answers.
func TestCall(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	g := servedtest.Graph(t, c)
	ctx := context.Background()
	tests := []struct {
		name   string
		actor  *access.Actor
		tool   string
		args   string
		enc    encoding.Options
		want   string // part of the answer, with commit ids replaced by COMMIT
		status int    // of the expected fault, or 0; want is then the fault's body
	}{
		{name: "stored", actor: servedtest.Bot, tool: "lookup_person", args: `{"params":{"name":"ada"}}`,
			want: `{"query_name":"find_person","target":{"branch":"main","snapshot":null},"columns":["p.name","p.age"],"rows":[{"p.name":"ada","p.age":36}],"row_count":1,"graph_commit_id":"COMMIT"}`},
		{name: "optional filter", actor: servedtest.Bot, tool: "lookup_person", args: `{"params":{"name":"ada","min":"37"},"branch":null}`,
			want: `{"query_name":"find_person","target":{"branch":"main","snapshot":null},"columns":["p.name","p.age"],"rows":[],"row_count":0,"graph_commit_id":"COMMIT"}`},
		{name: "a note", actor: servedtest.Reader, tool: "lookup_person", args: `{"params":{"name":"ADA"}}`,
			want: `"rows":[],"row_count":0,"graph_commit_id":"COMMIT","notes":["no Person has name \"ADA\"; near it: \"ada\""]}`},
		{name: "a note on a condition, as the key exists", actor: servedtest.Reader, tool: "lookup_person", args: `{"params":{"name":"ada","min":"37"}}`,
			want: `"rows":[],"row_count":0,"graph_commit_id":"COMMIT","notes":["no Person $p meets the condition on age, with those before it"]}`},
		{name: "no note without read via adhoc", actor: servedtest.Bot, tool: "lookup_person", args: `{"params":{"name":"ADA"}}`,
			want: `"rows":[],"row_count":0,"graph_commit_id":"COMMIT"}`},
		{name: "rows cut", actor: servedtest.Reader, tool: "everyone", enc: encoding.Options{MaxRows: 2},
			want: `"row_count":2,"graph_commit_id":"COMMIT","truncated":true,"truncated_by":"rows","next_page_token":"`},
		{name: "rows just fit", actor: servedtest.Reader, tool: "everyone", enc: encoding.Options{MaxRows: 3},
			want: `"row_count":3,"graph_commit_id":"COMMIT"}`},
		{name: "bytes cut", actor: servedtest.Reader, tool: "everyone", enc: encoding.Options{MaxBytes: 600},
			want: `"row_count":1,"graph_commit_id":"COMMIT","truncated":true,"truncated_by":"bytes","next_page_token":"`},
		{name: "cut by the limit of the query", actor: servedtest.Reader, tool: "graph_query", args: `{"query":"query q() { match { $p: Person } return { $p.name } limit 1 }"}`, enc: encoding.Options{MaxRows: 3, Refuse: true},
			want: `"row_count":1,"graph_commit_id":"COMMIT","truncated":true,"truncated_by":"limit"}`},
		{name: "refused", actor: servedtest.Reader, tool: "everyone", enc: encoding.Options{MaxRows: 2, Refuse: true}, status: 413,
			want: `"resource_limit":{"resource":"rows","limit":2,"actual":3}}`},
		{name: "unknown", actor: servedtest.Reader, tool: "nope", status: 404, want: `{"error":"unknown tool: nope","code":"not_found"}`},
		{name: "hidden", actor: servedtest.Writer, tool: "secret", status: 404, want: `{"error":"unknown tool: secret","code":"not_found"}`},
		{name: "denied", actor: servedtest.Bot, tool: "everyone", status: 404, want: `{"error":"unknown tool: everyone","code":"not_found"}`},
		{name: "misspelt", actor: servedtest.Reader, tool: "everyon", status: 404, want: `{"error":"unknown tool: everyon; did you mean everyone?","code":"not_found"}`},
		{name: "misspelt and denied", actor: servedtest.Bot, tool: "everyon", status: 404, want: `{"error":"unknown tool: everyon","code":"not_found"}`},
		{name: "misspelt branch", actor: servedtest.Reader, tool: "graph_snapshot", args: `{"branch":"mian"}`, status: 404,
			want: `{"error":"branch \"mian\" not found; did you mean main?","code":"not_found"}`},
		{name: "misspelt branch that the actor may not read", actor: servedtest.Drafter, tool: "graph_snapshot", args: `{"branch":"mian"}`, status: 404,
			want: `{"error":"branch \"mian\" not found","code":"not_found"}`},
		{name: "too deep", actor: servedtest.Reader, tool: "type_describe", args: `{"input":{"name":"Person"}}`, status: 400,
			want: `{"error":"input: unknown member; put its members in its place","code":"bad_request"}`},
		{name: "too deep and unknown", actor: servedtest.Reader, tool: "type_describe", args: `{"input":{"size":1}}`, status: 400,
			want: `{"error":"input: unknown member; known are branch, name","code":"bad_request"}`},
		{name: "too high", actor: servedtest.Reader, tool: "query_explain", args: `{"query":"query q($n: String) { match { $p: Person { name: $n } } return { $p.name } }","n":"ada"}`, status: 400,
			want: `{"error":"n: unknown member; put it inside \"params\"","code":"bad_request"}`},
		{name: "not a parameter", actor: servedtest.Reader, tool: "query_explain", args: `{"query":"query q($nick: String) { match { $p: Person { name: $nick } } return { $p.name } }","n":"ada"}`, status: 400,
			want: `{"error":"n: unknown member; known are analyze, branch, name, params, query","code":"bad_request"}`},
		{name: "inner denied", actor: servedtest.Reader, tool: "add_person", args: `{"params":{"name":"dan"}}`, status: 403,
			want: `{"error":"the policy does not allow change on branch main","code":"forbidden"}`},
		{name: "denied here", actor: servedtest.Drafter, tool: "graph_snapshot", status: 403,
			want: `{"error":"the policy does not allow read on branch main","code":"forbidden"}`},
		{name: "no branch", actor: servedtest.Drafter, tool: "graph_snapshot", args: `{"branch":"b"}`, status: 404,
			want: `{"error":"branch \"b\" not found","code":"not_found"}`},
		{name: "bad argument", actor: servedtest.Bot, tool: "lookup_person", args: `{"params":{"nam":"ada"}}`, status: 400,
			want: `{"error":"params.nam: unknown parameter; did you mean name?\nparams.name: missing, expected a string","code":"bad_request"}`},
		{name: "parameters at the top", actor: servedtest.Bot, tool: "lookup_person", args: `{"name":"ada"}`,
			want: `{"query_name":"find_person","target":{"branch":"main","snapshot":null},"columns":["p.name","p.age"],"rows":[{"p.name":"ada","p.age":36}],"row_count":1,"graph_commit_id":"COMMIT"}`},
		{name: "branch inside", actor: servedtest.Bot, tool: "lookup_person", args: `{"params":{"name":"ada","branch":"b"}}`, status: 400,
			want: `{"error":"params.branch: unknown parameter; put it next to \"params\", not inside","code":"bad_request"}`},
		{name: "mutation", actor: servedtest.Writer, tool: "add_person", args: `{"params":{"name":"dan"}}`, enc: encoding.Options{CommitIDs: true},
			want: `{"branch":"main","query_name":"add_person","affected_nodes":1,"affected_edges":0,"actor_id":"act-writer","graph_commit_id":"COMMIT","node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0}}`},
		{name: "load conflict", actor: servedtest.Writer, tool: "graph_load", args: `{"mode":"append","data":"{\"type\":\"Person\",\"data\":{\"name\":\"ada\"}}"}`, status: 409,
			want: `"code":"conflict","key_conflict":{"entity_kind":"node","type_name":"Person","id":"ada"},"line_faults":[{"line":1,`},
		{name: "load", actor: servedtest.Writer, tool: "graph_load", args: `{"mode":"merge","data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}"}`, enc: encoding.Options{CommitIDs: true},
			want: `{"branch":"main","base_branch":null,"branch_created":false,"mode":"merge","nodes":[{"name":"Person","entities_loaded":1}],"edges":[],"total_entities":1,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"graph_commit_id":"COMMIT","actor_id":"act-writer"}`},
		{name: "bad line", actor: servedtest.Writer, tool: "graph_load", args: `{"mode":"merge","data":"{\"type\":\"Nope\",\"data\":{}}"}`, status: 400,
			want: `"code":"bad_request","line_faults":[{"line":1,"field":"type",`},
		{name: "mode", actor: servedtest.Writer, tool: "graph_load", args: `{"mode":"merg","data":""}`, status: 400,
			want: `{"error":"mode: found the string \"merg\", expected one of merge, patch, append, overwrite, sync; did you mean merge?","code":"bad_request"}`},
		{name: "branches", actor: servedtest.Reader, tool: "branch_list", want: `{"heads":[{"name":"main","graph_commit_id":"COMMIT","actor_id":`},
		{name: "schema", actor: servedtest.Reader, tool: "schema_get", want: `{"schema_source":"node Person {`},
		{name: "health", actor: servedtest.Nobody, tool: "graph_health", want: `{"status":"ok","version":"1.2.3","schema_digest":"sha256:`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := g.Call(ctx, tt.actor, tt.tool, json.RawMessage(tt.args), tt.enc)
			var got []byte
			switch {
			case err != nil && tt.status == 0:
				t.Fatal(err)
			case err != nil:
				f := wireerror.Explain(err)
				if envelope.Status(f.Outcome) != tt.status {
					t.Errorf("status %d, want %d", envelope.Status(f.Outcome), tt.status)
				}
				got, _ = json.Marshal(f.Body)
			case tt.status != 0:
				t.Fatalf("no fault but %s", answer.JSON)
			default:
				got = answer.JSON
			}
			if !json.Valid(got) {
				t.Errorf("no JSON: %s", got)
			}
			head, err := c.Graph.Snapshot(ctx, engine.Target{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(string(got), head.Commit.ID, "COMMIT"); !strings.Contains(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestEncoding(t *testing.T) {
	g := served(t)
	var all []byte
	for _, enc := range []encoding.Options{{}, {SafeIntegers: true}} {
		answer, err := g.Call(context.Background(), servedtest.Reader, "everyone", nil, enc)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, strings.ReplaceAll(strings.ReplaceAll(string(answer.JSON), answer.Commit, "COMMIT"), `},{`, "},\n{")...), '\n')
	}
	golden.Check(t, "testdata/everyone.json", all)
}

func TestInvokeQuery(t *testing.T) {
	g := served(t)
	ctx := context.Background()
	yes, no := true, false
	tests := []struct {
		name, query string
		actor       *access.Actor
		in          servedgraph.Invocation
		status      int
	}{
		{"exposed", "find_person", servedtest.Bot, servedgraph.Invocation{Params: json.RawMessage(`{"name":"ada"}`)}, 0},
		{"hidden", "secret", servedtest.Reader, servedgraph.Invocation{}, 0},
		{"a read", "secret", servedtest.Reader, servedgraph.Invocation{ExpectMutation: &no}, 0},
		{"no mutation", "secret", servedtest.Reader, servedgraph.Invocation{ExpectMutation: &yes}, 400},
		{"by tool name", "lookup_person", servedtest.Writer, servedgraph.Invocation{}, 404},
		{"denied", "everyone", servedtest.Bot, servedgraph.Invocation{}, 404},
		{"left out", "misfit", servedtest.Writer, servedgraph.Invocation{}, 404},
		{"inner denied", "add_person", servedtest.Reader, servedgraph.Invocation{Params: json.RawMessage(`{"name":"x"}`)}, 403},
		{"argument", "find_person", servedtest.Bot, servedgraph.Invocation{}, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.InvokeQuery(ctx, tt.actor, tt.query, tt.in, encoding.Options{})
			status := 0
			if err != nil {
				status = envelope.Status(wireerror.Explain(err).Outcome)
			}
			if status != tt.status {
				t.Errorf("got %d (%v), want %d", status, err, tt.status)
			}
		})
	}
}

// hostile is a graph. Its queries fail in ways that a client must not see.
type hostile struct {
	engine.Graph
	err error
}

func (h *hostile) Snapshot(context.Context, engine.Target) (*engine.Snapshot, error) {
	if h.err == nil {
		panic("path /var/lib/secret")
	}
	return nil, h.err
}

// stuck is an engine. Its method Snapshot blocks until the context ends.
type stuck struct{ engine.Graph }

func (stuck) Snapshot(ctx context.Context, _ engine.Target) (*engine.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeout(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Graph = stuck{c.Graph}
	c.Limits.Timeout = time.Millisecond
	g := servedtest.Graph(t, c)
	_, err := g.Call(context.Background(), servedtest.Reader, "graph_snapshot", nil, encoding.Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that never ends: %v", err)
	}
}

func TestOperationalFaults(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
	}{
		{nil, 500},
		{errors.New("open /var/lib/secret: i/o error"), 500},
		{&engine.Corrupt{Object: "/var/lib/secret", Detail: "bad sum"}, 500},
		{&engine.Indeterminate{Err: errors.New("/var/lib/secret")}, 500},
		{&engine.Indeterminate{Err: &engine.Unavailable{Reason: "/var/lib/secret"}}, 500},
		{&engine.Unavailable{Reason: "/var/lib/secret is locked"}, 503},
		{context.DeadlineExceeded, 503},
		{context.Canceled, 503},
	} {
		var log strings.Builder
		c := servedtest.Config(t, builtin.All("1")...)
		c.Graph = &hostile{c.Graph, tt.err}
		c.Logger = textLogger(&log)
		g := servedtest.Graph(t, c)
		_, err := g.Call(context.Background(), servedtest.Reader, "graph_snapshot", nil, encoding.Options{})
		f := g.Report(context.Background(), err)
		body, _ := json.Marshal(f.Body)
		if !f.Operational || envelope.Status(f.Outcome) != tt.status || strings.Contains(string(body), "secret") {
			t.Errorf("%v: got %d %s", tt.err, envelope.Status(f.Outcome), body)
		}
		if unsure := strings.Contains(f.Body.Message, "may or may not have it"); unsure != errors.As(tt.err, new(*engine.Indeterminate)) {
			t.Errorf("%v: got %s", tt.err, f.Body.Message)
		}
		_, id, _ := strings.Cut(f.Body.Message, "(id ")
		id = strings.TrimSuffix(id, ")")
		if len(id) < 10 || !strings.Contains(log.String(), id) {
			t.Errorf("%v: the log does not name %q: %s", tt.err, id, log.String())
		}
		if !errors.Is(tt.err, context.DeadlineExceeded) && !errors.Is(tt.err, context.Canceled) && !strings.Contains(log.String(), "secret") {
			t.Errorf("%v: the log does not tell the cause: %s", tt.err, log.String())
		}
	}
}
