package main

import (
	"math"
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// store is an open store.
type store struct {
	engine.Graph
	served *servedgraph.Graph // checks the policy
	actor  *access.Actor      // who makes the calls
}

// newLocal returns a source for a store. It calls the handler of REST in this process, without the limits that a server
// has.
func newLocal(s *store) (*source, error) {
	api := rest.Handler(map[string]*servedgraph.Graph{s.served.ID(): s.served}, rest.Options{MaxBody: math.MaxInt64, MaxText: math.MaxInt64, MaxLoad: math.MaxInt64})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), s.actor)))
	})
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: handler}}), client.WithNumbers())
	if err != nil {
		return nil, err
	}
	return &source{client: c, graph: c.Graph(s.served.ID()), store: s}, nil
}
