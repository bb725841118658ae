package auth

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Metadata serves protected resource metadata (RFC 9728). It tells clients without a token from
// which issuer the server accepts tokens. There is one document for the server, one for each graph,
// and one for each graph over MCP.
type Metadata struct {
	Issuer string // the server accepts tokens of this issuer

	// PublicHost is the host under which clients reach the server over https. If it is empty,
	// Metadata uses the Host of the request; the host check then accepts only hosts of this machine.
	PublicHost string

	// Scopes are the scopes that a client should ask the issuer for. They are scope tokens of RFC 6749,
	// so they need no escape in a header.
	Scopes []string

	// Graph reports whether id has the form of a graph id. It does not check whether the graph
	// exists, because clients without a token must not learn that.
	Graph func(id string) bool
}

// wellKnown comes between the host and the path of a resource (RFC 9728, section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// Wrap answers requests for metadata and passes all other requests to the handler `next`.
func (m *Metadata) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), wellKnown)
		if !ok || !m.isResource(path) {
			next.ServeHTTP(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			envelope.Write(w, envelope.New(wireerror.WrongMethod, client.CodeMethodNotAllowed, "found "+r.Method+", expected GET"))
			return
		}
		b, err := json.Marshal(client.ResourceMetadata{
			Resource: m.base(r) + path, Servers: []string{m.Issuer}, Methods: []string{"header"}, Scopes: m.Scopes, Name: "Omnigraph",
		})
		if err != nil {
			panic(err) // cannot happen: all values are strings
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store") // the answer may name the host of the request
		_, _ = w.Write(b)                  // fails only if the client is gone
	})
}

// challenge returns the parameters that WWW-Authenticate has for a client without a valid token: the
// address of the metadata, and the scopes to ask for (RFC 6750, section 3).
func (m *Metadata) challenge(r *http.Request) string {
	params := `, resource_metadata="` + m.url(r) + `"`
	if len(m.Scopes) > 0 {
		params += `, scope="` + strings.Join(m.Scopes, " ") + `"`
	}
	return params
}

// insufficient returns a function that makes the challenge for a token of the request that lacks a scope.
func (m *Metadata) insufficient(r *http.Request) func(scopes []string) string {
	at := m.url(r)
	return func(scopes []string) string {
		text := challenge + `, error="insufficient_scope", resource_metadata="` + at + `"`
		if len(scopes) > 0 {
			text += `, scope="` + strings.Join(scopes, " ") + `"`
		}
		return text
	}
}

// url returns the address of the metadata for the resource that the request is about.
func (m *Metadata) url(r *http.Request) string {
	path := r.URL.EscapedPath()
	for path != "" && !m.isResource(path) {
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return m.base(r) + wellKnown + path
}

// isResource reports whether path is the path of the server, of a graph, or of a graph over MCP.
func (m *Metadata) isResource(path string) bool {
	if path == "" {
		return true
	}
	id, ok := strings.CutPrefix(path, "/graphs/")
	return ok && m.Graph(strings.TrimSuffix(id, "/mcp"))
}

// base returns the URL of the server without a path, as clients reach it.
func (m *Metadata) base(r *http.Request) string {
	host, scheme := m.PublicHost, "https://"
	switch {
	case host == "":
		host = r.Host
		if r.TLS == nil {
			scheme = "http://"
		}
	case strings.Contains(host, ":") && !strings.HasPrefix(host, "["):
		host = "[" + host + "]"
	}
	return scheme + host
}
