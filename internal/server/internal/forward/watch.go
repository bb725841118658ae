package forward

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilent is the error of a request whose writer showed no sign of life for the time of a lease. The process
// of the writer is stopped, for example, or its network is broken.
var errSilent = errors.New("the server that writes the graph does not answer")

// signsPerLease is how often a Forwarder asks a writer for a sign of life in the time of a lease.
const signsPerLease = 3

// watch calls `giveUp` if the writer at the address `to` shows no sign of life for the time of a lease. A
// request can take much longer than a lease, such as a large load. So the time of the request does not
// count. watch returns when ctx ends.
func (f *Forwarder) watch(ctx context.Context, to string, giveUp context.CancelCauseFunc) {
	for f.aliveWithinLease(ctx, to) {
	}
	if ctx.Err() == nil {
		giveUp(errSilent)
	}
}

// aliveWithinLease returns true when the writer shows a sign of life. It returns false when ctx ends, or if
// the writer shows none for the time of a lease.
func (f *Forwarder) aliveWithinLease(ctx context.Context, to string) bool {
	ctx, cancel := context.WithTimeout(ctx, f.opts.Lease)
	defer cancel()
	pause := time.NewTicker(f.opts.Lease / signsPerLease)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
			if f.alive(ctx, to) {
				return true
			}
		}
	}
}

// alive reports whether the server at the address `to` answers a health check before ctx ends.
func (f *Forwarder) alive(ctx context.Context, to string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to+"/healthz", nil)
	if err != nil {
		return false
	}
	answer, err := f.transport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 4096)) // so that the connection can be used again
	return err == nil && answer.StatusCode < http.StatusInternalServerError
}
