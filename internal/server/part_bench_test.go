package server_test

import (
	"log/slog"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// BenchmarkPart runs a stored lookup under a policy without filters, and under one that filters another actor.
func BenchmarkPart(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy access.Authorizer
	}{
		{"no filters", policy.Unrestricted("people")},
		{"filters of others", &partly{Policy: policy.Unrestricted("people"), rights: &engine.Rights{Digest: "r"}}},
	} {
		config := servedtest.Config(b)
		config.Authorizer, config.Logger = c.policy, slog.New(slog.DiscardHandler)
		g := servedtest.Graph(b, config)
		actor := &access.Actor{ID: "act-admin"}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a, err := g.InvokeQuery(b.Context(), actor, "find_person", servedgraph.Invocation{Params: []byte(`{"name":"ada"}`)}, encoding.Options{})
				if err != nil {
					b.Fatal(err)
				}
				a.Release()
			}
		})
	}
}
