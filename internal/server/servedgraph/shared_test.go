package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
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
