package hostcheck

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// The methods that browsers may use across origins, the headers that they may send, and the headers
// of answers that they may read. The headers are those of the REST and MCP surfaces that are not on
// the CORS safelists.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, " +
		"Idempotency-Key, Omnigraph-If-Graph-Commit, Omnigraph-At-Least, Omnigraph-Integers, X-Timeout-Ms, X-Request-Id, Traceparent, If-Match, If-None-Match, Range, If-Range, Last-Event-ID"
	exposedHeaders = "ETag, X-Request-Id, WWW-Authenticate, Retry-After, Deprecation, Link, Content-Range, Accept-Ranges, Omnigraph-Data-Age"
)

// refuse answers 403 with message.
func refuse(w http.ResponseWriter, message string) {
	envelope.Write(w, envelope.New(wireerror.OfPolicy, client.CodeForbidden, message))
}

// preflight answers a CORS preflight request. Such a request has no credentials, so it must be
// answered before authentication.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
