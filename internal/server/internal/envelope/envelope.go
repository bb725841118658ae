// Package envelope writes faults as HTTP answers. It defines the status of each outcome. It writes
// the JSON error envelope, which is the body of every HTTP error outside of JSON-RPC.
package envelope

import (
	"net/http"
	"strconv"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// statuses has the HTTP status of each outcome that is a fault.
var statuses = map[wireerror.Outcome]int{
	wireerror.OfRequest:     http.StatusBadRequest,
	wireerror.NotIdentified: http.StatusUnauthorized,
	wireerror.OfPolicy:      http.StatusForbidden,
	wireerror.Missing:       http.StatusNotFound,
	wireerror.WrongMethod:   http.StatusMethodNotAllowed,
	wireerror.Conflicted:    http.StatusConflict,
	wireerror.Reclaimed:     http.StatusGone,
	wireerror.Precondition:  http.StatusPreconditionFailed,
	wireerror.TooLarge:      http.StatusRequestEntityTooLarge,
	wireerror.WrongMedia:    http.StatusUnsupportedMediaType,
	wireerror.OutsideRange:  http.StatusRequestedRangeNotSatisfiable,
	wireerror.Overloaded:    http.StatusTooManyRequests,
	wireerror.Failed:        http.StatusInternalServerError,
	wireerror.TimedOut:      http.StatusServiceUnavailable,
	wireerror.GivenUp:       http.StatusServiceUnavailable,
	wireerror.Canceled:      http.StatusServiceUnavailable,
	wireerror.Unavailable:   http.StatusServiceUnavailable,
}

// Status returns the HTTP status of an outcome. It panics for an outcome without one, such as
// Done.
func Status(o wireerror.Outcome) int {
	status, ok := statuses[o]
	if !ok {
		panic("envelope: outcome " + string(o) + " has no status")
	}
	return status
}

// New returns a fault of the request itself, found before any call to a graph.
func New(outcome wireerror.Outcome, code client.Code, message string) *wireerror.Fault {
	return &wireerror.Fault{Outcome: outcome, Body: client.Envelope{Message: wireerror.Clip(message), Code: code}}
}

// Write answers with the fault and forbids caches to store the answer. It keeps headers that
// are set already, such as Allow.
func Write(w http.ResponseWriter, f *wireerror.Fault) {
	b, err := encoding.JSON(f.Body)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	h := w.Header()
	if f.Outcome == wireerror.Overloaded && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "1") // one second: the calls that take the capacity are short
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	if f.Challenge != "" {
		h.Set("WWW-Authenticate", f.Challenge)
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(Status(f.Outcome))
	_, _ = w.Write(b) // fails only if the client has gone away
}

// HangUp closes the connection after the answer. It is for a request with a body that was not read.
// Otherwise net/http would read the rest of the body before it answers. A client could then hold
// the connection by sending a byte now and then.
func HangUp(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
