package rest

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/rest/envelope"
	"github.com/omnigraph-go/omnigraph/server/tool"
	"github.com/omnigraph-go/omnigraph/server/wireerror"
)

// Readiness is the answer of /readyz: whether the server serves everything in its
// configuration.
type Readiness struct {
	Status      string `json:"status" jsonschema:"enum=ready,enum=not_ready" jsonschema_description:"not_ready, with status 503, while a graph is quarantined or refuses writes because its storage fails, and once the server is told to stop."`
	Graphs      int    `json:"graphs" jsonschema_description:"How many graphs are served."`
	Quarantined int    `json:"quarantined" jsonschema_description:"How many graphs could not be opened."`
	LeftOut     int    `json:"left_out" jsonschema_description:"How many stored queries do not fit the live schema of their graph."`

	Detail *ReadinessDetail `json:"detail,omitempty" jsonschema_description:"Only for an actor with graph_list."`
}

// ReadinessDetail names the graphs and queries that a Readiness counts, with reasons.
type ReadinessDetail struct {
	Revision *uint64          `json:"revision" jsonschema_description:"The applied revision that the server booted from; null for none."`
	Pending  []string         `json:"pending" jsonschema_description:"What cluster.yaml says and nobody has applied."`
	Graphs   []GraphReadiness `json:"graphs"`
}

// GraphReadiness is the state of one graph.
type GraphReadiness struct {
	GraphID string         `json:"graph_id"`
	Status  string         `json:"status" jsonschema:"enum=serving,enum=failing,enum=quarantined"`
	Reason  string         `json:"reason,omitempty" jsonschema_description:"Why it is failing or quarantined."`
	Drift   bool           `json:"drift" jsonschema_description:"Its live schema is not the one that the revision says was applied."`
	LeftOut []LeftOutQuery `json:"left_out"`
}

// LeftOutQuery is a stored query that is not served.
type LeftOutQuery struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// The values of Readiness.Status and GraphReadiness.Status.
const (
	StatusReady       = "ready"
	StatusNotReady    = "not_ready"
	StatusServing     = "serving"
	StatusFailing     = "failing" // refuses writes; the server recovers by itself
	StatusQuarantined = "quarantined"
)

// Ready serves the readiness that now returns, with status 200 if it is ready and 503 if not.
// Only actors to whom server grants graph_list see its detail.
func Ready(now func() Readiness, server access.Authorizer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			envelope.Write(w, envelope.New(wireerror.WrongMethod, wireerror.MethodNotAllowed, "found "+req.Method+", wanted "+http.MethodGet))
			return
		}
		answer, status := now(), http.StatusOK
		if actor := access.ActorFrom(req.Context()); actor == nil || !server.Allowed(actor, tool.Grant{Action: tool.GraphList}) {
			answer.Detail = nil
		}
		if answer.Status != StatusReady {
			status = http.StatusServiceUnavailable
		}
		b, err := encoding.JSON(answer)
		if err != nil {
			panic(err) // strings and numbers always encode
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(b) // fails only if the client has gone away
	})
}
