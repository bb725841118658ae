package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// readyPath is the path of the readiness probe. Anyone may call it; the detail in its answer
// depends on the caller.
const readyPath = "/readyz"

// boot holds the graphs that a server serves of a revision and the graphs that it quarantined.
// Only `drifted` changes later.
type boot struct {
	revision    *reconcile.Revision  // nil when no revision is applied
	pending     []string             // messages: differences between cluster.yaml and the applied revision
	served      []*servedgraph.Graph // the graphs that opened, or that open with their first use
	quarantined []quarantined        // the graphs that did not open

	mu      sync.Mutex
	drifted map[string]bool // by graph id: the graph's schema differed from the applied one when it was opened; guarded by mu
}

// quarantined is a graph that could not be opened. The server does not open it again before the
// next revision or the next start.
type quarantined struct {
	id  string
	err error // why the graph could not be opened
}

// unopened marks an error that the stored data of a graph caused. The server quarantines such a
// graph. Every other error is a fault of the configuration and keeps the server from starting.
type unopened struct{ error }

// Unwrap returns the error that is marked.
func (e unopened) Unwrap() error { return e.error }

// boot opens the graphs of the applied revision, with the settings of cluster.yaml. If some graphs
// cannot be opened and at least one other graph can, boot quarantines the graphs that cannot. Graphs
// in shared storage are opened with their first use, unless RequireAll is set or no revision is applied.
func (s *Server) boot(ctx context.Context, o *Options, mode auth.Mode, revision *reconcile.Revision, first bool) (*boot, error) {
	b, graphs, err := s.graphsToServe(o, revision)
	if err != nil {
		return nil, err
	}
	if err := addApplied(o, b.revision); err != nil {
		return nil, err
	}
	var failures []error
	for _, c := range graphs {
		g, err := s.open(ctx, o, c, mode, b)
		var data unopened
		var held *engine.Unavailable // by the apply that made the graph
		switch {
		case err == nil:
			b.served = append(b.served, g)
			continue
		case ctx.Err() != nil, o.RequireAll, !errors.As(err, &data), !first && errors.As(err, &held):
			return nil, fmt.Errorf("graph %s: %w", c.ID, err)
		}
		failures = append(failures, fmt.Errorf("graph %s: %w", c.ID, err))
		b.quarantined = append(b.quarantined, quarantined{c.ID, err})
	}
	if len(b.served) == 0 {
		if failures == nil {
			failures = append(failures, errors.New("none of the graphs in cluster.yaml is applied; run omnigraph cluster apply"))
		}
		return nil, fmt.Errorf("there is no graph to serve: %w", errors.Join(failures...))
	}
	for _, q := range b.quarantined {
		o.Log.Error("the graph is quarantined: the server answers its requests with 503 until the next apply or start", "graph", q.id, "reason", q.err.Error())
	}
	return b, nil
}

// openWithin calls the function `open`. While another process holds the resource, it calls the
// function again, until the given time: see [Options.Patience]. It compares that time with
// [Options.Now].
func openWithin[T any](ctx context.Context, o *Options, until time.Time, what string, open func() (T, error)) (T, error) {
	const pause = 100 * time.Millisecond
	v, err := open()
	for told := false; o.Now().Before(until); told = true {
		var held *engine.Unavailable
		if err == nil || !errors.As(err, &held) {
			break
		}
		if !told {
			o.Log.Info("waiting for another process to close the files of the graph", "what", what, "reason", held.Reason, "until", until)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return v, errors.Join(ctx.Err(), err)
		}
		v, err = open()
	}
	return v, err
}

// graphsToServe returns the graphs to serve: the graphs that are both in cluster.yaml and in the
// applied revision. Without a revision it returns all graphs of cluster.yaml.
func (s *Server) graphsToServe(o *Options, revision *reconcile.Revision) (*boot, []*cluster.Graph, error) {
	b := &boot{revision: revision, drifted: map[string]bool{}}
	var graphs []*cluster.Graph
	for i := range o.Cluster.Graphs {
		c := &o.Cluster.Graphs[i]
		if revision == nil {
			graphs = append(graphs, c)
			continue
		}
		was := revision.Graph(c.ID)
		if was == nil {
			b.pending = append(b.pending, fmt.Sprintf("graph %s is not applied, so the server does not serve it", c.ID))
			continue
		}
		graphs = append(graphs, c)
		text, err := os.ReadFile(c.Schema)
		if err != nil {
			return nil, nil, err
		}
		if string(text) != was.Source {
			b.pending = append(b.pending, fmt.Sprintf("graph %s: %s differs from the applied schema, which the server uses", c.ID, c.Schema))
		}
		if was.Stored == nil && len(c.QueryFiles) > 0 && catalogOf(o.Catalogs, c.ID) == nil && !o.CompiledOnly {
			b.pending = append(b.pending, fmt.Sprintf("graph %s: its .gq files are not applied, so the server has none of their queries", c.ID))
		}
		if was.Stored == nil || o.CompiledOnly {
			continue
		}
		same, err := was.Stored.SameFiles(o.Cluster, c)
		if err != nil {
			return nil, nil, err
		}
		if !same {
			b.pending = append(b.pending, fmt.Sprintf("graph %s: the .gq files differ from the applied ones, whose queries the server uses", c.ID))
		}
	}
	if revision == nil {
		o.Log.Info("no revision is recorded, so the server serves the graphs that cluster.yaml names; run omnigraph cluster apply to record one")
		return b, graphs, nil
	}
	for _, g := range revision.Graphs {
		if o.Cluster.Graph(g.ID) == nil {
			b.pending = append(b.pending, fmt.Sprintf("graph %s is applied, but not served, because cluster.yaml does not name it", g.ID))
		}
	}
	if len(b.pending) == 0 && revision.HasPolicies() && o.settings != revision.Settings {
		b.pending = append(b.pending, "its text differs from the applied one")
	}
	o.Log.Info("booting from the applied revision", "revision", revision.Number, "config", revision.Config)
	for _, p := range b.pending {
		o.Log.Warn("cluster.yaml has a change that is not applied: "+p, "apply", "omnigraph cluster apply")
	}
	return b, graphs, nil
}

