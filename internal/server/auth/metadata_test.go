package auth

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestMetadata(t *testing.T) {
	m := &Metadata{Issuer: "https://login.example.com", PublicHost: "graph.example.com", Graph: regexp.MustCompile(`^[a-z]{1,9}$`).MatchString}
	behind := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, tt := range []struct {
		method, path, host string
		status             int
		resource           string
	}{
		{"GET", wellKnown, "graph.example.com", 200, "https://graph.example.com"},
		{"GET", wellKnown + "/graphs/code", "evil.example", 200, "https://graph.example.com/graphs/code"},
		{"GET", wellKnown + "/graphs/code/mcp", "graph.example.com", 200, "https://graph.example.com/graphs/code/mcp"},
		{"GET", wellKnown + "/graphs/none/mcp?x=1", "graph.example.com", 200, "https://graph.example.com/graphs/none/mcp"},
		{"HEAD", wellKnown + "/graphs/code", "graph.example.com", 200, "https://graph.example.com/graphs/code"},
		{"POST", wellKnown + "/graphs/code", "graph.example.com", 405, ""},
		{"GET", wellKnown + "/", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/UPPER", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/code/", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/code/mcp/mcp", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/code%2fmcp", "graph.example.com", 418, ""},
		{"GET", wellKnown + "/graphs/code/query", "graph.example.com", 418, ""},
		{"GET", wellKnown + "s", "graph.example.com", 418, ""},
		{"GET", "/graphs/code/mcp", "graph.example.com", 418, ""},
	} {
		r := httptest.NewRequest(tt.method, "http://"+tt.host+tt.path, nil)
		w := httptest.NewRecorder()
		m.Wrap(behind).ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.path, w.Code, tt.status)
		}
		if tt.status != 200 {
			continue
		}
		var got struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || strings.Contains(w.Body.String(), "scopes") || got.Resource != tt.resource || len(got.Servers) != 1 || got.Servers[0] != m.Issuer {
			t.Errorf("%s: %s, %v; want the resource %s", tt.path, w.Body, err, tt.resource)
		}
		if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", tt.path, h)
		}
	}
}

// TestChallengeNamesMetadata checks that a refusal contains the address of the metadata of the
// requested graph, even if that graph does not exist.
func TestChallengeNamesMetadata(t *testing.T) {
	m := &Metadata{Issuer: "https://login.example.com", Graph: regexp.MustCompile(`^[a-z]{1,9}$`).MatchString}
	gate := &Authenticator{Log: slog.New(slog.DiscardHandler), Metadata: m}
	for path, want := range map[string]string{
		"/graphs/code/mcp":           "/graphs/code/mcp",
		"/graphs/none/mcp":           "/graphs/none/mcp",
		"/graphs/code/query":         "/graphs/code",
		"/graphs/code/queries/named": "/graphs/code",
		"/graphs/code":               "/graphs/code",
		"/graphs/CODE/mcp":           "",
		"/graphs":                    "",
		"/":                          "",
		"/nowhere/else":              "",
		"*":                          "",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/", nil)
		r.URL.Path, r.URL.RawPath = path, ""
		w := httptest.NewRecorder()
		gate.Require(http.NotFoundHandler()).ServeHTTP(w, r)
		if got := w.Header().Get("WWW-Authenticate"); got != challenge+`, resource_metadata="http://127.0.0.1:8080`+wellKnown+want+`"` {
			t.Errorf("%s: %s", path, got)
		}
	}
	m.Scopes = []string{"graph.read", "graph.write"}
	w := httptest.NewRecorder()
	gate.Require(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/graphs/code/mcp", nil))
	if got := w.Header().Get("WWW-Authenticate"); !strings.HasSuffix(got, `, scope="graph.read graph.write"`) || !strings.Contains(got, "resource_metadata=") {
		t.Errorf("with scopes: %s", got)
	}
	w = httptest.NewRecorder()
	m.Wrap(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+wellKnown, nil))
	if !strings.Contains(w.Body.String(), `"scopes_supported":["graph.read","graph.write"]`) {
		t.Errorf("the metadata has no scopes: %s", w.Body)
	}
	m.PublicHost = "::1"
	if got := m.base(httptest.NewRequest(http.MethodGet, "/", nil)); got != "https://[::1]" {
		t.Errorf("base %s", got)
	}
	m.PublicHost = ""
	if got := m.base(httptest.NewRequest(http.MethodGet, "https://localhost:1/", nil)); !strings.HasPrefix(got, "https://localhost:1") {
		t.Errorf("base %s", got)
	}
}
