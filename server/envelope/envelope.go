// Package envelope writes the JSON error envelope, the body of every HTTP error outside of
// JSON-RPC.
package envelope

import (
	"net/http"
	"strconv"

	"github.com/omnigraph-go/omnigraph/server/service"
)

// New returns a fault of the request itself, found before any call to a graph.
func New(status int, code service.Code, message string) *service.Fault {
	return &service.Fault{Status: status, Body: service.WireError{Error: service.Clip(message), Code: code}}
}

// Write answers with the fault and forbids caches to store the answer. It keeps headers that
// are set already, such as Allow.
func Write(w http.ResponseWriter, f *service.Fault) {
	b, err := service.JSON(f.Body)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	h := w.Header()
	if f.Status == http.StatusTooManyRequests && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "1") // one second: the calls that take the capacity are short
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(f.Status)
	_, _ = w.Write(b) // fails only if the client has gone away
}

// HangUp closes the connection after the answer to a request whose body was not read. Otherwise
// net/http would read the rest of the body before it answers, and a client could hold the
// connection by sending a byte now and then.
func HangUp(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
