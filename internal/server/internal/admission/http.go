package admission

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// SmallBody is a size in bytes. Bodies up to this size are not counted. The limit on the number of
// requests already bounds the memory for small bodies.
const SmallBody = 64 << 10

// Wrap returns a handler that calls the handler `next` for each admitted request. It takes the
// actor from the request's context. If the actor's source is "none", the actor represents all
// anonymous clients, so Wrap counts the request by its remote address. The answer to a refused
// request has status 429, the error envelope and a Retry-After header.
func (g *Limiter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, bytes := actorOf(r), g.bytesOf(r)
		if refusal := g.Enter(r.Context(), actor, bytes); refusal != nil {
			g.discard(w, r)
			refusal.write(w)
			return
		}
		defer g.Leave(actor, bytes)
		next.ServeHTTP(w, r)
	})
}

// discardTime limits the time for reading the body of a refused request.
const discardTime = 5 * time.Second

// discard reads the body of a refused request. Most clients read the answer only after they
// have sent the whole body; without discard they would find the connection closed. A client
// that sends Expect: 100-continue is answered at once. If the body has not arrived within
// discardTime, the connection is closed.
func (g *Limiter) discard(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" || r.ContentLength == 0 {
		return
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(discardTime)); err != nil {
		envelope.HangUp(w, r)
		return
	}
	// Close the connection if the rest of the body cannot be read.
	if n, err := io.CopyN(io.Discard, r.Body, g.opts.MaxBody); err != nil && err != io.EOF || n == g.opts.MaxBody {
		envelope.HangUp(w, r)
	}
}

// actorOf returns the actor of a request. Without authentication it is the client's address. The agents of an actor count as the
// actor, so that more agents may not send more requests.
func actorOf(r *http.Request) Actor {
	a := access.ActorFrom(r.Context())
	if a == nil || a.Source == "none" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		return Actor{ID: host}
	}
	return Actor{Tenant: a.Tenant, ID: a.ID}
}

// bytesOf returns the number of bytes to count for the body of a request. A body of unknown length
// counts as MaxBody, unless it is streamed.
func (g *Limiter) bytesOf(r *http.Request) int64 {
	switch {
	case r.ContentLength >= 0 && r.ContentLength <= SmallBody, g.opts.Streamed != nil && g.opts.Streamed(r):
		return 0
	case r.ContentLength < 0:
		return g.opts.MaxBody
	}
	return min(r.ContentLength, g.opts.MaxBody)
}

// retryAfter returns the number of seconds that a client should wait. Loads, which have
// large bodies, take longer than other calls.
func (r *Refusal) retryAfter() int {
	if r.Reason == ByBytes {
		return 5
	}
	return 1
}

// write answers the request with status 429.
func (r *Refusal) write(w http.ResponseWriter) {
	var message, resource string
	switch r.Reason {
	case ByActor:
		resource = "requests of one actor at once"
		message = fmt.Sprintf("the actor has %d requests in flight, expected at most %d; send fewer at once, or try again later", r.Actual, r.Limit)
	case ByTotal:
		resource = "requests at once"
		message = fmt.Sprintf("the server takes at most %d requests at once; try again later", r.Limit)
	case ByBytes:
		resource = "bytes of request bodies at once"
		message = fmt.Sprintf("the request bodies in flight have %d bytes, expected at most %d; send fewer or smaller bodies at once, or try again later", r.Actual, r.Limit)
	}
	if r.Counted != "" {
		resource = r.Counted + " of one actor"
		message = fmt.Sprintf("the actor has %d %s, expected at most %d; close one of them, or try again later", r.Actual, r.Counted, r.Limit)
		if r.Reason == ByTotal {
			resource = r.Counted + " of all actors"
			message = fmt.Sprintf("the server keeps at most %d %s; try again later", r.Limit, r.Counted)
		}
	}
	f := envelope.New(wireerror.Overloaded, client.CodeTooManyRequests, message)
	f.Body.ResourceLimit = &client.Limit{Resource: resource, Limit: r.Limit, Actual: r.Actual}
	w.Header().Set("Retry-After", strconv.Itoa(r.retryAfter()))
	envelope.Write(w, f)
}
