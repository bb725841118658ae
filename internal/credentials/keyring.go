package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// fromKeyring returns the token of an entry of the system's keyring: the Secret Service on Linux and
// the BSDs, the Keychain on macOS, the Credential Manager on Windows.
func (c *Credential) fromKeyring(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errSlow)
	defer cancel()
	type answer struct {
		token string
		err   error
	}
	answers := make(chan answer, 1)
	// The keyring may wait for the user and takes no context. If the context ends first, the
	// goroutine goes on until the keyring answers.
	go func() {
		token, err := keyring.Get(c.keyring, c.server)
		answers <- answer{token, err}
	}()
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("get the token at %s from the keyring, service %q, user %q: %w", c.place, c.keyring, c.server, fmt.Errorf(format, args...))
	}
	select {
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errSlow) {
			return fail("the keyring did not answer within %v; unlock it", timeLimit)
		}
		return fail("%w", ctx.Err())
	case a := <-answers:
		switch {
		case errors.Is(a.err, keyring.ErrNotFound):
			return fail("the keyring has no such entry; store the token under this service and user")
		case a.err != nil:
			return fail("the keyring cannot be read: %w", a.err)
		}
		if err := checkToken(a.token); err != nil {
			return fail("the entry is %w", err)
		}
		return a.token, nil
	}
}
