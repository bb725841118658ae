package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/studio"
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

// TestStudioFaults checks that the studio learns the faults of the last save only under gq dev, and that only the actor of gq dev gets
// them.
func TestStudioFaults(t *testing.T) {
	const none = `{"faults":[]}`
	dev := &server.Dev{Faults: filepath.Join(t.TempDir(), "faults.json"), Actor: "act-dev"}
	other := &server.Dev{Faults: dev.Faults, Actor: "act-ada"}
	fault := server.DevFault{File: "a.gq", Line: 1, Column: 2, Message: "no"}
	for _, tt := range []struct {
		name   string
		dev    *server.Dev
		saved  []server.DevFault // nil before the first save
		token  string
		status int
		want   string // "" for the page of the studio
	}{
		{"without gq dev", nil, nil, devToken, http.StatusOK, ""},
		{"before a save", dev, nil, devToken, http.StatusOK, none},
		{"a fault", dev, []server.DevFault{fault}, devToken, http.StatusOK, `{"faults":[{"file":"a.gq","line":1,"column":2,"message":"no"}]}`},
		{"another actor", other, []server.DevFault{fault}, devToken, http.StatusOK, none},
		{"no token", dev, []server.DevFault{fault}, "", http.StatusUnauthorized, ""},
		{"mended", dev, []server.DevFault{}, devToken, http.StatusOK, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ts := newServer(t, func(o *server.Options) { o.Cluster.Server.Studio, o.Dev = true, tt.dev })
			if tt.saved != nil {
				if err := tt.dev.Write(tt.saved); err != nil {
					t.Fatal(err)
				}
			}
			r := httptest.NewRequest("GET", studio.FaultsPath, nil)
			r.Host = "127.0.0.1:8080"
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			w := httptest.NewRecorder()
			ts.handler.ServeHTTP(w, r)
			if w.Code != tt.status || tt.want != "" && w.Body.String() != tt.want {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}
