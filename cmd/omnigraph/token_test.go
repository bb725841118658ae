package main

import (
	"io"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// tokenIn returns the token for a server in the text of a configuration, or "".
func tokenIn(t testing.TB, text []byte, server string) (string, error) {
	c, err := credentials.InFile("config.yaml", text, server)
	if err != nil || c == nil {
		return "", err
	}
	return c.Token(t.Context())
}

// tokenOfFlags returns the token for the server of the flags, or "".
func tokenOfFlags(t testing.TB, e *endpoint) (string, error) {
	source, err := e.token(t.Context(), io.Discard)
	if err != nil || source == nil {
		return "", err
	}
	return source(t.Context())
}

// TestTokenOfOneServer checks that the variable for one server takes precedence over the variable
// for all servers, and that its token is not sent to another machine over http either.
func TestTokenOfOneServer(t *testing.T) {
	t.Setenv(credentials.TokenVar, "of-all")
	t.Setenv(credentials.ServerVar("http://127.0.0.1:8080"), "of-one")
	t.Setenv(credentials.ServerVar("http://graph.example.com"), "of-one")
	for server, want := range map[string]string{"http://127.0.0.1:8080": "of-one", "http://127.0.0.1:8081": "of-all", "http://graph.example.com": ""} {
		token, err := tokenOfFlags(t, &endpoint{server: server})
		if token != want || (err == nil) != (want != "") {
			t.Errorf("%s: found %q, %v, want %q", server, token, err, want)
		}
	}
}
