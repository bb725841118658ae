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
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("get the token at %s from the keyring, service %q, user %q: %w", c.place, c.keyring, c.server, fmt.Errorf(format, args...))
	}
	token, err := inKeyring(ctx, func() (string, error) { return keyring.Get(c.keyring, c.server) })
	switch {
	case errors.Is(err, errSlow):
		return fail("the keyring did not answer within %v; unlock it", timeLimit)
	case ctx.Err() != nil:
		return fail("%w", ctx.Err())
	case errors.Is(err, keyring.ErrNotFound):
		return fail("the keyring has no such entry; store the token under this service and user")
	case err != nil:
		return fail("the keyring cannot be read: %w", err)
	}
	if err := checkToken(token); err != nil {
		return fail("the entry is %w", err)
	}
	return token, nil
}

// inKeyring makes a call of the keyring. The keyring may wait for the user and takes no context: if the time limit passes or the context
// ends first, inKeyring returns the cause, and the call goes on until the keyring answers.
func inKeyring(ctx context.Context, call func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errSlow)
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := call()
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-answers:
		return a.text, a.err
	}
}
