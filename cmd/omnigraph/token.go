package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/strictyaml"
)

// configName is the user's configuration, in the home folder:
//
//	servers:
//	  https://graph.example.com: { token: "…" }
const configName = "~/.omnigraph/config.yaml"

// tokenFor returns the bearer token for a server: that of the environment, or else that
// of the user's configuration, or else none.
func tokenFor(server string) (string, error) {
	if token := os.Getenv(tokenVar); token != "" {
		return token, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil // nobody's home holds no configuration
	}
	path := filepath.Join(home, ".omnigraph", "config.yaml")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s holds tokens and can be read by others (mode %03o); mend it with: chmod 600 %s", path, info.Mode().Perm(), path)
	case info.Size() > strictyaml.MaxBytes:
		return "", fmt.Errorf("%s has %d bytes, wanted at most %d", path, info.Size(), strictyaml.MaxBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return tokenIn(path, text, server)
}

// tokenIn finds the token of a server in a configuration. The error is a diag.List.
func tokenIn(path string, text []byte, server string) (token string, err error) {
	r := strictyaml.ReadSecret(path, text)
	if fields, ok := r.Root().Fields("the configuration", "servers"); ok {
		servers, _ := fields["servers"].Entries("servers")
		for _, e := range servers {
			of, ok := e.Value.Fields("a server", "token")
			if !ok {
				continue
			}
			t, _ := e.Value.Require(of, "token", "a server").Text("token")
			if strings.TrimSuffix(e.Key, "/") == strings.TrimSuffix(server, "/") {
				token = t
			}
		}
	}
	if found := r.Faults(); found.HasErrors() {
		return "", diag.List(found)
	}
	return token, nil
}
