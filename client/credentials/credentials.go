// Package credentials gives a client the bearer token that the user of this machine has for a server.
// It looks where the command omnigraph looks: in the environment variables
// OMNIGRAPH_CLIENT_TOKEN_<SERVER> and OMNIGRAPH_TOKEN, and in ~/.omnigraph/config.yaml, which holds the
// token or names an environment variable, a command or an entry of the system's keyring that gives it.
package credentials

import (
	"context"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// keep is how long a source returns the same token. A command may print a token that expires soon.
const keep = time.Minute

// For returns a source of the token for the server at a URL, for [client.WithTokenSource]. The source
// looks for the token when it is first called, and again when the last token is more than a minute
// old; it returns "" if there is none. It is safe for concurrent use. No error contains a token.
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
