package auth

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// Metadata tells clients without a token whose tokens the server takes (RFC 9728): of
// the server itself, of each graph, and of each graph over MCP.
type Metadata struct {
	Issuer string

	// PublicHost is what clients reach the server as, over https. When empty, that is
	// the Host of their request: the guard lets only hosts of this machine through then.
	PublicHost string

	// Graph reports whether a text has the form of a graph's id. Which graphs there are,
	// whoever has no token is not told.
	Graph func(id string) bool
}

// wellKnown stands between the host of a resource and its path (RFC 9728, section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// Wrap answers requests for metadata, and hands all others on.
func (m *Metadata) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), wellKnown)
		if !ok || !m.isResource(path) {
			next.ServeHTTP(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			envelope.Write(w, envelope.New(http.StatusMethodNotAllowed, service.MethodNotAllowed, "found "+r.Method+", wanted GET"))
			return
		}
		b, err := json.Marshal(struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Methods  []string `json:"bearer_methods_supported"`
			Name     string   `json:"resource_name"`
		}{m.base(r) + path, []string{m.Issuer}, []string{"header"}, "Omnigraph"})
		if err != nil {
			panic(err) // texts alone
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store") // it may name the host of the request
		_, _ = w.Write(b)                  // fails only when the client is gone
	})
}

// url is where the metadata of what a request asks for stands.
func (m *Metadata) url(r *http.Request) string {
	path := r.URL.EscapedPath()
	for path != "" && !m.isResource(path) {
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return m.base(r) + wellKnown + path
}

// isResource reports whether a path is that of the server, of a graph, or of a graph
// over MCP.
func (m *Metadata) isResource(path string) bool {
	if path == "" {
		return true
	}
	id, ok := strings.CutPrefix(path, "/graphs/")
	return ok && m.Graph(strings.TrimSuffix(id, "/mcp"))
}

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
