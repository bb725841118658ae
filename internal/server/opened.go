package server

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
)

// openGraph is an open graph with the provider of vectors with which it was opened.
type openGraph struct {
	engine.Graph
	embedder engine.Embedder // may be nil
}

// openGraphs are the open graphs of a server. They stay open while the server serves one revision after the other.
type openGraphs struct {
	mu      sync.Mutex
	byID    map[string]openGraph // guarded by mu
	closing sync.WaitGroup       // the graphs that left the revision and are being closed
}

// add adds a graph.
func (o *openGraphs) add(id string, g openGraph) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]openGraph{}
	}
	o.byID[id] = g
}

// of returns a graph, or the zero value.
func (o *openGraphs) of(id string) openGraph {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id]
}

// graph returns an open graph, or nil.
func (o *openGraphs) graph(id string) engine.Graph { return o.of(id).Graph }

// keep closes the graphs that are not in a list. Calls that still use them end first. It returns
// their ids; the function `closed` is called after each was closed.
func (o *openGraphs) keep(ids []string, closed func(id string, err error)) (left []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, g := range o.byID {
		if slices.Contains(ids, id) {
			continue
		}
		delete(o.byID, id)
		left = append(left, id)
		o.closing.Go(func() { closed(id, g.Close()) })
	}
	return left
}

// close closes all graphs.
func (o *openGraphs) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(o.byID)) {
		errs = append(errs, o.byID[id].Close())
	}
	o.byID = nil
	return errors.Join(errs...)
}
