package main

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// local is the graph of a store. Every operation goes through the served graph, which checks the
// policy.
type local struct {
	*remote
	store  engine.Graph       // the open store
	served *servedgraph.Graph // checks the policy
	actor  *access.Actor      // who makes the calls
}

// call runs, on the local graph, an operation that a server offers too. It decodes the answer into
// `answer`, which must be a pointer.
func (l *local) call(ctx context.Context, name string, call tool.Call, answer any) error {
	a, err := l.served.Do(ctx, l.actor, name, call, encoding.Options{})
	if err != nil {
		return err
	}
	return json.Unmarshal(a.JSON, answer)
}

// runOptions converts the options of a write.
func runOptions(opts engine.WriteOptions) queryrun.Options {
	return queryrun.Options{DryRun: opts.DryRun, IdempotencyKey: opts.IdempotencyKey, IfCommit: opts.IfCommit}
}

// newLocal returns a source for an open store. It calls the handler of REST in this process, without the limits that a
// server has.
func newLocal(g engine.Graph, served *servedgraph.Graph, actor *access.Actor) (*local, error) {
	rest := rest.Handler(map[string]*servedgraph.Graph{served.ID(): served}, rest.Options{MaxBody: math.MaxInt64, MaxText: math.MaxInt64, MaxLoad: math.MaxInt64})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	})
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: handler}}), client.WithNumbers())
	if err != nil {
		return nil, err
	}
	return &local{remote: &remote{client: c, graph: c.Graph(served.ID()), here: true}, store: g, served: served, actor: actor}, nil
}

// Close implements [source].
func (l *local) Close() error { return l.store.Close() }
