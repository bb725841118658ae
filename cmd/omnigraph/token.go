package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/strictyaml"
)

// configName is the path of the user's configuration:
//
//	servers:
//	  https://graph.example.com: { token: "${GRAPH_TOKEN}" }
//	  http://127.0.0.1:8080: { token: "…" }
//
// A token of the form ${NAME} is the value of that environment variable.
const configName = "~/.omnigraph/config.yaml"

// token returns the bearer token for the server of the flags, or "". The error is a usage error if
// the token would be sent where others can read it.
func (e *endpoint) token() (string, error) {
	token, err := tokenFor(e.server)
	if err != nil || token == "" || e.insecure {
		return token, err
	}
	// endpoint.check has parsed the URL.
	if u, _ := url.Parse(e.server); u.Scheme == "http" && !onThisMachine(u.Hostname()) {
		return "", usageError{fmt.Errorf("--server is %s, but others could read the token on its way over http://; use an https:// URL, or permit this with --insecure", u.Redacted())}
	}
	return token, nil
}

// onThisMachine reports whether a host is reached without a network. It does not look up names,
// because the address of a name can change.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// tokenFor returns the bearer token for a server. It takes the token of the environment, or else
// the token of the user's configuration, or else "".
func tokenFor(server string) (string, error) {
	if token := os.Getenv(tokenVar); token != "" {
		return token, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil // without a home folder there is no configuration
	}
	path := filepath.Join(home, ".omnigraph", "config.yaml")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("other users can read the tokens in %s (mode %03o); correct this with: chmod 600 %s", path, info.Mode().Perm(), shellescape.Quote(path))
	case info.Size() > strictyaml.MaxBytes:
		return "", fmt.Errorf("%s has %d bytes, expected at most %d", path, info.Size(), strictyaml.MaxBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return tokenIn(path, text, server)
}

// tokenIn finds the token for a server in a configuration. The error is a diag.List.
func tokenIn(path string, text []byte, server string) (token string, err error) {
	r := strictyaml.ReadSecret(path, text)
	if fields, ok := r.Root().Fields("the configuration", "servers"); ok {
		servers, _ := fields["servers"].Entries("servers")
		for _, e := range servers {
			of, ok := e.Value.Fields("a server", "token")
			if !ok {
				continue
			}
			n := e.Value.Require(of, "token", "a server")
			t, ok := n.Text("token")
			if !ok || strings.TrimSuffix(e.Key, "/") != strings.TrimSuffix(server, "/") {
				continue
			}
			if name, isVar := envName(t); isVar {
				if t = os.Getenv(name); t == "" {
					n.Fault(strictyaml.BadValue, "the environment variable "+name+" is not set", "set it to the token, or write the token here")
				}
			}
			token = t
		}
	}
	if found := r.Faults(); found.HasErrors() {
		return "", diag.List(found)
	}
	return token, nil
}

// envName returns the name in a reference such as ${NAME}.
func envName(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, "${")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, "}")
}
