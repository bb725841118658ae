package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retry calls the function `do`, and calls it again after an error that may be temporary.
func retry[T any](ctx context.Context, c *Client, do func() (T, error)) (T, error) {
	waits := &waits{backoff: backoff.NewExponentialBackOff()}
	options := []backoff.RetryOption{backoff.WithBackOff(waits), backoff.WithMaxTries(c.tries), backoff.WithMaxElapsedTime(c.patience)}
	if c.notify != nil {
		options = append(options, backoff.WithNotify(c.notify))
	}
	v, err := backoff.Retry(ctx, func() (T, error) {
		v, err := do()
		if err != nil && !temporary(err) {
			return v, backoff.Permanent(err)
		}
		waits.last = err
		return v, err
	}, options...)
	// On the last try the library returns its own wrapper of a permanent error.
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Err
	}
	return v, err
}

// waits computes the times between attempts: the time that the server asks for, or growing times.
type waits struct {
	backoff *backoff.ExponentialBackOff // computes the growing times
	last    error                       // error of the last attempt
}

// Reset implements [backoff.BackOff].
func (w *waits) Reset() { w.backoff.Reset() }

// NextBackOff implements [backoff.BackOff].
func (w *waits) NextBackOff() time.Duration {
	next := w.backoff.NextBackOff()
	var refused *Error
	if errors.As(w.last, &refused) && refused.RetryAfter != nil {
		return *refused.RetryAfter
	}
	return next
}

// temporary reports whether the same request may succeed later: no connection could be made, a
// connection was lost, or the server is busy and says when to try again. A 503 without Retry-After
// is not temporary: it means that the request took too long, which would happen again.
func temporary(err error) bool {
	if errors.As(err, new(lostPiece)) {
		return true
	}
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status == http.StatusTooManyRequests || refused.Status == http.StatusServiceUnavailable && refused.RetryAfter != nil
	}
	for _, lost := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// retryAfter reads from the header how long to wait, counted from the time `now`. The header
// contains seconds or a date. If it contains neither, retryAfter returns nil.
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
