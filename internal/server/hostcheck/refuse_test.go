package hostcheck

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAdvice checks that the advice of a refusal is not what the configuration already contains, and
// that it leads to a server that accepts the request.
func TestAdvice(t *testing.T) {
	listed := []string{"graph.example.com"}
	for _, tt := range []struct {
		o            Options
		host         string
		origins      []string
		want, absent string
	}{
		{Options{Bind: "127.0.0.1:8080", PublicHosts: listed}, "graph.example.com", nil, "lists it, but has no effect", "list "},
		{Options{Bind: "127.0.0.1:8080", PublicHosts: listed}, "GRAPH.example.com.:443", nil, "lists it, but has no effect", "list "},
		{Options{Bind: "[::1]:8080", PublicHosts: listed}, "other.example.com", nil, "and list the host under server.public_hosts", "lists it"},
		{Options{Bind: "127.0.0.1:8080"}, "graph.example.com", nil, "let the proxy send Host: localhost", "lists it"},
		{Options{Bind: "0.0.0.0:8080", PublicHosts: listed}, "other.example.com", nil, "or list that host there", "loopback"},
		{Options{Bind: "0.0.0.0:8080", PublicHosts: listed}, "127.0.0.1:8080", nil, "also from this machine", "list that"},
		{Options{Bind: "0.0.0.0:8080", PublicHosts: listed}, "a b", nil, "in the Host header", "list"},
		{Options{Bind: "127.0.0.1:8080"}, "localhost", []string{"https://app.example.com"}, "list it under server.browser_origins", "open"},
		{Options{Bind: "127.0.0.1:8080"}, "localhost", []string{"null"}, "sandboxed frame has no origin", "list it"},
		{Options{Bind: "127.0.0.1:8080"}, "localhost", []string{"app.example.com"}, "is not scheme://host[:port]", "list it"},
		{Options{Bind: "127.0.0.1:8080", Origins: []string{"https://a.com"}}, "localhost", []string{"https://a.com", "https://b.com"}, "send one Origin header", "list it"},
	} {
		g, _ := newGuard(t, tt.o)
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host, r.Header["Origin"] = tt.host, tt.origins
		w := httptest.NewRecorder()
		g.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
		if got := w.Body.String(); w.Code != http.StatusForbidden || !strings.Contains(got, tt.want) || strings.Contains(got, tt.absent) {
			t.Errorf("%v, host %s, origins %v: %d %s; want %q and not %q", tt.o, tt.host, tt.origins, w.Code, got, tt.want, tt.absent)
		}
	}
}
