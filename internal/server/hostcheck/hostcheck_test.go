package hostcheck

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func newGuard(t *testing.T, o Options) (*Checker, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g, &log
}

func TestGuard(t *testing.T) {
	local := Options{Bind: "127.0.0.1:8080", Origins: []string{"https://app.example.com"}}
	public := Options{Bind: "0.0.0.0:8080", PublicHosts: []string{"graph.example.com"}, Origins: []string{"https://app.example.com"}}
	two := Options{Bind: "0.0.0.0:8080", PublicHosts: []string{"graph.example.com", "2001:db8::1"}}
	open := Options{Bind: ":8080"}
	tests := []struct {
		name   string
		o      Options
		host   string
		origin string // "" means no Origin header
		want   int
		cors   bool
	}{
		{"loopback address", local, "127.0.0.1:8080", "", 200, false},
		{"loopback name", local, "localhost", "", 200, false},
		{"loopback name, other port", local, "LocalHost:1", "", 200, false},
		{"loopback v6", local, "[::1]:8080", "", 200, false},
		{"rebound name", local, "evil.example.com:8080", "", 403, false},
		{"rebound name that starts well", local, "localhost.evil.com", "", 403, false},
		{"rebound name with the same origin", local, "evil.com", "http://evil.com", 403, false},
		{"another loopback address", local, "127.0.0.2", "", 403, false},
		{"no host", local, "", "", 403, false},
		{"bad port", local, "localhost:x", "", 403, false},
		{"loopback origin", local, "localhost:8080", "http://localhost:8080", 200, false},
		{"loopback origin, other port, https", local, "localhost:8080", "https://127.0.0.1:3000", 200, false},
		{"loopback origin v6", local, "localhost:8080", "http://[::1]:3000", 200, false},
		{"foreign origin", local, "localhost:8080", "https://evil.com", 403, false},
		{"foreign origin that starts well", local, "localhost:8080", "http://localhost.evil.com", 403, false},
		{"foreign origin with user", local, "localhost:8080", "http://localhost@evil.com", 403, false},
		{"null origin", local, "localhost:8080", "null", 403, false},
		{"file origin", local, "localhost:8080", "file://localhost", 403, false},
		{"listed origin", local, "localhost:8080", "https://app.example.com", 200, true},
		{"listed origin, its port said", local, "localhost:8080", "https://app.example.com:443", 200, true},
		{"listed origin, other scheme", local, "localhost:8080", "http://app.example.com", 403, false},

		{"public host", public, "graph.example.com", "", 200, false},
		{"public host with port and dot", public, "Graph.Example.com.:443", "", 200, false},
		{"other host", public, "other.example.com", "", 403, false},
		{"loopback host on a public bind", public, "localhost:8080", "", 403, false},
		{"public, listed origin", public, "graph.example.com", "https://app.example.com", 200, true},
		{"public, loopback origin", public, "graph.example.com", "http://localhost:3000", 403, false},
		{"public, origin equal to host", public, "graph.example.com", "https://graph.example.com", 200, false},
		{"public, origin equal to host, http", public, "graph.example.com", "http://graph.example.com", 200, false},
		{"public, origin equal to host and port", public, "graph.example.com:8080", "http://graph.example.com:8080", 200, false},
		{"public, origin equal to host, letters and dot", public, "GRAPH.example.com.", "https://graph.Example.com", 200, false},
		{"public, origin equal to host, its https port said", public, "graph.example.com:443", "https://graph.example.com", 200, false},
		{"public, origin equal to host, its http port said", public, "graph.example.com", "http://graph.example.com:80", 200, false},
		{"public, origin of another port", public, "graph.example.com", "https://graph.example.com:8443", 403, false},
		{"public, host of another port", public, "graph.example.com:8443", "https://graph.example.com", 403, false},
		{"public, port of the other scheme", public, "graph.example.com:443", "http://graph.example.com", 403, false},
		{"public, origin of another public host", two, "graph.example.com", "https://[2001:db8::1]", 403, false},
		{"public, origin equal to an address", two, "[2001:DB8::1]:8080", "http://[2001:db8:0::1]:8080", 200, false},
		{"public, rebound name", public, "evil.example.com", "https://evil.example.com", 403, false},
		{"public, origin that starts like the host", public, "graph.example.com", "https://graph.example.com.evil.com", 403, false},
		{"public, origin with the host as its user", public, "graph.example.com", "https://graph.example.com@evil.com", 403, false},
		{"public, null origin", public, "graph.example.com", "null", 403, false},
		{"public, origin of another scheme", public, "graph.example.com", "ftp://graph.example.com", 403, false},

		{"open, any host", open, "whatever.example.com", "", 200, false},
		{"open, unlisted origin", open, "whatever.example.com", "https://whatever.example.com", 403, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := newGuard(t, tt.o)
			reached := false
			h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reached = true }))
			r := httptest.NewRequest(http.MethodPost, "/graphs/code/query", nil)
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.want || reached != (tt.want == 200) {
				t.Fatalf("status %d, reached %v; expected %d", w.Code, reached, tt.want)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); (got != "") != tt.cors || tt.cors && got != tt.origin {
				t.Errorf("Access-Control-Allow-Origin %q, expected CORS %v", got, tt.cors)
			}
			if tt.want == 403 {
				checkEnvelope(t, w, "forbidden")
			}
		})
	}
}

