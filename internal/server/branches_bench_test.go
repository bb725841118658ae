package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// manyBranches serves a graph with n branches in addition to main. It uses the policy of the
// tests of package policy, with the decision cache.
func manyBranches(t testing.TB, n int) *servedgraph.Graph {
	t.Helper()
	ctx := context.Background()
	c := servedtest.Config(t, builtin.All("1")...)
	schema, err := c.Graph.Schema(ctx, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(ctx, fs.NewMem(), "many", schema.Source, schema.Catalog, embedded.Options{MaxBranches: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	for i := range n {
		if _, err := g.CreateBranch(ctx, fmt.Sprintf("team/%05d", i), engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Read("policy/testdata/team.yaml", policy.Options{Graph: "people", Queries: []string{"find_user", "list_orders", "drop_orders"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Graph, c.Authorizer = g, p
	return servedtest.Graph(t, c)
}

// TestToolsOfManyBranches checks that the policy decides as often for 2,000 branches as for
// two.
func TestToolsOfManyBranches(t *testing.T) {
	const n = 2000
	g := manyBranches(t, n)
	for _, id := range []string{"act-ada", "act-wil", "act-kay", "act-nobody"} {
		actor := &access.Actor{ID: id, Source: "token"}
		if _, err := g.Tools(t.Context(), actor); err != nil {
			t.Fatal(err)
		}
		// Only the names may cost an allocation per branch: an engine.Branch and a string each.
		most := 400.0
		if got := testing.AllocsPerRun(5, func() {
			if _, err := g.Tools(t.Context(), actor); err != nil {
				t.Fatal(err)
			}
		}); got > most+2*n {
			t.Errorf("the tools of %s take %v allocations", id, got)
		}
	}
}

// BenchmarkTools lists the tools on a graph with 10,000 branches, and looks up a tool that the
// actor may not see. The actors are a reader, a writer and one without rights.
func BenchmarkTools(b *testing.B) {
	g := manyBranches(b, 10_000)
	for _, id := range []string{"act-ada", "act-wil", "act-nobody"} {
		actor := &access.Actor{ID: id, Source: "token"}
		b.Run("list/"+id, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Tools(b.Context(), actor); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("lookup/"+id, func(b *testing.B) {
			for b.Loop() {
				_, _ = g.Lookup(b.Context(), actor, "branch_list")
			}
		})
	}
}
