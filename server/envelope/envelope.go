// Package envelope writes faults as the JSON error envelope that every answer over HTTP
// has outside of JSON-RPC.
package envelope

import (
	"net/http"
	"strconv"

	"github.com/omnigraph-go/omnigraph/server/service"
)

// New returns a fault of the request itself, before anything was asked of a graph.
func New(status int, code service.Code, message string) *service.Fault {
	return &service.Fault{Status: status, Body: service.WireError{Error: service.Clip(message), Code: code}}
}

// Write answers with the fault, which nothing on the way may keep. Headers that are set
// already, such as Allow, go with it.
func Write(w http.ResponseWriter, f *service.Fault) {
	b, err := service.JSON(f.Body)
	if err != nil {
		panic(err) // the envelope is strings and numbers
	}
	h := w.Header()
	if f.Status == http.StatusTooManyRequests && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "1") // second: the calls that were in the way are short
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(f.Status)
	_, _ = w.Write(b) // fails only when the client is gone
}

// HangUp closes the connection after the answer to a request whose body is not read.
// Otherwise the HTTP library reads what is left of the body before it answers, and a
// stranger who sends a byte now and then holds the connection.
func HangUp(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}
