package server_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// held is a stored query whose calls block until the test releases them.
type held struct {
	tool.StoredQuery
	begun chan<- struct{}
	let   <-chan struct{}
}

func (h *held) Params() []plan.Param {
	h.begun <- struct{}{}
	<-h.let
	return h.StoredQuery.Params()
}

// withHeld returns a catalog. The calls of one of its queries block until they are released.
func withHeld(c *tool.Catalog, name string, begun chan<- struct{}, let <-chan struct{}) *tool.Catalog {
	with := &tool.Catalog{Graph: c.Graph, SchemaDigest: c.SchemaDigest, SourceDigest: c.SourceDigest}
	for _, q := range c.Queries {
		if q.Info().Name == name {
			q = &held{q, begun, let}
		}
		with.Queries = append(with.Queries, q)
	}
	return with
}

// TestAdmission fills the slots of an actor with calls that block. Over both transports, the server
// must refuse one more call of that actor with the error envelope, and must serve the calls of
// other actors.
func TestAdmission(t *testing.T) {
	begun, let := make(chan struct{}), make(chan struct{})
	ts := newServer(t, mayList(t), func(o *server.Options) {
		o.Cluster.Server.Limits = cluster.Limits{PerActorInflight: 2, RequestTimeout: time.Minute}
		o.Catalogs = []*tool.Catalog{withHeld(o.Catalogs[0], "most_called", begun, let)}
	})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if a := ts.ask(t, "POST", "/graphs/code/queries/most_called", `{}`); a.status != http.StatusOK {
				t.Errorf("a call that was held got %d %s", a.status, a.body)
			}
		})
		<-begun
	}
	for _, path := range []string{"/graphs/code/mcp", "/graphs/code/query", "/graphs"} {
		a := ts.ask(t, "POST", path, toolCall("find_symbols", `{"params":{"words":"shelf"}}`))
		var e client.Envelope
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != 429 || e.Code != client.CodeTooManyRequests || a.header.Get("Retry-After") != "1" || a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: got %d %v %s", path, a.status, a.header, a.body)
		}
	}
	if a := ts.ask(t, "GET", "/graphs/code/schema", "", "Authorization", "Bearer the-token-of-act-ada"); a.status != http.StatusOK {
		t.Errorf("another actor got %d %s", a.status, a.body)
	}
	got := ts.metrics(t) // requests for metrics skip admission, although the actor is the same
	if got["omnigraph_admission_refused_total{reason=actor}"] != 3 || got["omnigraph_admission_requests{}"] != 2 || got["omnigraph_admission_actors{}"] != 1 {
		t.Errorf("the metrics of admission are %v", got)
	}
	close(let)
	wg.Wait()
	if a := ts.ask(t, "GET", "/graphs/code/schema", ""); a.status != http.StatusOK {
		t.Errorf("when they are done the actor got %d %s", a.status, a.body)
	}
}
