package admit

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// SmallBody is the size in bytes up to which bodies are not counted: what they take
// together is bounded by the number of requests.
const SmallBody = 64 << 10

// Wrap puts the gate in front of next. The actor is that of the request's context; one
// whose source is "none" is everybody, and counted by the address that the request
// comes from. A request that is refused answers 429 in the error envelope, with
// Retry-After.
func (g *Gate) Wrap(next http.Handler) http.Handler {
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

// discardTime is how long a body that is not wanted may take to come.
const discardTime = 5 * time.Second

// discard reads the body of a request that is refused: most clients read no answer before
// they have sent all, and would find the connection closed. Whoever asks first whether
// to send is answered at once, and whoever takes long over it, when the time is up.
func (g *Gate) discard(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" || r.ContentLength == 0 {
		return
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(discardTime)); err != nil {
		envelope.HangUp(w, r)
		return
	}
	// What cannot be read is not missed.
	if n, err := io.CopyN(io.Discard, r.Body, g.opts.MaxBody); err != nil && err != io.EOF || n == g.opts.MaxBody {
		envelope.HangUp(w, r)
	}
}

func actorOf(r *http.Request) Actor {
	a := service.ActorFrom(r.Context())
	if a == nil || a.Source == "none" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		return Actor{ID: host}
	}
	return Actor{Tenant: a.Tenant, ID: a.ID}
}

// bytesOf is what a request's body is counted as. One that does not tell its length may
// be as large as any.
func (g *Gate) bytesOf(r *http.Request) int64 {
	switch {
	case r.ContentLength < 0:
		return g.opts.MaxBody
	case r.ContentLength <= SmallBody:
		return 0
	}
	return min(r.ContentLength, g.opts.MaxBody)
}

// retryAfter is how many seconds a client should wait: loads take longer than calls.
func (r *Refusal) retryAfter() int {
	if r.Reason == ByBytes {
		return 5
	}
	return 1
}

func (r *Refusal) write(w http.ResponseWriter) {
	var message, resource string
	switch r.Reason {
	case ByActor:
		resource = "requests of one actor at once"
		message = fmt.Sprintf("found %d requests of one actor at once, wanted at most %d; send fewer at once, or try again after some time", r.Actual, r.Limit)
	case ByTotal:
		resource = "requests at once"
		message = fmt.Sprintf("the server takes at most %d requests at once; try again after some time", r.Limit)
	case ByBytes:
		resource = "bytes of request bodies at once"
		message = fmt.Sprintf("found %d bytes of request bodies at once, wanted at most %d; send fewer or smaller ones at once, or try again after some time", r.Actual, r.Limit)
	}
	f := envelope.New(http.StatusTooManyRequests, service.TooManyRequests, message)
	f.Body.ResourceLimit = &service.WireLimit{Resource: resource, Limit: r.Limit, Actual: r.Actual}
	w.Header().Set("Retry-After", strconv.Itoa(r.retryAfter()))
	envelope.Write(w, f)
}
