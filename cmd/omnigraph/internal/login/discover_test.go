package login

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDiscoverOnPrivateNetworks finds the issuer of a server whose address is not public.
func TestDiscoverOnPrivateNetworks(t *testing.T) {
	const https, plain = "https://10.1.2.3", "http://10.1.2.3"
	handler := func(server, issuer string) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /actor", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+server+`/of-server"`)
			w.WriteHeader(http.StatusUnauthorized)
		})
		mux.HandleFunc("GET /of-server", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"resource": %q, "authorization_servers": [%q], "scopes_supported": ["read"]}`, server, issuer)
		})
		mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"issuer": %q, "token_endpoint": %q}`, issuer, issuer+"/token")
		})
		return mux
	}
	for _, tt := range []struct {
		server, issuer string
		insecure       bool
		fault          string
	}{
		{https, https, false, ""},
		{plain, plain, false, `the address "http://10.1.2.3/of-server", which is not an https:// URL`},
		{plain, plain, true, `the issuer "http://10.1.2.3", which is not at an https:// URL`},
	} {
		start := httptest.NewTLSServer
		if tt.server == plain {
			start = httptest.NewServer
		}
		ts := start(handler(tt.server, tt.issuer))
		transport := ts.Client().Transport.(*http.Transport).Clone()
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, ts.Listener.Addr().String())
		}
		if transport.TLSClientConfig != nil {
			transport.TLSClientConfig.ServerName = "example.com"
		}
		found, err := discover(t.Context(), &http.Client{Transport: transport}, tt.server, tt.insecure)
		switch {
		case tt.fault != "":
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%s: %v, want %q", tt.server, err, tt.fault)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.server, err)
		case found.resource != tt.server || found.issuer.TokenEndpoint != tt.issuer+"/token" || strings.Join(found.scopes, " ") != "read":
			t.Errorf("%s: found %+v", tt.server, found)
		}
		transport.CloseIdleConnections()
		ts.Close()
	}
}

// TestTell names the issuer, and its page if that is at another host and its answer does not name its issuer.
func TestTell(t *testing.T) {
	const of, other = "The issuer of https://graph.example.com is https://id.example.com\n", "It sends you to another host, honest.example.com: go on only"
	const own, foreign = "https://id.example.com/a", "https://honest.example.com/a"
	for _, tt := range []struct {
		device, page   string
		named, browser bool
		warned         bool
	}{
		{device: own, page: foreign},
		{device: foreign, page: own, named: true, warned: true},
		{device: foreign, page: own, browser: true},
		{page: own},
		{page: foreign, warned: true},
		{page: foreign, named: true},
		{device: own, page: foreign, browser: true, warned: true},
	} {
		var said strings.Builder
		m := issuer{DeviceURL: tt.device}
		m.Issuer, m.AuthorizationEndpoint, m.AuthorizationResponseIssParameterSupported = "https://id.example.com", tt.page, tt.named
		f := flow{server: "https://graph.example.com", browser: tt.browser, err: &said}
		f.tell(&target{issuer: &m})
		if got := said.String(); !strings.HasPrefix(got, of) || strings.Contains(got, other) != tt.warned {
			t.Errorf("%+v: said %q", tt, got)
		}
	}
}
