package servedgraph_test

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestQueriesAreThoseListed checks that texts for an actor name exactly the stored queries in the
// actor's list of tools.
func TestQueriesAreThoseListed(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t))
	for _, actor := range []*access.Actor{servedtest.Writer, servedtest.Reader, servedtest.Bot, servedtest.Drafter, servedtest.Nobody} {
		listed, err := g.Tools(t.Context(), actor)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, d := range listed {
			want = append(want, d.Name)
		}
		for _, q := range g.SeenQueries(t.Context(), actor) {
			got = append(got, q.Descriptor().Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: texts may name %v, the list has %v", actor.ID, got, want)
		}
	}
}
