// Package forward forwards a request that writes to a graph to the server that is the writer of
// that graph.
package forward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Header is the name of the header that marks a forwarded request. Its value is the id of the
// server that forwarded the request. A server does not forward a request with this header again.
const Header = "Omnigraph-Forwarded-By"

// RevisionHeader is the name of the header with which a server states the revision by which it forwarded a request; see Options.Revision.
const RevisionHeader = "Omnigraph-Revision"

// notWriter is the header of the answer of [Forwarder.Refuse].
const notWriter = "Omnigraph-Not-Writer"

// errNotWriter is the error of a request that was forwarded to a server that does not write the graph any more.
var errNotWriter = errors.New("the server does not write the graph any more")

// retryAfter is the time that a client is advised to wait after a write that could not be forwarded
// because the writer was not reachable.
const retryAfter = time.Second

// Options configure a Forwarder.
type Options struct {
	Node  string        // id of this server
	Own   string        // address of this server; "" if other servers cannot reach it
	Peers []string      // addresses of the servers of the cluster, as scheme://host[:port]
	Lease time.Duration // how long a forwarded request waits for a writer that shows no sign of life; above 0
	Log   *slog.Logger

	// Revision returns the value of RevisionHeader for the next request, or "". Nil means none.
	Revision func() string
}

// Forwarder forwards requests. It is safe for concurrent use.
type Forwarder struct {
	opts      Options
	transport *http.Transport
}

// New returns a Forwarder.
func New(o Options) *Forwarder {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // the token must be sent to a peer only
	t.DialContext = (&net.Dialer{Timeout: 3 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = idleTime
	return &Forwarder{opts: o, transport: t}
}

// Close closes the connections to other servers.
func (f *Forwarder) Close() error {
	f.transport.CloseIdleConnections()
	return nil
}

// authorization is the key under which [Forwarder.Keep] stores the Authorization header in the
// context of a request.
type authorization struct{}

// Keep stores the Authorization header of each request in the context of the request for
// [Forwarder.Send], because the handlers after authentication do not see the header.
func (f *Forwarder) Keep(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if values := r.Header.Values("Authorization"); len(values) > 0 {
			r = r.WithContext(context.WithValue(r.Context(), authorization{}, slices.Clone(values)))
		}
		next.ServeHTTP(w, r)
	})
}

// idleTime is how long a connection to another server stays open without a request. It is shorter than the time for
// which a server that stops still answers its open connections. Otherwise a write could meet the close of its
// connection, and its outcome would be unknown.
const idleTime = 500 * time.Millisecond

// Outcome is what a Forwarder did with a request.
type Outcome int

// The outcomes of [Forwarder.Send].
const (
	// Declined means that this server must answer the request: the address is not that of another peer, or
	// another server has already forwarded the request.
	Declined Outcome = iota

	// Answered means that the client has an answer.
	Answered

	// Unreached means that the client has no answer and that the write was certainly not made: no connection to the writer was made,
	// or the server at the address does not write the graph any more. The request can be sent again.
	Unreached
)

// Send forwards a request, with the token of the caller, to the server at the address `to`, and
// passes the answer on to the client. If `body` is not nil, it is the body of the request, which
// the caller of Send has already read.
//
// While the request runs, Send asks the writer for signs of life. If the writer shows none for the
// time of a lease, Send answers the request with the status 500, because the outcome is unknown, unless no
// connection was made. If the writer stops in the middle of its answer, Send breaks the connection to the client.
func (f *Forwarder) Send(w http.ResponseWriter, r *http.Request, to string, body []byte) (outcome Outcome) {
	if Forwarded(r) || to == "" || to == f.opts.Own {
		return Declined
	}
	target, err := url.Parse(to)
	if err != nil || !slices.Contains(f.opts.Peers, to) {
		f.opts.Log.WarnContext(r.Context(), "a write is refused, because cluster.yaml does not list the address of the server that writes the graph; add it to peers, or start that server with --advertise", "address", to)
		return Declined
	}
	outcome = Answered
	whole := body != nil || r.ContentLength == 0 // the request can be sent again after the peer has read its body
	var connected atomic.Bool                    // the writer may have received the request
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	ctx, cancel := context.WithCancelCause(r.Context())
	var watching sync.WaitGroup
	watching.Go(func() { f.watch(ctx, to, cancel) })
	defer watching.Wait()
	defer cancel(nil)
	proxy := httputil.ReverseProxy{
		Transport: f.transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = target.Scheme, target.Host, target.Host
			if body != nil {
				p.Out.Body, p.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				p.Out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			}
			p.Out.Header.Del("Authorization")
			if values, ok := r.Context().Value(authorization{}).([]string); ok {
				p.Out.Header["Authorization"] = values
			}
			p.Out.Header.Del("Origin") // this server has checked it
			p.Out.Header.Set(Header, f.opts.Node)
			p.Out.Header.Del(RevisionHeader)
			if f.opts.Revision != nil {
				p.Out.Header.Set(RevisionHeader, f.opts.Revision())
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			if answer.Header.Get(notWriter) != "" && whole {
				return errNotWriter
			}
			answer.Header.Del(notWriter)
			// This server has already set these headers, such as the id of the request.
			for name := range w.Header() {
				answer.Header.Del(name)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
				err = cause
			}
			switch {
			case errors.Is(err, errNotWriter):
				f.opts.Log.DebugContext(r.Context(), "the server at the address does not write the graph any more, so the writer is looked up again", "address", to)
				outcome = Unreached
			case !connected.Load():
				f.opts.Log.DebugContext(r.Context(), "the server that writes the graph cannot be reached", "address", to, "error", err.Error())
				outcome = Unreached
			default:
				envelope.Write(w, wireerror.Report(r.Context(), f.opts.Log, &engine.Indeterminate{Err: err}))
			}
		},
		ErrorLog: slog.NewLogLogger(f.opts.Log.Handler(), slog.LevelDebug),
	}
	sent := r.WithContext(httptrace.WithClientTrace(ctx, trace))
	if sent.Body != nil {
		sent.Body = io.NopCloser(sent.Body) // the caller may send the request again
	}
	proxy.ServeHTTP(w, sent)
	return outcome
}

// Forwarded reports whether another server has forwarded the request.
func Forwarded(r *http.Request) bool { return r.Header.Get(Header) != "" }

// Refuse answers a forwarded request on a server that does not write the graph. The forwarding server then looks
// for the writer again.
func (f *Forwarder) Refuse(w http.ResponseWriter) {
	w.Header().Set(notWriter, "1")
	envelope.Write(w, wireerror.Explain(&engine.Unavailable{Reason: "this server does not write the graph", RetryAfter: retryAfter}))
}

// Unreachable answers a request whose writer could not be reached.
func (f *Forwarder) Unreachable(w http.ResponseWriter, r *http.Request, to string) {
	f.opts.Log.WarnContext(r.Context(), "the server that writes the graph cannot be reached; if it has stopped, another server takes over when its lease ends", "address", to)
	envelope.Write(w, wireerror.Explain(&engine.Unavailable{Reason: "the server that writes the graph cannot be reached", RetryAfter: retryAfter}))
}
