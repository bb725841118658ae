package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// unembedded is a graph that has no embedding provider for the query everyone.
type unembedded struct{ engine.Graph }

func (g unembedded) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	if q.Name == "everyone" {
		return &engine.Unsupported{Construct: "nearest to a text", NoEmbedder: true}
	}
	return g.Graph.Bind(ctx, q, at)
}

// TestLacksProvider calls a query that is left out because the graph has no embedding provider. An
// actor that may invoke the query must get the reason and the setting. For other actors, the query
// must be unknown.
func TestLacksProvider(t *testing.T) {
	const reason = "stored query everyone needs an embedding provider, and the graph has none; an operator can set graphs.people.embedding_provider in cluster.yaml"
	calls := []struct {
		name      string
		threshold int
		call      func(g *servedgraph.Graph, actor *access.Actor) error
	}{
		{"by the query's name", 0, func(g *servedgraph.Graph, actor *access.Actor) error {
			_, err := g.InvokeQuery(t.Context(), actor, "everyone", servedgraph.Invocation{}, encoding.Options{})
			return err
		}},
		{"by the tool's name", 0, func(g *servedgraph.Graph, actor *access.Actor) error {
			_, err := g.Call(t.Context(), actor, "everyone", json.RawMessage(`{}`), encoding.Options{})
			return err
		}},
		{"by the tool that runs queries", 1, func(g *servedgraph.Graph, actor *access.Actor) error {
			_, err := g.Call(t.Context(), actor, metatools.RunQuery, json.RawMessage(`{"name": "everyone"}`), encoding.Options{})
			return err
		}},
	}
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			c := servedtest.Config(t)
			c.Graph, c.MetaThreshold = unembedded{c.Graph}, tt.threshold
			g := servedtest.Graph(t, c)
			err := tt.call(g, servedtest.Reader)
			if err == nil || err.Error() != reason {
				t.Errorf("found %v, want %s", err, reason)
			}
			if fault := wireerror.Explain(err); fault.Outcome != wireerror.OfRequest || fault.Body.Message != reason {
				t.Errorf("clients receive %+v", fault)
			}
			if err := tt.call(g, servedtest.Bot); err == nil || errors.As(err, new(*engine.Unsupported)) {
				t.Errorf("an actor that may not invoke the query gets %v", err)
			}
			var left []string
			for _, q := range g.LeftOut() {
				left = append(left, q.Name+": "+q.Reason)
			}
			if len(left) != 2 || !strings.Contains(left[0], "everyone: nearest to a text needs an embedding provider, and the graph has none; an operator can set graphs.people.embedding_provider") {
				t.Errorf("left out: %q", left)
			}
		})
	}
}
