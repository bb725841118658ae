package hostcheck

import (
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// The methods that browsers may use across origins, the headers that they may send, and the headers
// of answers that they may read. The headers are those of the REST and MCP surfaces that are not on
// the CORS safelists.
const (
	allowedMethods = "GET, HEAD, POST, PATCH, DELETE"
	allowedHeaders = "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Toolsets, Mcp-Session-Id, " +
		"Idempotency-Key, Omnigraph-If-Graph-Commit, Omnigraph-At-Least, Omnigraph-Message, Omnigraph-Integers, X-Timeout-Ms, X-Request-Id, Traceparent, If-Match, If-None-Match, Range, If-Range, Last-Event-ID, " +
		"Tus-Resumable, Upload-Offset, Upload-Length, Upload-Defer-Length"
	exposedHeaders = "ETag, X-Request-Id, WWW-Authenticate, Retry-After, Deprecation, Link, Content-Range, Accept-Ranges, Omnigraph-Data-Age, Location, Upload-Offset, Upload-Length, Mcp-Session-Id"
)

// hostAdvice returns what to do so that the server accepts requests for a host that it refuses. It must
// not name something that the configuration already contains.
func (g *Checker) hostAdvice(hostport string) string {
	host, ok := splitHost(hostport)
	switch {
	case !ok:
		return "send the server's name, or its address, in the Host header"
	case g.loopback && g.public[host]:
		return "server.public_hosts lists it, but has no effect on a server that is bound to loopback; " +
			"let the proxy send Host: localhost, or bind the server to another address with --bind"
	case g.loopback:
		return "it is bound to loopback, so use localhost or 127.0.0.1; behind a proxy, let the proxy send Host: localhost, " +
			"or bind the server to another address with --bind and list the host under server.public_hosts"
	case IsLoopback(host):
		return "use one of the names under server.public_hosts, also from this machine"
	}
	return "use one of the names under server.public_hosts, or list that host there and start the server again"
}

// originAdvice returns what to do so that the server accepts requests from origins that it refuses.
func originAdvice(origins []string) string {
	if len(origins) > 1 {
		return "send one Origin header"
	}
	if _, err := ParseOrigin(origins[0]); err != nil {
		why := "it is not scheme://host[:port]"
		if strings.EqualFold(origins[0], "null") {
			why = "a page from a file or in a sandboxed frame has no origin that could be listed"
		}
		return why + "; open the page from a server whose origin server.browser_origins lists"
	}
	return "list it under server.browser_origins"
}

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
