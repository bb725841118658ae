package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestWrites checks which calls a server forwards if it only reads the graph.
func TestWrites(t *testing.T) {
	for _, threshold := range []int{1, 1000} {
		c := servedtest.Config(t, builtin.All("1")...)
		c.MetaThreshold = threshold
		g := servedtest.Graph(t, c)
		writes := map[string]string{}
		for _, q := range c.Catalog.Queries {
			name := q.Info().Name
			if got := g.QueryWrites(name); got != q.Info().Mutation {
				t.Errorf("query %s writes: %t", name, got)
			}
			if threshold == 1 && q.Info().Exposed {
				args, err := json.Marshal(map[string]string{"name": name})
				if err != nil {
					t.Fatal(err)
				}
				if got := g.ToolWrites("stored_query_run", args); got != q.Info().Mutation {
					t.Errorf("stored_query_run of %s writes: %t", name, got)
				}
				writes[map[bool]string{false: "read", true: "write"}[q.Info().Mutation]] = name
			}
		}
		if threshold == 1 && len(writes) != 2 {
			t.Errorf("the catalog needs a read and a mutation, and has %v", writes)
		}
		for name, want := range map[string]bool{"graph_mutate": true, "branch_create": true, "graph_query": false, "stored_query_list": false, "none": false} {
			if got := g.ToolWrites(name, nil); got != want {
				t.Errorf("tool %s writes: %t", name, got)
			}
		}
		if g.QueryWrites("none") || g.ToolWrites("stored_query_run", []byte(`{"name":"none"}`)) {
			t.Error("an unknown query writes")
		}
	}
}

// TestReach checks when a graph reads its log before a call.
func TestReach(t *testing.T) {
	c := servedtest.Config(t)
	head, err := c.Graph.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	reads, fault := 0, error(nil)
	for name, catchUp := range map[string]func(context.Context) error{"a folder": nil, "a reader": func(context.Context) error { reads++; return fault }} {
		c.CatchUp = catchUp
		g := servedtest.Graph(t, c)
		for _, step := range []struct {
			commit string
			reads  int // how often the log must be read, if this server only reads the graph
			found  bool
		}{{head.Commit.ID, 0, true}, {servedgraph.Latest, 1, true}, {unknown, 1, false}} {
			reads = 0
			err := g.Reach(t.Context(), step.commit)
			var missing *engine.NotFound
			if step.found != (err == nil) || !step.found && !errors.As(err, &missing) || catchUp != nil && reads != step.reads {
				t.Errorf("%s: commit %s: %v after %d reads of the log, want found %t after %d", name, step.commit, err, reads, step.found, step.reads)
			}
		}
	}
	fault = &engine.Unavailable{Reason: "the storage does not answer"}
	c.CatchUp = func(context.Context) error { return fault }
	for _, commit := range []string{servedgraph.Latest, unknown} {
		if err := servedtest.Graph(t, c).Reach(t.Context(), commit); !errors.Is(err, fault) {
			t.Errorf("commit %s without the storage: %v", commit, err)
		}
	}
}

// TestJudgedByFormerWriter refuses writes, and makes one that changes nothing, on a server that is the writer, on
// one that has been replaced since, and on a reader. Only the first one may judge a write.
func TestJudgedByFormerWriter(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	late := &engine.Unavailable{Reason: "another server writes the graph"}
	var confirmed int
	var role servedgraph.WriteRole
	c.Writing = func(context.Context) servedgraph.WriteRole { return role }
	g := servedtest.Graph(t, c)
	is := func(fault error) func(context.Context) error {
		return func(context.Context) error { confirmed++; return fault }
	}
	for _, server := range []struct {
		name   string
		role   servedgraph.WriteRole
		judges bool
	}{
		{"the writer", servedgraph.WriteRole{Writer: true, Confirm: is(nil)}, true},
		{"a former writer", servedgraph.WriteRole{Writer: true, Confirm: is(late)}, false},
		{"a reader", servedgraph.WriteRole{Confirm: is(late)}, false},
	} {
		role = server.role
		for _, call := range []struct {
			name, tool, args string
			confirms         int // how often the server must confirm that it is the writer
			refused          bool
		}{
			{"deletes a branch that does not exist", "branch_delete", `{"name":"none"}`, 1, true},
			{"writes to a branch that does not exist", "graph_mutate", `{"query":"MUTATION","branch":"none"}`, 1, true},
			{"changes nothing", "graph_mutate", `{"query":"MUTATION"}`, 1, false},
			{"reads a branch that does not exist", "graph_query", `{"query":"READ","branch":"none"}`, 0, true},
		} {
			confirmed = 0
			args := strings.NewReplacer(
				"MUTATION", `query m() { update Person set { age: 1 } where name = \"nobody\" }`, "READ", `query q() { match { $p: Person } return { $p.name as name } }`).Replace(call.args)
			_, err := g.Call(t.Context(), servedtest.Writer, call.tool, []byte(args), encoding.Options{})
			if wanted := call.confirms > 0 && !server.judges && (call.refused || server.role.Writer); wanted != errors.Is(err, late) {
				t.Errorf("%s %s: %v; want the error of a server that does not write: %t", server.name, call.name, err, wanted)
			}
			if server.judges && call.refused != (err != nil) {
				t.Errorf("%s %s: %v", server.name, call.name, err)
			}
			if server.role.Writer && confirmed != call.confirms {
				t.Errorf("%s %s: it was confirmed %d times that the server is the writer, want %d", server.name, call.name, confirmed, call.confirms)
			}
		}
	}
}
