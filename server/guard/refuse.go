package guard

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// The headers that browsers may send and read across origins: those of the REST and
// MCP surfaces that are not on the browsers' own safe lists.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, " +
		"Idempotency-Key, Omnigraph-If-Graph-Commit, X-Timeout-Ms, X-Request-Id, Traceparent, If-None-Match, Range, If-Range"
	exposedHeaders = "ETag, X-Request-Id, WWW-Authenticate, Retry-After, Deprecation, Link, Content-Range, Accept-Ranges"
)

// refuse answers that a request may not come this way.
func refuse(w http.ResponseWriter, message string) {
	envelope.Write(w, envelope.New(http.StatusForbidden, service.Denied, message))
}

// preflight answers a browser's question whether it may send a request. It comes
// without credentials, so it never gets as far as authentication.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
