package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
)

// pageOrigin is the origin of a web page that may call the server.
const pageOrigin = "https://app.example.com"

// named sends requests for hosts other than the public one. The proxy must not pass them on.
// Without the proxy, a server that is bound to loopback must accept the names of its machine, and
// any other server only its public hosts. The address that --dev prints must have a name that the
// server accepts.
func (x *proxied) named() {
	x.t.Helper()
	for _, host := range []string{"evil.example.com", "localhost", "127.0.0.1"} {
		res, body := x.whole("GET", "/readyz", host, "", nil)
		if res.StatusCode != http.StatusMisdirectedRequest || strings.Contains(body, "{") {
			x.t.Errorf("host %s reaches the server through the proxy: %s %s", host, res.Status, body)
		}
	}
	name, other := publicHost, "localhost"
	if x.loopback {
		name, other = "127.0.0.1", publicHost
	}
	for host, want := range map[string]int{name: http.StatusOK, other: http.StatusForbidden, "evil.example.com": http.StatusForbidden} {
		req, err := http.NewRequest(http.MethodGet, "http://"+x.server.addr+"/readyz", nil)
		if err != nil {
			x.t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			x.t.Errorf("the server answers %s to host %s, want %d", res.Status, host, want)
		}
	}
	if !strings.Contains(x.server.output(), "MCP     http://"+name+":") {
		x.t.Errorf("--dev does not print the name %s:\n%s", name, x.server.output())
	}
}

// metadata sends a request without a token. The server's metadata must name the public host for
// every Host that the proxy may send. A token of the issuer must then be accepted.
func (x *proxied) metadata() {
	x.t.Helper()
	own := x.server.token
	defer func() { x.server.token = own }()
	x.server.token = ""
	const path = "/graphs/code/mcp"
	at := "/.well-known/oauth-protected-resource" + path
	res, _ := x.whole("POST", path, publicHost, "application/json", strings.NewReader("{}"))
	if challenge := res.Header.Get("WWW-Authenticate"); res.StatusCode != http.StatusUnauthorized || !strings.Contains(challenge, `resource_metadata="https://`+publicHost+at+`"`) {
		x.t.Errorf("without a token: %s %q", res.Status, challenge)
	}
	res, body := x.whole("GET", at, publicHost, "", nil)
	var said struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || said.Resource != "https://"+publicHost+path || len(said.Servers) != 1 || said.Servers[0] != x.issuer.URL {
		x.t.Errorf("the metadata: %s %s, %v", res.Status, body, err)
	}
	x.server.token = x.issuer.Token(x.t, x.signing, "act-ci", nil)
	if res, body := x.whole("GET", "/graphs/code/snapshot", publicHost, "", nil); res.StatusCode != http.StatusOK {
		x.t.Errorf("a token of the issuer: %s %s", res.Status, body)
	}
}

// origins sends the requests of web pages.
func (x *proxied) origins() {
	x.t.Helper()
	local := http.StatusForbidden
	if x.loopback {
		local = http.StatusOK
	}
	for _, tt := range []struct {
		method, origin string
		status         int
		told           bool // whether the browser lets the page read the answer
	}{
		{http.MethodGet, pageOrigin, http.StatusOK, true},
		{http.MethodOptions, pageOrigin, http.StatusNoContent, true},
		{http.MethodGet, "https://" + publicHost, http.StatusForbidden, false},
		{http.MethodGet, "https://evil.example.com", http.StatusForbidden, false},
		{http.MethodGet, "http://localhost:3000", local, false},
	} {
		req, err := http.NewRequest(tt.method, "https://"+publicHost+"/graphs/code/snapshot", nil)
		if err != nil {
			x.t.Fatal(err)
		}
		req.Header.Set("Origin", tt.origin)
		if tt.method == http.MethodOptions {
			req.Header.Set("Access-Control-Request-Method", http.MethodGet)
			req.Header.Set("Access-Control-Request-Headers", "authorization")
		} else {
			req.Header.Set("Authorization", "Bearer "+x.server.token)
		}
		res, err := x.client.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		res.Body.Close()
		if told := res.Header.Get("Access-Control-Allow-Origin") == tt.origin; res.StatusCode != tt.status || told != tt.told {
			x.t.Errorf("%s of %s: %s %v, want %d", tt.method, tt.origin, res.Status, res.Header, tt.status)
		}
	}
}
