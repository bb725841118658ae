package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// conformanceVar is the variable that holds the path of the folder with the official conformance
// suite. Without it the test is skipped. make test-conformance sets it.
const conformanceVar = "OMNIGRAPH_CONFORMANCE"

// TestConformance runs the official suite against a server with one graph, which has the suite's
// fixtures. The suite sends no token. It connects through a proxy that adds a token and changes
// nothing else, in particular neither Host nor Origin.
func TestConformance(t *testing.T) {
	dir := os.Getenv(conformanceVar)
	if dir == "" {
		t.Skip(conformanceVar + " is not set; run make test-conformance")
	}
	ts := newServer(t, func(o *server.Options) { o.Surface = fixtures })
	target, err := url.Parse(ts.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+devToken)
	}})
	defer proxy.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	endpoint := strings.Replace(proxy.URL, "127.0.0.1", "localhost", 1) + target.Path + "/mcp"
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules/.bin/node"),
				filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "server",
				"--url", endpoint, "--requirements", revision,
				"--expected-failures", "testdata/conformance/expected-"+revision+".yml", "-o", t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
