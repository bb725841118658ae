package server_test

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/handle"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// deadlines sends every request of the matrix with a deadline. The engine always takes longer than
// the deadline.
func (m *restMatrix) deadlines(seen *envelopes) {
	t := m.t
	store := filepath.Join(t.TempDir(), "people")
	makePeople(t, store)
	inner, err := embedded.Open(t.Context(), fs.OS(), store, embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	slow := slowed(inner)
	t.Cleanup(func() { slow.Close() })
	g, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "people", Graph: slow, Catalog: servedtest.Catalog(t), Authorizer: policy.Unrestricted("people"), Version: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	received, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": g}, rest.Options{Server: policy.Unrestricted(""), Uploads: map[string]*uploads.Store{"people": received}})
	gate := &auth.Authenticator{Log: slog.New(slog.DiscardHandler), Verifiers: []auth.Verifier{matrixTokens(t)}}
	s := serveMatrix(t, gate.Require(cut(h)))
	for i := range restRows {
		row := &restRows[i]
		if routeOf(row.route).Elsewhere || strings.HasPrefix(row.route, "GET /graphs/{id}/audit") {
			continue // these routes never wait for a graph; the graph has no audit trail
		}
		slow.stuck.Store(false)
		x := s.of(row, "main")
		slow.stuck.Store(true)
		x.header.Set("X-Timeout-Ms", "30")
		want := http.StatusServiceUnavailable
		if row.quick {
			want = cmp.Or(row.served, http.StatusOK)
		}
		seen.check(t, row.name(), "a deadline", s.send("the-token-of-act-admin", x), want)
		x.header.Del("X-Timeout-Ms")
		x.header.Set(cutHeader, "now")
		seen.check(t, row.name(), "a stop of the server", s.send("the-token-of-act-admin", x), want)
		x.header.Set("X-Timeout-Ms", "soon")
		seen.check(t, row.name(), "a deadline that is none", s.send("the-token-of-act-admin", x), http.StatusBadRequest)
	}
}

// cutHeader marks a request whose context the function cut cancels, as a stopping server would
// cancel it.
const cutHeader = "Test-Cut"

func cut(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(cutHeader) != "" {
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// slowGraph is a graph. While its field stuck is set, each of its calls blocks until the context of
// the call ends.
type slowGraph struct {
	handle.Graph
	inner engine.Graph
	stuck atomic.Bool
}

// slowed returns a slowGraph that is not stuck.
func slowed(inner engine.Graph) *slowGraph {
	g := &slowGraph{inner: inner}
	g.Graph = handle.Of(g)
	return g
}

// Call implements [handle.Opener].
func (g *slowGraph) Call(ctx context.Context, _ handle.Access, call func(engine.Graph) error) error {
	if g.stuck.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return call(g.inner)
}

func (g *slowGraph) Stats() engine.Stats { return g.inner.Stats() }

func (g *slowGraph) Failure() error { return g.inner.Failure() }

func (g *slowGraph) MustReopen() bool { return g.inner.MustReopen() }

func (g *slowGraph) Close() error { return g.inner.Close() }
