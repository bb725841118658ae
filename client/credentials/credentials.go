// Package credentials gives a client the bearer token that the user of this machine has for a
// server. It looks in the same places as the command omnigraph: first in the environment variables
// OMNIGRAPH_CLIENT_TOKEN_<SERVER> and OMNIGRAPH_TOKEN, then in ~/.omnigraph/config.yaml. That file
// holds the token, or names the source of the token: an environment variable, a command or an entry
// of the system's keyring.
package credentials

import (
	"context"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// keep is how long a source returns the same token before it looks again. It is short because a
// command may print a token that expires soon.
const keep = time.Minute

// For returns a source of tokens for the server at a URL, for use with [client.WithTokenSource].
// The source looks for the token when it is first called, and again when the token that it found is
// more than a minute old. It returns "" if there is no token. It is safe for concurrent use. No
// error contains a token.
func For(server string) client.TokenSource {
	var mu sync.Mutex // guards token and since
	var token string
	var since time.Time
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if !since.IsZero() && clock.Since(since) < keep {
			return token, nil
		}
		c, err := credentials.Find(server)
		if err != nil {
			return "", err
		}
		found := ""
		if c != nil {
			if found, err = c.Token(ctx); err != nil {
				return "", err
			}
		}
		token, since = found, clock.Now()
		return token, nil
	}
}
