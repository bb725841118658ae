package main

import (
	"context"
	"io"
	"net/url"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// configName is the path of the user's configuration. Package credentials describes its content.
const configName = credentials.ConfigName

// token returns the source of the bearer token for the server of the flags, or nil if there is no token. The error is a
// usage error if the token would be sent where others can read it. If a command prints the token, the command's
// standard error goes to `stderr`.
func (e *endpoint) token(ctx context.Context, stderr io.Writer) (client.TokenSource, error) {
	c, err := credentials.Find(e.server)
	if err != nil || c == nil {
		return nil, err
	}
	if !e.insecure && credentials.Exposed(e.server) {
		u, _ := url.Parse(e.server) // endpoint.check has parsed the URL
		return nil, usage.Errorf("--server is %s, but others could read the token on its way over http://; use an https:// URL, or permit http:// with --insecure", u.Redacted())
	}
	c.Stderr = stderr
	source := c.Source()
	_, err = source(ctx) // so that the command fails at once
	return source, err
}
