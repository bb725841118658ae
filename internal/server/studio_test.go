package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestStudio checks which requests receive the studio. They need no token. But the configuration
// must turn the studio on, and the host and the origin of the request must be those of the server.
func TestStudio(t *testing.T) {
	for _, tt := range []struct {
		name         string
		on           bool
		bind         string
		public       []string
		host, origin string
		path         string
		token        string
		want         int
	}{
		{name: "loopback", on: true, bind: "127.0.0.1:0", host: "127.0.0.1:8080", path: "/studio/code/run", want: http.StatusOK},
		{name: "off", bind: "127.0.0.1:0", host: "127.0.0.1:8080", path: "/studio/", want: http.StatusUnauthorized},
		{name: "another host", on: true, bind: "127.0.0.1:0", host: "evil.example.com", path: "/studio/", want: http.StatusForbidden},
		{name: "public host", on: true, bind: "0.0.0.0:0", public: []string{"graph.example.com"}, host: "graph.example.com", origin: "https://graph.example.com", path: "/studio/app.js", want: http.StatusOK},
		{name: "a call of its own page", on: true, bind: "0.0.0.0:0", public: []string{"graph.example.com"}, host: "graph.example.com", origin: "https://graph.example.com", path: "/graphs", token: devToken, want: http.StatusOK},
		{name: "a call of another page", on: true, bind: "0.0.0.0:0", public: []string{"graph.example.com"}, host: "graph.example.com", origin: "https://evil.example.com", path: "/graphs", token: devToken, want: http.StatusForbidden},
		{name: "the address of a public server", on: true, bind: "0.0.0.0:0", public: []string{"graph.example.com"}, host: "192.0.2.1", path: "/studio/", want: http.StatusForbidden},
		{name: "no token for data", on: true, bind: "127.0.0.1:0", host: "127.0.0.1:8080", path: "/graphs", want: http.StatusUnauthorized},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ts := newServer(t, func(o *server.Options) {
				o.Cluster.Server.Studio, o.Bind, o.Cluster.Server.PublicHosts = tt.on, tt.bind, tt.public
			})
			r := httptest.NewRequest("GET", tt.path, nil)
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			w := httptest.NewRecorder()
			ts.handler.ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("status %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if has := strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self'"); has != (tt.want == http.StatusOK && strings.HasPrefix(tt.path, "/studio/")) {
				t.Errorf("the policy of the content is %q", w.Header().Get("Content-Security-Policy"))
			}
		})
	}
}

// TestStudioLogin checks that the pages learn at which issuer their users log in, and that they may call
// that issuer, only if the configuration has a client for them.
func TestStudioLogin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client *cluster.StudioClient
	}{
		{"no client", nil},
		{"a client", &cluster.StudioClient{ClientID: "studio", Scopes: []string{"openid"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newIdentity(t, func(o *server.Options) {
				o.Cluster.Server.Studio, o.Cluster.Server.OIDC.Studio = true, tt.client
			})
			login, connect := `{"oidc":null}`, "connect-src 'self';"
			if tt.client != nil {
				login = `{"oidc":{"issuer":"` + i.issuer.URL + `","client_id":"studio","scopes":["openid"]}}`
				connect = "connect-src 'self' " + i.issuer.URL + ";"
			}
			res, err := http.Get(strings.TrimSuffix(i.url, "/graphs/people") + "/studio/login.json")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || string(text) != login {
				t.Errorf("status %d, %s, %v, want %s", res.StatusCode, text, err, login)
			}
			if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, connect) {
				t.Errorf("the policy of the content is %q, want %s", got, connect)
			}
		})
	}
}
