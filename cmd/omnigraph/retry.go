package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The limits of waiting for a server.
const (
	maxTries = 4
	maxWait  = 30 * time.Second // limit of all attempts and waits together
	// told is the shortest wait that is announced to the user.
	told = time.Second

	// grace is how long a verb waits after its time limit, so that the server can answer that the
	// time is over.
	grace = 2 * time.Second
)

// patiently calls do. If do may be repeated, patiently calls it again when the server was not
// reached or is busy.
func patiently[T any](ctx context.Context, repeats bool, notes io.Writer, do func() (T, error)) (T, error) {
	if !repeats {
		return do()
	}
	waits := &waits{backoff: backoff.NewExponentialBackOff()}
	return backoff.Retry(ctx, func() (T, error) {
		v, err := do()
		if !passes(err) {
			return v, backoff.Permanent(err)
		}
		waits.last = err
		return v, err
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(maxWait),
		backoff.WithNotify(func(err error, wait time.Duration) {
			if wait >= told {
				fmt.Fprintf(notes, "omnigraph: %s; asking again in %v\n", printableLines(err.Error()), wait.Round(time.Second/10))
			}
		}))
}

// waits computes the times between attempts: the time that the server asks for, or growing times.
type waits struct {
	backoff *backoff.ExponentialBackOff
	last    error
}

func (w *waits) Reset() { w.backoff.Reset() }

func (w *waits) NextBackOff() time.Duration {
	next := w.backoff.NextBackOff()
	var refused *serverError
	if errors.As(w.last, &refused) && refused.after != nil {
		return *refused.after
	}
	return next
}

// passes reports whether an error may be temporary: no connection could be made, a connection was
// lost, or the server is busy and says when to try again.
func passes(err error) bool {
	var refused *serverError
	if errors.As(err, &refused) {
		return refused.Status == http.StatusTooManyRequests || refused.Status == http.StatusServiceUnavailable && refused.after != nil
	}
	for _, lost := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// retryAfter reads from the header how long to wait, counted from now. The header gives seconds or
// a date. retryAfter returns nil if it gives neither.
func retryAfter(h http.Header, now time.Time) *time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return new(time.Duration(seconds) * time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return new(max(at.Sub(now), 0))
	}
	return nil
}
