package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/admission"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// A request passes these layers in this order: the request observer, the host check,
// authentication, and admission. Admission comes after authentication because it counts requests by
// actor. Requests for metrics and readiness skip admission, because operators need them most when
// the server is full.

// The patterns of the routes outside the REST API.
const (
	metricsRoute = "/metrics"
	mcpRoute     = "/graphs/{id}/mcp"
)

// probes are the paths that monitoring polls every few seconds.
var probes = []string{"/healthz", readyPath, metricsRoute}

// admissionWait is how long a request waits for a free slot before it is refused.
const admissionWait = 100 * time.Millisecond

// maxBody is the size limit of a request body that the server holds in memory, in bytes.
const maxBody = 32 << 20

// newLimiter returns the admission limiter for the configured limits. It reports refusals and load
// to the metrics.
func newLimiter(l cluster.Limits, set *observe.Set) *admission.Limiter {
	limiter := admission.New(admission.Options{
		PerActor: l.PerActorInflight, Total: l.TotalInflight, Bytes: l.BodyBytes, MaxBody: maxBody, Streamed: rest.IsStreamed, Wait: admissionWait,
		Refused: func(r admission.Reason) { set.Refused(string(r)) },
	})
	set.Admitted(func() observe.Admission {
		l := limiter.Load()
		return observe.Admission{Requests: l.Requests, Waiting: l.Waiting, Actors: l.Actors, Bytes: l.Bytes}
	})
	return limiter
}

// newSubscriptionLimiter returns the limiter for streams of events. A stream lasts for hours, so it must
// not take one of the few slots for requests.
func newSubscriptionLimiter(l cluster.Limits, set *observe.Set) *admission.Limiter {
	return admission.New(admission.Options{
		PerActor: l.PerActorSubscriptions, Total: l.TotalSubscriptions, MaxBody: maxBody, Counted: "open subscriptions",
		Refused: func(admission.Reason) { set.Refused(string(admission.BySubscriptions)) },
	})
}

// limiters are the two limiters of admission.
type limiters struct {
	requests      *admission.Limiter // for all other requests
	subscriptions *admission.Limiter // for streams of events
}

// set sets the limits.
func (l *limiters) set(to cluster.Limits) {
	l.requests.SetLimits(to.PerActorInflight, to.TotalInflight, to.BodyBytes)
	l.subscriptions.SetLimits(to.PerActorSubscriptions, to.TotalSubscriptions, 0)
}

// wrap passes each request through the limiter that counts it.
func (l *limiters) wrap(next http.Handler) http.Handler {
	requests, subscriptions := l.requests.Wrap(next), l.subscriptions.Wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest.IsSubscription(r) || mcp.IsSubscription(r) {
			subscriptions.ServeHTTP(w, r)
			return
		}
		requests.ServeHTTP(w, r)
	})
}

// withActor records the actor of a request. It serves the paths in the map `watched` directly, and
// passes all other requests through admission to the handler `next`.
func withActor(next http.Handler, limit *limiters, watched map[string]http.Handler) http.Handler {
	admitted := limit.wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rec := requestinfo.From(r.Context()); rec != nil {
			if actor := access.ActorFrom(r.Context()); actor != nil {
				rec.Actor, rec.Agents = actor.ID, strings.Join(actor.AgentIDs(), " ")
			}
			rec.Route = "/" // replaced when the router sets the route
		}
		if h, ok := watched[r.URL.Path]; ok {
			recordRoute(r, r.URL.Path)
			h.ServeHTTP(w, r)
			return
		}
		admitted.ServeHTTP(w, r)
	})
}

// recordRoute records the pattern of the route that serves a request, without the method prefix of
// a ServeMux pattern.
func recordRoute(r *http.Request, pattern string) {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	if rec := requestinfo.From(r.Context()); rec != nil && pattern != "" {
		rec.Route = pattern
	}
}

// requireGraphList requires the right to list graphs, because the metrics name all graphs.
func requireGraphList(next http.Handler, overall access.Authorizer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := access.RequireServer(overall, access.ActorFrom(r.Context()), tool.GraphList); err != nil {
			envelope.Write(w, wireerror.Explain(err))
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			envelope.Write(w, envelope.New(wireerror.WrongMethod, client.CodeMethodNotAllowed, "found "+r.Method+", expected GET"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
