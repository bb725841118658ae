package servedgraph_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// step is a call over MCP and a part of the expected answer, or of the expected error as JSON. Both
// in the call and in the expected text, HEAD, FIRST and DRAFT stand for commits.
type step struct {
	name  string
	actor *access.Actor
	tool  string
	args  string
	want  string
}

// said makes the call and returns its answer, or its error as JSON.
func (s *step) said(g *servedgraph.Graph, commits *strings.Replacer) string {
	got, err := g.Call(context.Background(), s.actor, s.tool, json.RawMessage(commits.Replace(s.args)), g.ForModel())
	if err != nil {
		b, _ := encoding.JSON(wireerror.Explain(err).Body)
		return string(b)
	}
	return string(got.JSON)
}

func head(t testing.TB, c servedgraph.Config, branch string) string {
	t.Helper()
	s, err := c.Graph.Snapshot(context.Background(), engine.Target{Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return s.Commit.ID
}

func TestOptions(t *testing.T) {
	for name, over := range engines {
		t.Run(name, func(t *testing.T) {
			c := over(t, servedtest.Config(t, builtin.All("1")...))
			ctx := context.Background()
			first := head(t, c, "")
			if _, err := c.Graph.CreateBranch(ctx, "draft", engine.Target{}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Graph.Load(ctx, strings.NewReader(`{"type":"Person","data":{"name":"dan"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "draft"}}); err != nil {
				t.Fatal(err)
			}
			draft := head(t, c, "draft")
			load(t, c.Graph, `{"type":"Person","data":{"name":"eve"}}`)
			g := servedtest.Graph(t, c)
			w, r, d := servedtest.Writer, servedtest.Reader, servedtest.Drafter
			count := `"query":"query q() { match { $p: Person } return { count($p) as n } }"`
			add := `"query":"query add($n: String) { insert Person { name: $n } }"`
			both := `found together with branch, expected only one of them`
			for _, s := range []step{
				// Snapshots show old commits unchanged, under the policy of the branch they
				// were made on.
				{"the head", r, "graph_query", `{` + count + `}`, `"target":{"branch":"main","snapshot":null},"columns":["n"],"rows":[[4]]`},
				{"a snapshot", r, "graph_query", `{` + count + `,"snapshot":"FIRST"}`, `"target":{"branch":null,"snapshot":"FIRST"},"columns":["n"],"rows":[[3]],"row_count":1,"graph_commit_id":"FIRST"}`},
				{"of a batch", r, "graph_query", `{"queries":[{` + count + `,"snapshot":"FIRST"},{` + count + `,"snapshot":"FIRST","branch":"main"},{` + count + `,"branch":"draft"}]}`,
					`"rows":[[3]],"row_count":1,"graph_commit_id":"FIRST"},{"error":"snapshot: ` + both},
				{"beside queries", r, "graph_query", `{"queries":[{` + count + `}],"snapshot":"FIRST"}`, `snapshot: found outside queries`},
				{"stored", r, "everyone", `{"snapshot":"FIRST"}`, `"row_count":3,"graph_commit_id":"FIRST"`},
				{"with a branch", r, "everyone", `{"snapshot":"FIRST","branch":"main"}`, both},
				{"inside", r, "everyone", `{"params":{"snapshot":"FIRST"}}`, `params.snapshot: unknown parameter; put it next to \"params\", not inside`},
				{"no commit", r, "everyone", `{"snapshot":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, `commit \"01ARZ3NDEKTSV4RRFFQ69G5FAV\" not found`},
				{"made on main", d, "everyone", `{"snapshot":"FIRST"}`, `the policy does not allow read on branch main`},
				{"made on the draft", d, "everyone", `{"snapshot":"DRAFT"}`, `"row_count":4,"graph_commit_id":"DRAFT"`},
				{"ad hoc, made on main", d, "graph_query", `{` + count + `,"snapshot":"FIRST"}`, `the policy does not allow read on branch main`},
				{"no commit, no grant", d, "everyone", `{"snapshot":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, `the policy does not allow read on branch main`},

				// A dry run reports what would change and changes nothing.
				{"dry run", w, "add_person", `{"params":{"name":"fay"},"dry_run":true}`, `"affected_nodes":1,"affected_edges":0,"actor_id":"act-writer","graph_commit_id":null,"dry_run":true`},
				{"ad hoc", w, "graph_mutate", `{` + add + `,"params":{"n":"fay"},"dry_run":"true"}`, `"graph_commit_id":null,"dry_run":true`},
				{"of a load", w, "graph_load", `{"mode":"merge","data":"{\"type\":\"Person\",\"data\":{\"name\":\"fay\"}}","dry_run":true}`, `"total_entities":1,`},
				{"nothing came of them", r, "graph_query", `{` + count + `}`, `"rows":[[4]]`},
				{"dry run with a fault", w, "graph_load", `{"mode":"append","data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}","dry_run":true}`, `"code":"conflict"`},

				// Preconditions.
				{"elsewhere", w, "add_person", `{"params":{"name":"fay"},"if_commit":"FIRST"}`, `not at FIRST; read it again","precondition_failure":{"expected":"FIRST","actual":"HEAD"}}`},
				{"ad hoc, elsewhere", w, "graph_mutate", `{` + add + `,"params":{"n":"fay"},"if_commit":"FIRST"}`, `"precondition_failure":`},
				{"a load, elsewhere", w, "graph_load", `{"mode":"merge","data":"","if_commit":"FIRST"}`, `"precondition_failure":`},
				{"there", w, "add_person", `{"params":{"name":"fay"},"if_commit":"HEAD"}`, `"affected_nodes":1`},

				// An option that does not apply gives an error with the reason.
				{"snapshot of a mutation", w, "add_person", `{"params":{"name":"x"},"snapshot":"FIRST"}`, `snapshot: does not apply to a mutation; a mutation writes to the head of a branch`},
				{"page of a mutation", w, "graph_mutate", `{` + add + `,"page_token":"x"}`, `page_token: does not apply to a mutation; a mutation returns no rows`},
				{"page of a load", w, "graph_load", `{"mode":"merge","data":"","page_token":"x"}`, `page_token: does not apply to a mutation`},
				{"dry run of a read", r, "everyone", `{"dry_run":true}`, `dry_run: does not apply to a read; a read changes nothing`},
				{"key of a read", r, "graph_query", `{` + count + `,"idempotency_key":"x"}`, `idempotency_key: does not apply to a read`},
				{"precondition of a read", r, "everyone", `{"if_commit":"FIRST"}`, `if_commit: does not apply to a read; to read a commit, use snapshot`},
				{"what says nothing is absent", r, "everyone", `{"if_commit":"","dry_run":false,"snapshot":"","branch":"","page_token":"","params":{}}`, `"row_count":`},
				{"null is absent", r, "everyone", `{"if_commit":null,"dry_run":null,"snapshot":null,"branch":null,"page_token":null}`, `"row_count":`},
			} {
				now := head(t, c, "")
				got := s.said(g, strings.NewReplacer("FIRST", first, "DRAFT", draft, "HEAD", now))
				got = strings.NewReplacer(first, "FIRST", draft, "DRAFT", now, "HEAD").Replace(got)
				if !strings.Contains(got, s.want) {
					t.Errorf("%s:\n got %s\nwant %s", s.name, got, s.want)
				}
			}
		})
	}
}

// TestReplays sends calls again with the same idempotency key. Each must get the same answer, byte
// for byte, and must not change the graph again.
func TestReplays(t *testing.T) {
	for name, over := range engines {
		t.Run(name, func(t *testing.T) {
			c := over(t, servedtest.Config(t, builtin.All("1")...))
			g := servedtest.Graph(t, c)
			none := strings.NewReplacer()
			for _, s := range []step{
				{tool: "add_person", args: `{"params":{"name":"gus"},"idempotency_key":"k1"}`},
				{tool: "graph_mutate", args: `{"query":"query add($n: String) { insert Person { name: $n } }","params":{"n":"jan"},"idempotency_key":"k2"}`},
				{tool: "graph_load", args: `{"mode":"append","data":"{\"type\":\"Person\",\"data\":{\"name\":\"kim\"}}","idempotency_key":"k3"}`},
			} {
				s.actor = servedtest.Writer
				first := s.said(g, none)
				between := step{actor: s.actor, tool: "add_person", args: `{"params":{"name":"hal"}}`}
				between.said(g, none)
				now := head(t, c, "")
				again := s.said(g, none)
				if first != again || strings.Contains(first, `"error"`) || head(t, c, "") != now {
					t.Errorf("%s: at first %s, then %s", s.tool, first, again)
				}
				other := s
				other.args = strings.NewReplacer("gus", "ida", "jan", "ida", "kim", "ida").Replace(s.args)
				if got := other.said(g, none); !strings.Contains(got, `"code":"conflict"`) {
					t.Errorf("%s with other arguments: %s", s.tool, got)
				}
			}
		})
	}
}
