package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// timeLimit bounds the time that a command, or the keyring, takes to return a token.
var timeLimit = 30 * time.Second

// lastOutput is how long the children of a command may keep its standard output open after the
// command has ended or was killed.
const lastOutput = time.Second

// maxOutput bounds the standard output of a command, in bytes. A token has at most 4,096.
const maxOutput = 16 << 10

// run runs the command, without a shell and without standard input, and returns the token that it
// prints. No error contains what the command printed.
func (c *Credential) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errSlow)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	cmd.WaitDelay = lastOutput
	var out limited
	cmd.Stdout, cmd.Stderr = &out, c.Stderr
	err := cmd.Run()
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("get the token at %s with the command %q: %w", c.place, c.command[0], fmt.Errorf(format, args...))
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return fail("the command did not end within %v; run it by hand to see what it waits for", timeLimit)
	case ctx.Err() != nil:
		return fail("%w", ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fail("the program is not in PATH; write its full path")
	case errors.As(err, &exit):
		return fail("the command failed with %s; run it by hand to see why", exit.ProcessState)
	case err != nil:
		return fail("%w", err)
	case out.over:
		return fail("the command printed more than %d bytes; it must print only the token", maxOutput)
	}
	token := strings.TrimSpace(out.kept.String())
	if err := checkToken(token); err != nil {
		return fail("the command printed %w", err)
	}
	return token, nil
}

// errSlow is the cause when the time limit ends the context.
var errSlow = errors.New("the time limit for getting a token has passed")

// checkToken checks that a text can be sent as a bearer token.
func checkToken(token string) error {
	if token == "" {
		return errors.New("an empty text; it must be a token")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a text that contains a blank, a line break or a character that is not ASCII; it must be a token and nothing else")
	}
	return nil
}

// limited keeps the first maxOutput bytes that are written to it. After that, it sets `over` and
// discards all writes. It does not embed the buffer, because the buffer's ReadFrom method would
// bypass the limit.
type limited struct {
	kept bytes.Buffer // at most maxOutput bytes
	over bool         // more than maxOutput bytes were written
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > maxOutput; l.over {
		return len(p), nil
	}
	return l.kept.Write(p)
}
