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
	"github.com/omnigraph-go/omnigraph/internal/server/rest/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Header is the name of the header that marks a forwarded request. Its value is the id of the
// server that forwarded the request. A server does not forward a request with this header again.
const Header = "Omnigraph-Forwarded-By"

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

// Send forwards a request, with the token of the caller, to the server at the address `to`, and
// passes the answer on to the client. If `body` is not nil, it is the body of the request, which
// the caller of Send has already read.
//
// While the request runs, Send asks the writer for signs of life. If the writer shows none for the
// time of a lease, Send answers the request: with the status 503 if no connection was made, so that the write
// certainly was not made, and otherwise with the status 500, because the outcome is unknown. If the writer
// stops in the middle of its answer, Send breaks the connection to the client.
//
// Send reports false, and has not answered the request, if the
// address is not that of another peer, or if another server has already forwarded the request.
func (f *Forwarder) Send(w http.ResponseWriter, r *http.Request, to string, body []byte) bool {
	if r.Header.Get(Header) != "" || to == "" || to == f.opts.Own {
		return false
	}
	if !slices.Contains(f.opts.Peers, to) {
		f.opts.Log.WarnContext(r.Context(), "a write is refused, because cluster.yaml does not list the address of the server that writes the graph; add it to peers, or start that server with --advertise", "address", to)
		return false
	}
	target, err := url.Parse(to)
	if err != nil {
		return false
	}
	var connected atomic.Bool // the writer may have received the request
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
			}
			p.Out.Header.Del("Authorization")
			if values, ok := r.Context().Value(authorization{}).([]string); ok {
				p.Out.Header["Authorization"] = values
			}
			p.Out.Header.Del("Origin") // this server has checked it
			p.Out.Header.Set(Header, f.opts.Node)
		},
		ModifyResponse: func(answer *http.Response) error {
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
			f.fail(w, r, to, connected.Load(), err)
		},
		ErrorLog: slog.NewLogLogger(f.opts.Log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r.WithContext(httptrace.WithClientTrace(ctx, trace)))
	return true
}

// fail answers a request for which this server received no answer from the writer. If no connection was made,
// the writer has not received the request.
func (f *Forwarder) fail(w http.ResponseWriter, r *http.Request, to string, connected bool, err error) {
	if !connected {
		f.opts.Log.WarnContext(r.Context(), "the server that writes the graph cannot be reached; if it has stopped, another server takes over when its lease ends", "address", to, "error", err.Error())
		envelope.Write(w, wireerror.Explain(&engine.Unavailable{Reason: "the server that writes the graph cannot be reached", RetryAfter: retryAfter}))
		return
	}
	envelope.Write(w, wireerror.Report(r.Context(), f.opts.Log, &engine.Indeterminate{Err: err}))
}