// compare logs a warning when the schema of a graph differs from the schema of the applied
// revision.
func (b *boot) compare(ctx context.Context, o *Options, g *servedgraph.Graph) {
	was := b.revision.Graph(g.ID())
	if was == nil {
		return
	}
	live, err := g.SchemaDigest(ctx)
	if err != nil {
		return // the next call on the graph reports the fault
	}
	b.mu.Lock()
	b.drifted[g.ID()] = live != was.Schema
	b.mu.Unlock()
	if live != was.Schema {
		o.Log.Warn("the schema of the graph differs from the applied schema; the server serves the graph anyway; see omnigraph cluster plan", "graph", g.ID(), "live", live, "applied", was.Schema)
	}
}

// readiness returns the answer of /readyz. A server that drains is not ready, even if it serves
// all of its graphs.
func (s *Server) readiness() client.Readiness {
	r := s.current.Load().readiness(s.tellRole)
	if s.Draining() {
		r.Status = client.StatusNotReady
	}
	if why := s.unserved.Load(); why != nil {
		r.Detail.Pending = append(r.Detail.Pending, *why)
		if s.shared != nil {
			r.Status = client.StatusNotReady // other servers may serve the revision, with another policy
		}
	}
	if err := s.configFault(); err != nil {
		r.Status, r.Detail.Differs = client.StatusNotReady, err.Error()
	}
	return r
}

// readiness returns the answer of /readyz. It calls the function `also` with the readiness of each
// served graph, so that `also` can add to it.
func (b *boot) readiness(also func(*client.GraphReadiness)) client.Readiness {
	b.mu.Lock()
	defer b.mu.Unlock()
	detail := &client.ReadinessDetail{Pending: append([]string{}, b.pending...), Graphs: []client.GraphReadiness{}}
	if b.revision != nil {
		detail.Revision = &b.revision.Number
	}
	r := client.Readiness{Status: client.StatusReady, Graphs: len(b.served), Quarantined: len(b.quarantined), Detail: detail}
	for _, g := range b.served {
		x := client.GraphReadiness{GraphID: g.ID(), Status: client.StatusServing, Drift: b.drifted[g.ID()], LeftOut: []client.LeftOutQuery{}}
		for _, q := range g.LeftOut() {
			x.LeftOut = append(x.LeftOut, client.LeftOutQuery{Name: q.Name, Reason: q.Reason})
		}
		r.LeftOut += len(x.LeftOut)
		if err := g.Failure(); err != nil {
			r.Status, x.Status, x.Reason = client.StatusNotReady, client.StatusFailing, err.Error()
		}
		also(&x)
		detail.Graphs = append(detail.Graphs, x)
	}
	for _, q := range b.quarantined {
		r.Status = client.StatusNotReady
		detail.Graphs = append(detail.Graphs, client.GraphReadiness{GraphID: q.id, Status: client.StatusQuarantined, Reason: q.err.Error(), LeftOut: []client.LeftOutQuery{}})
	}
	return r
}

// refuse answers requests for quarantined graphs and passes all others on to the handler `next`.
// The answer says only that the graph is unavailable; it does not contain the cause.
func (b *boot) refuse(next http.Handler) http.Handler {
	if len(b.quarantined) == 0 {
		return next
	}
	closed := map[string]bool{}
	for _, q := range b.quarantined {
		closed[q.id] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Clients may percent-escape any character of a segment, and the routes accept that.
		segments := strings.SplitN(r.URL.EscapedPath(), "/", 4)
		if len(segments) > 2 {
			graphs, err := url.PathUnescape(segments[1])
			id, also := url.PathUnescape(segments[2])
			if err == nil && also == nil && graphs == "graphs" && closed[id] {
				envelope.Write(w, wireerror.Explain(&engine.Unavailable{Reason: "it is quarantined"}))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
