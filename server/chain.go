package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/server/admit"
	"github.com/omnigraph-go/omnigraph/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/observe"
	"github.com/omnigraph-go/omnigraph/server/request"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// What a request meets, in this order: what follows it, the guard, authentication, and
// then admission, which counts by actor. Metrics and readiness are asked for past the
// admission: they are wanted most when nothing else is admitted.

// The patterns of the routes that are not REST's.
const (
	metricsRoute = "/metrics"
	mcpRoute     = "/graphs/{id}/mcp"
)

// probes are the paths that are asked for every few seconds by what watches the server.
var probes = []string{"/healthz", readyPath, metricsRoute}

// admissionWait is how long a request waits for its turn.
const admissionWait = 100 * time.Millisecond

// maxBody is the largest body that any route reads, in bytes.
const maxBody = 32 << 20

// newGate makes the admission of the configured limits, whose refusals and load are
// among the metrics.
func newGate(l cluster.Limits, set *observe.Set) *admit.Gate {
	gate := admit.New(admit.Options{
		PerActor: l.PerActorInflight, Total: l.TotalInflight, Bytes: l.BodyBytes, MaxBody: maxBody, Wait: admissionWait,
		Refused: func(r admit.Reason) { set.Refused(string(r)) },
	})
	set.Admitted(func() observe.Admission {
		l := gate.Load()
		return observe.Admission{Requests: l.Requests, Waiting: l.Waiting, Actors: l.Actors, Bytes: l.Bytes}
	})
	return gate
}

// identified notes who a request is from, answers at the paths of watched, and passes on
// what is admitted of everything else.
func identified(next http.Handler, gate *admit.Gate, watched map[string]http.Handler) http.Handler {
	admitted := gate.Wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rec := request.From(r.Context()); rec != nil {
			if actor := service.ActorFrom(r.Context()); actor != nil {
				rec.Actor = actor.ID
			}
			rec.Route = "/" // until a route is known
		}
		if h, ok := watched[r.URL.Path]; ok {
			routed(r, r.URL.Path)
			h.ServeHTTP(w, r)
			return
		}
		admitted.ServeHTTP(w, r)
	})
}

// routed notes the pattern of the route that a request took, without the method that a
// mux has in front of it.
func routed(r *http.Request, pattern string) {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	if rec := request.From(r.Context()); rec != nil && pattern != "" {
		rec.Route = pattern
	}
}

// granted lets those pass that may list the graphs: metrics name all of them.
func granted(next http.Handler, overall service.Authorizer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant := tool.Grant{Action: tool.GraphList}
		if !overall.Allowed(service.ActorFrom(r.Context()), grant) {
			envelope.Write(w, service.Explain(&service.Forbidden{Action: grant.Action}))
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			envelope.Write(w, envelope.New(http.StatusMethodNotAllowed, service.MethodNotAllowed, "found "+r.Method+", wanted GET"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