func checkEnvelope(t *testing.T, w *httptest.ResponseRecorder, code string) {
	t.Helper()
	var e map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatalf("body %q: %v", w.Body, err)
	}
	if e["code"] != code || e["error"] == "" || len(e) != 2 {
		t.Errorf("envelope %v, expected code %s and an error", e, code)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
}

func TestSeveralOrigins(t *testing.T) {
	g, _ := newGuard(t, Options{Bind: "localhost:0"})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "localhost"
	r.Header["Origin"] = []string{"http://localhost", "https://evil.com"}
	w := httptest.NewRecorder()
	g.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("status %d, expected 403", w.Code)
	}
}

func TestPreflight(t *testing.T) {
	tests := []struct {
		origin string
		want   int // 401 comes from the handler behind the check
		cors   bool
	}{
		{"https://app.example.com", http.StatusNoContent, true},
		{"http://localhost:3000", http.StatusUnauthorized, false},
		{"https://evil.com", http.StatusForbidden, false},
	}
	g, _ := newGuard(t, Options{Bind: "[::1]:8080", Origins: []string{"https://app.example.com"}})
	h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodOptions, "/graphs/code/mcp", nil)
		r.Host = "localhost"
		r.Header.Set("Origin", tt.origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s: status %d, expected %d", tt.origin, w.Code, tt.want)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") && !tt.cors {
				t.Errorf("%s: has %s", tt.origin, name)
			}
		}
		if tt.cors && !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("%s: Authorization may not be sent", tt.origin)
		}
		if w.Header().Get("Vary") != "Origin" {
			t.Errorf("%s: Vary %q", tt.origin, w.Header().Get("Vary"))
		}
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		o    Options
		want string // part of the log; "" if nothing must be logged
	}{
		{Options{Bind: "0.0.0.0:80"}, "any host"},
		{Options{Bind: ":80"}, "any host"},
		{Options{Bind: "0.0.0.0:80", PublicHosts: []string{"a.example.com"}}, ""},
		{Options{Bind: "127.0.0.1:80"}, ""},
		{Options{Bind: "127.0.0.1:80", PublicHosts: []string{"a.example.com"}}, "no effect"},
	}
	for _, tt := range tests {
		_, log := newGuard(t, tt.o)
		if got := log.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: logged %q, expected %q", tt.o, got, tt.want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct {
		o    Options
		want string
	}{
		{Options{Bind: "8080"}, `bind address "8080": expected host:port, such as 127.0.0.1:8080`},
		{Options{Bind: ":0", PublicHosts: []string{"ok.com", "https://a.com"}}, `public_hosts[1]: "https://a.com" is not a host; expected only a name or an address, such as graph.example.com`},
		{Options{Bind: ":0", PublicHosts: []string{"a.com:8080"}}, `public_hosts[0]: "a.com:8080" has the port 8080; expected only the host, because the server accepts any port`},
		{Options{Bind: ":0", Origins: []string{"app.example.com"}}, `browser_origins[0]: "app.example.com" is not an origin: its scheme is not http or https; expected scheme://host[:port], such as https://app.example.com`},
		{Options{Bind: ":0", Origins: []string{"https://a.com/"}}, `browser_origins[0]: "https://a.com/" is not an origin: it has more than a scheme, a host and a port; expected scheme://host[:port], such as https://app.example.com`},
		{Options{Bind: ":0", Origins: []string{"*"}}, `browser_origins[0]: "*" is not an origin: its scheme is not http or https; expected scheme://host[:port], such as https://app.example.com`},
	}
	for _, tt := range tests {
		tt.o.Log = slog.New(slog.DiscardHandler)
		_, err := New(tt.o)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// TestRefusalShowsWholeLetters sends a Host that is too long. The limit falls within a multi-byte
// character. The message must not split that character.
func TestRefusalShowsWholeLetters(t *testing.T) {
	g, _ := newGuard(t, Options{Bind: "localhost:0"})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = strings.Repeat("a", 79) + "äb"
	w := httptest.NewRecorder()
	g.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
	if want := `host \"` + strings.Repeat("a", 79) + `…\";`; w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
}

// FuzzOrigin checks that every accepted origin has exactly one form, and that only the origins of
// the three loopback hosts count as loopback.
func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"http://localhost:80", "https://[::1]", "http://a@localhost", "null", "http://127.0.0.1:3000/", "HTTPS://APP.example.com.:443"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		origin, err := ParseOrigin(s)
		if err != nil {
			return
		}
		again, err := ParseOrigin(origin)
		if err != nil || again != origin {
			t.Errorf("%q reads as %q, which reads as %q, %v", s, origin, again, err)
		}
	})
}
